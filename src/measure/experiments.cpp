#include "measure/experiments.hpp"

#include <mpi.h>

#include "measure/clock.hpp"

namespace foretrace::measure {
namespace {

constexpr int kTag = 1;

// The calls of one rank in a message between two; `peer` is the other one.
struct Pair {
  MPI_Comm comm;
  bool sender;
  int peer;
  int count;
  Buffers& buffers;
  bool both_send = false;
  bool one_buffer = false;

  char* out() const { return buffers.send(); }
  char* in() const { return one_buffer ? buffers.send() : buffers.recv(); }
  void send() const { MPI_Send(out(), count, MPI_CHAR, peer, kTag, comm); }
  void ssend() const { MPI_Ssend(out(), count, MPI_CHAR, peer, kTag, comm); }
  // Only what is sent is written: the rest stays as the last message left it.
  void next() const {
    const auto bytes = static_cast<std::uint64_t>(count);
    buffers.next(sender || both_send ? bytes : 0, bytes);
  }
  void recv() const { MPI_Recv(in(), count, MPI_CHAR, peer, kTag, comm, MPI_STATUS_IGNORE); }
  MPI_Request post() const {
    MPI_Request request;
    if (sender)
      MPI_Isend(out(), count, MPI_CHAR, peer, kTag, comm, &request);
    else
      MPI_Irecv(in(), count, MPI_CHAR, peer, kTag, comm, &request);
    return request;
  }
};

Experiment send_and_recv(Pair pair) {
  return {{"send", "recv"},
          [pair] { pair.next(); },
          [pair](std::int64_t entry, std::int64_t, Span* spans) {
            if (pair.sender) {
              pair.send();
              spans[0] = {entry, now_ns()};
            } else {
              pair.recv();
              spans[1] = {entry, now_ns()};
            }
          }};
}

Experiment ssend(Pair pair) {
  return {{"ssend"},
          [pair] { pair.next(); },
          [pair](std::int64_t entry, std::int64_t, Span* spans) {
            if (pair.sender) {
              pair.ssend();
              spans[0] = {entry, now_ns()};
            } else {
              pair.recv();
            }
          }};
}

// The receiver comes late on purpose.
Experiment recvmin(Pair pair) {
  return {{"recvmin"},
          [pair] { pair.next(); },
          [pair](std::int64_t entry, std::int64_t delay, Span* spans) {
            if (pair.sender) {
              pair.send();
            } else {
              const std::int64_t late = spin_until(entry + delay, false);
              pair.recv();
              spans[0] = {late, now_ns()};
            }
          },
          true};
}

Experiment post_and_wait(Pair pair) {
  return {{"isend1", "isend2", "irecv1", "irecv2"},
          [pair] { pair.next(); },
          [pair](std::int64_t entry, std::int64_t, Span* spans) {
            MPI_Request request = pair.post();
            const std::int64_t posted = now_ns();
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            const std::int64_t done = now_ns();
            const int first = pair.sender ? 0 : 2;
            spans[first] = {entry, posted};
            spans[first + 1] = {posted, done};
          }};
}

// The time between posting and the last moment at which the operation was not
// yet complete could have been spent computing.
Experiment post_and_poll(Pair pair) {
  return {{"isendoverlap", "irecvoverlap"},
          [pair] { pair.next(); },
          [pair](std::int64_t, std::int64_t, Span* spans) {
            MPI_Request request = pair.post();
            const std::int64_t posted = now_ns();
            std::int64_t asked = posted;
            for (int done = 0; !done;) {
              asked = now_ns();
              MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            }
            spans[pair.sender ? 0 : 1] = {posted, asked};
          }};
}

Experiment sendrecv(Pair pair) {
  pair.both_send = true;
  return {{"sendrecv"},
          [pair] { pair.next(); },
          [pair](std::int64_t entry, std::int64_t, Span* spans) {
            MPI_Sendrecv(pair.out(), pair.count, MPI_CHAR, pair.peer, kTag, pair.in(), pair.count,
                         MPI_CHAR, pair.peer, kTag, pair.comm, MPI_STATUS_IGNORE);
            spans[0] = {entry, now_ns()};
          }};
}

// One buffer, as a message that is bounced has.
Experiment pingpong(Pair pair) {
  pair.one_buffer = true;
  return {{"pingpong"},
          [pair] { pair.next(); },
          [pair](std::int64_t entry, std::int64_t, Span* spans) {
            if (pair.sender) {
              pair.send();
              pair.recv();
              spans[0] = {entry, now_ns()};
            } else {
              pair.recv();
              pair.send();
            }
          }};
}

// A call that all ranks make and all ranks measure; `sent` and `received` are
// this rank's bytes.
template <class Call>
Experiment collective(const char* name, Buffers& buffers, std::uint64_t sent,
                      std::uint64_t received, Call call) {
  return {{name},
          [=, &buffers] { buffers.next(sent, received); },
          [call](std::int64_t entry, std::int64_t, Span* spans) {
            call();
            spans[0] = {entry, now_ns()};
          }};
}

// A call that creates a communicator, which is then freed off the record.
template <class Call>
Experiment creation(const char* name, Call call) {
  return {{name},
          [] {},
          [call](std::int64_t entry, std::int64_t, Span* spans) {
            MPI_Comm created = call();
            spans[0] = {entry, now_ns()};
            MPI_Comm_free(&created);
          }};
}

}  // namespace

std::vector<Experiment> point_to_point_experiments(const Group& group, std::uint64_t bytes,
                                                   Buffers& buffers) {
  const Pair pair{group.comm, group.rank == 0, 1 - group.rank, static_cast<int>(bytes), buffers};
  return {send_and_recv(pair), ssend(pair),    recvmin(pair), post_and_wait(pair),
          post_and_poll(pair), sendrecv(pair), pingpong(pair)};
}

std::vector<Experiment> collective_experiments(const Group& group, std::uint64_t bytes,
                                               Buffers& buffers) {
  const MPI_Comm comm = group.comm;
  const int n = static_cast<int>(bytes);
  Buffers& b = buffers;
  // What the root sends, one part for each rank in scatter and alltoall.
  const std::uint64_t parts = bytes * static_cast<std::uint64_t>(group.size);
  const bool root = group.rank == 0;
  std::vector<Experiment> all{
      collective("bcast", b, root ? bytes : 0, bytes,
                 [=, &b] { MPI_Bcast(b.send(), n, MPI_CHAR, 0, comm); }),
      collective("gather", b, bytes, root ? parts : 0,
                 [=, &b] { MPI_Gather(b.send(), n, MPI_CHAR, b.recv(), n, MPI_CHAR, 0, comm); }),
      collective("scatter", b, root ? parts : 0, bytes,
                 [=, &b] { MPI_Scatter(b.send(), n, MPI_CHAR, b.recv(), n, MPI_CHAR, 0, comm); }),
      collective("allgather", b, bytes, parts,
                 [=, &b] { MPI_Allgather(b.send(), n, MPI_CHAR, b.recv(), n, MPI_CHAR, comm); }),
      collective("alltoall", b, parts, parts,
                 [=, &b] { MPI_Alltoall(b.send(), n, MPI_CHAR, b.recv(), n, MPI_CHAR, comm); })};
  if (bytes % sizeof(double) == 0) {
    const int doubles = n / static_cast<int>(sizeof(double));
    all.push_back(collective("reduce", b, bytes, bytes, [=, &b] {
      MPI_Reduce(b.send(), b.recv(), doubles, MPI_DOUBLE, MPI_SUM, 0, comm);
    }));
    all.push_back(collective("allreduce", b, bytes, bytes, [=, &b] {
      MPI_Allreduce(b.send(), b.recv(), doubles, MPI_DOUBLE, MPI_SUM, comm);
    }));
  }
  return all;
}

std::vector<Experiment> barrier_experiments(const Group& group, Buffers& buffers) {
  const MPI_Comm comm = group.comm;
  const int half = group.rank % 2;
  return {collective("barrier", buffers, 0, 0, [=] { MPI_Barrier(comm); }),
          creation("comm_dup",
                   [=] {
                     MPI_Comm created;
                     MPI_Comm_dup(comm, &created);
                     return created;
                   }),
          creation("comm_split", [=] {
            MPI_Comm created;
            MPI_Comm_split(comm, half, 0, &created);
            return created;
          })};
}

}  // namespace foretrace::measure
