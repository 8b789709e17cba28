#include "machine/added.hpp"

#include <bit>

#include "machine/timing.hpp"

namespace foretrace::machine {
namespace {

// The least number of steps in which all of so many ranks can hear of each other.
int steps_of(int ranks) {
  return ranks < 2 ? 0 : std::bit_width(static_cast<unsigned>(ranks) - 1);
}

}  // namespace

Time Added::to(Cost what, int ranks, Bytes bytes) const {
  const Time stream = Time::from_seconds(per_byte * static_cast<double>(bytes.count));
  switch (what) {
    case Cost::send:
    case Cost::bsend:
    case Cost::rsend:
    case Cost::isend1:
      return overhead_send;
    case Cost::recvmin:
      return overhead_recv;
    case Cost::irecvoverlap:  // all but the receiver's part
      return overhead_send + latency + stream;
    case Cost::recv:
    case Cost::sendrecv:
    case Cost::irecv2:
    case Cost::ssend:
    case Cost::put:
    case Cost::get:
    case Cost::accumulate:
    case Cost::get_accumulate:
    case Cost::fetch_and_op:
    case Cost::compare_and_swap:
      return overhead_send + latency + stream + overhead_recv;
    case Cost::gap:
      return stream;
    case Cost::isend2:
    case Cost::isendoverlap:
    case Cost::irecv1:
      return Time();
    default:
      break;
  }
  return (overhead_send + latency + overhead_recv).scaled(steps_of(ranks)) + stream;
}

}  // namespace foretrace::machine
