#include <mpi.h>

#include <algorithm>
#include <memory>

#include "base/sent_data.hpp"
#include "measure/experiments/clock.hpp"
#include "measure/experiments/experiments.hpp"
#include "measure/experiments/kept.hpp"
#include "measure/experiments/pair.hpp"

namespace foretrace::measure {
namespace {

// MPI demands of a ready send that its receive is there.
Experiment rsend(Pair pair) {
  const auto request = std::make_shared<MPI_Request>(MPI_REQUEST_NULL);
  return {{"rsend"},
          [=] {
            pair.next();
            if (!pair.sender) *request = pair.post();
            pair.announce();
          },
          [=](std::int64_t entry, std::int64_t, Span* spans) {
            if (pair.sender) {
              MPI_Rsend(pair.out(), pair.count, MPI_CHAR, pair.peer, Pair::kTag, pair.comm);
              spans[0] = {entry, now_ns()};
            } else {
              MPI_Wait(request.get(), MPI_STATUS_IGNORE);
            }
          }};
}

// The process's buffer for buffered sends is this experiment's only while it is
// at work. Taking it back waits until the message has left it.
Experiment bsend(Pair pair) {
  const auto space = std::make_shared<std::vector<char>>(
      pair.sender ? static_cast<std::size_t>(pair.count) + MPI_BSEND_OVERHEAD : 0);
  return {{"bsend"},
          [=] {
            pair.next();
            if (pair.sender) MPI_Buffer_attach(space->data(), static_cast<int>(space->size()));
          },
          [=](std::int64_t entry, std::int64_t, Span* spans) {
            if (pair.sender) {
              MPI_Bsend(pair.out(), pair.count, MPI_CHAR, pair.peer, Pair::kTag, pair.comm);
              spans[0] = {entry, now_ns()};
              void* taken = nullptr;
              int size = 0;
              MPI_Buffer_detach(&taken, &size);
            } else {
              pair.recv();
            }
          }};
}

// A request is bound to its buffer, and buffers may move: a new one each time,
// off the record.
Experiment persistent(Pair pair) {
  const auto request = std::make_shared<Kept<MPI_Request>>(MPI_Request_free);
  const auto init = [pair](MPI_Request* made) {
    if (pair.sender)
      MPI_Send_init(pair.out(), pair.count, MPI_CHAR, pair.peer, Pair::kTag, pair.comm, made);
    else
      MPI_Recv_init(pair.in(), pair.count, MPI_CHAR, pair.peer, Pair::kTag, pair.comm, made);
  };
  return {{"send_start", "send_wait", "recv_start", "recv_wait"},
          [=] {
            pair.next();
            request->drop();
            request->get(init);
          },
          [=](std::int64_t entry, std::int64_t, Span* spans) {
            MPI_Request& started = request->get(init);
            MPI_Start(&started);
            const std::int64_t begun = now_ns();
            MPI_Wait(&started, MPI_STATUS_IGNORE);
            pair.note(spans, entry, begun, now_ns());
          }};
}

// As many messages as make the first one's way there count little, and as few as keep a row of
// long ones short; within a node, as lie in a cache together.
int row_length(int bytes, bool in_a_node) {
  const int row_bytes = in_a_node ? 1 << 20 : 4 << 20;
  return std::clamp(row_bytes / std::max(bytes, 1), in_a_node ? 4 : 8, 128);
}

// Until all have arrived: the sender may be done while most of what it sent still waits in a
// socket's buffer. Each has data of its own, as far as there is room: what was sent just before
// would be untouched. All go into one buffer: what more of them would add is the memory's time.
Experiment row(Pair pair, bool in_a_node) {
  const int length = row_length(pair.count, in_a_node);
  const auto bytes = static_cast<std::uint64_t>(pair.count);
  const std::uint64_t places = bytes < SentData::kLeast
                                   ? 1
                                   : std::clamp<std::uint64_t>(pair.buffers.largest() / bytes, 1,
                                                               static_cast<std::uint64_t>(length));
  const auto requests = std::make_shared<std::vector<MPI_Request>>(
      pair.sender ? std::size_t{0} : static_cast<std::size_t>(length), MPI_REQUEST_NULL);
  return {.functions = {"gap"},
          .prepare =
              [=] {
                pair.buffers.next(pair.sender ? places * bytes : 0, places * bytes);
                for (MPI_Request& request : *requests) request = pair.post();
                pair.announce();
              },
          .repeat =
              [=](std::int64_t entry, std::int64_t, Span* spans) {
                if (pair.sender)
                  for (int i = length; i-- > 0;)  // the last one's data are the first
                    MPI_Send(pair.out() + static_cast<std::uint64_t>(i) % places * bytes,
                             pair.count, MPI_CHAR, pair.peer, Pair::kTag, pair.comm);
                else
                  MPI_Waitall(length, requests->data(), MPI_STATUSES_IGNORE);
                spans[0] = {entry, now_ns()};
              },
          .calls = length};
}

}  // namespace

std::vector<Experiment> send_mode_experiments(const Group& group, std::uint64_t bytes,
                                              Buffers& buffers) {
  const Pair pair = pair_of(group, bytes, buffers);
  return {rsend(pair), bsend(pair), persistent(pair)};
}

std::vector<Experiment> row_experiments(const Group& group, std::uint64_t bytes, Buffers& buffers) {
  return {row(pair_of(group, bytes, buffers), share_a_node(group))};
}

}  // namespace foretrace::measure
