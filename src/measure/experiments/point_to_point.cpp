#include <mpi.h>

#include "measure/experiments/clock.hpp"
#include "measure/experiments/experiments.hpp"
#include "measure/experiments/pair.hpp"

namespace foretrace::measure {
namespace {

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
              MPI_Ssend(pair.out(), pair.count, MPI_CHAR, pair.peer, Pair::kTag, pair.comm);
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
            pair.note(spans, entry, posted, now_ns());
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
            MPI_Sendrecv(pair.out(), pair.count, MPI_CHAR, pair.peer, Pair::kTag, pair.in(),
                         pair.count, MPI_CHAR, pair.peer, Pair::kTag, pair.comm, MPI_STATUS_IGNORE);
            spans[0] = {entry, now_ns()};
          }};
}

// One buffer, as a message that is bounced has.
Experiment pingpong(Pair pair) {
  pair.one_buffer = true;
  return {.functions = {"pingpong"},
          .prepare = [pair] { pair.next(); },
          .repeat =
              [pair](std::int64_t entry, std::int64_t, Span* spans) {
                if (pair.sender) {
                  pair.send();
                  pair.recv();
                  spans[0] = {entry, now_ns()};
                } else {
                  pair.recv();
                  pair.send();
                }
              },
          .received = [pair] { return pair.in(); }};
}

}  // namespace

std::vector<Experiment> point_to_point_experiments(const Group& group, std::uint64_t bytes,
                                                   Buffers& buffers) {
  const Pair pair = pair_of(group, bytes, buffers);
  return {send_and_recv(pair), ssend(pair),    recvmin(pair), post_and_wait(pair),
          post_and_poll(pair), sendrecv(pair), pingpong(pair)};
}

}  // namespace foretrace::measure
