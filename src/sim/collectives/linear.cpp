// The algorithms in which one rank talks to each other one in turn, and the
// all-to-all that posts everything at once.
#include "sim/collectives/parts.hpp"
#include "sim/collectives/steps.hpp"

namespace foretrace::sim::collectives {
namespace {

// The root's n-th partner: all other ranks, upwards.
int other(const CollectiveCall& call, int n) {
  return n < call.root ? n : n + 1;
}

int others(const CollectiveCall& call) {
  return call.size - 1;
}

// Sends the rank's part to the partner, or receives it, unless it is left out.
template <class Move>
bool move_part(const CollectiveCall& call, Step& step, Move move, int partner, int rank) {
  const std::uint64_t bytes = part(call, rank);
  return is_left_out(call, bytes) ? nothing(step) : move(step, partner, bytes);
}

bool take(Step& step, int from, std::uint64_t bytes) {
  return receive(step, from, bytes);
}

// The posts of an all-to-all; `all`: also of what is empty.
bool post_from(const CollectiveCall& call, Step& step, int from, bool all) {
  const std::uint64_t bytes = part_from(call, from);
  return is_left_out(call, bytes) && !all ? nothing(step) : post_receive(step, from, bytes);
}
bool post_to(const CollectiveCall& call, Step& step, int to, bool all) {
  const std::uint64_t bytes = part_to(call, to);
  return is_left_out(call, bytes) && !all ? nothing(step) : post_send(step, to, bytes);
}

}  // namespace

bool barrier_linear(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const auto n = static_cast<std::uint32_t>(others(call));
  if (call.rank == 0) {
    if (index < n) return receive(step, static_cast<int>(index) + 1, 0);
    return index < 2 * n && post_send(step, static_cast<int>(index - n) + 1, 0);
  }
  if (index == 0) return send(step, 0, 0);
  return index == 1 && receive(step, 0, 0);
}

bool bcast_linear(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int i = static_cast<int>(index);
  if (call.rank != call.root) return i == 0 && receive(step, call.root, call.bytes.count);
  return i < others(call) && post_send(step, other(call, i), call.bytes.count);
}

bool scatter_linear(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int i = static_cast<int>(index);
  if (call.rank != call.root) return i == 0 && move_part(call, step, take, call.root, call.rank);
  return i < others(call) && move_part(call, step, send, other(call, i), other(call, i));
}

bool scatter_posted(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int i = static_cast<int>(index);
  if (call.rank != call.root) return scatter_linear(call, index, step);
  return i < others(call) && move_part(call, step, post_send, other(call, i), other(call, i));
}

bool gather_linear(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int i = static_cast<int>(index);
  if (call.rank != call.root) return i == 0 && move_part(call, step, send, call.root, call.rank);
  return i < others(call) && move_part(call, step, take, other(call, i), other(call, i));
}

bool gather_posted(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int i = static_cast<int>(index);
  if (call.rank != call.root) return gather_linear(call, index, step);
  return i < others(call) && move_part(call, step, post_receive, other(call, i), other(call, i));
}

// The root asks each rank for its data, one after the other.
bool gather_synchronised(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int i = static_cast<int>(index);
  if (call.rank == call.root)
    return i < others(call) && exchange(step, other(call, i), 0, other(call, i), call.bytes.count);
  if (i == 0) return receive(step, call.root, 0);
  return i == 1 && send(step, call.root, call.bytes.count);
}

// From the last rank to the first, so that the operands come in order.
bool reduce_linear(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int i = static_cast<int>(index);
  const std::uint64_t d = call.bytes.count;
  if (call.rank != call.root) return i == 0 && send(step, call.root, d);
  return i < others(call) && receive(step, other(call, others(call) - 1 - i), d, d);
}

bool scan_linear(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const std::uint64_t d = call.bytes.count;
  const bool first = call.rank == 0;
  if (!first && index == 0) return receive(step, call.rank - 1, d, d);
  return index == (first ? 0u : 1u) && call.rank + 1 < call.size && send(step, call.rank + 1, d);
}

bool exscan_linear(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const std::uint64_t d = call.bytes.count;
  const bool first = call.rank == 0;
  const bool last = call.rank + 1 == call.size;
  // The last rank has nobody to whom it would hand its own part on.
  if (!first && index == 0) return receive(step, call.rank - 1, d, last ? 0 : d);
  return index == (first ? 0u : 1u) && !last && send(step, call.rank + 1, d);
}

// All receives and sends at once, by rank.
bool allgather_linear(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const int i = static_cast<int>(index / 2);
  if (i >= others(call)) return false;
  const int peer = i + (i >= call.rank ? 1 : 0);
  return index % 2 == 0 ? post_receive(step, peer, part(call, peer))
                        : post_send(step, peer, part(call, call.rank));
}

// All receives first; the sends the other way round, so that they come in the
// order in which their receives were posted. Open MPI, whose algorithm this is, leaves out what is
// empty in MPI_Alltoallw alone.
bool alltoall_linear(const CollectiveCall& call, std::uint32_t index, Step& step) {
  const auto n = static_cast<std::uint32_t>(others(call));
  const bool all = call.collective != machine::Cost::alltoallw;
  if (index < n)
    return post_from(call, step, up(call.rank, static_cast<int>(index) + 1, call.size), all);
  if (index >= 2 * n) return false;
  return post_to(call, step, down(call.rank, static_cast<int>(index - n) + 1, call.size), all);
}

// Windows of receives and sends, each completed before the next.
bool alltoall_scattered(const CollectiveCall& call, std::uint32_t index, Step& step) {
  constexpr std::uint32_t kSteps = 2 * kScatteredWindow + 1;
  const int before = static_cast<int>(index / kSteps) * kScatteredWindow;
  const int in_window = std::min(kScatteredWindow, others(call) - before);
  const int i = static_cast<int>(index % kSteps);
  if (in_window <= 0) return false;
  if (i < in_window) return post_from(call, step, up(call.rank, before + i + 1, call.size), false);
  if (i < 2 * in_window)
    return post_to(call, step, down(call.rank, before + i - in_window + 1, call.size), false);
  return before + in_window < others(call) && wait_all(step);
}

}  // namespace foretrace::sim::collectives
