// A chain of all ranks, counted from the root, along which the message goes
// whole or in pieces: while a rank hands one piece on it takes the next.
#include "sim/collectives/parts.hpp"
#include "sim/collectives/steps.hpp"

namespace foretrace::sim::collectives {
namespace {

// Step s takes piece s from `from` and hands piece s - 1 on to `to`.
bool pass_on(const CollectiveCall& call, std::uint64_t piece, std::uint32_t index, Step& step,
             int from, int to, bool reducing) {
  const Pieces pieces(call.bytes, piece);
  const std::uint64_t n = pieces.count();
  const bool first = from == kNobody;
  // The first of the chain has all pieces from the start.
  const std::uint64_t sent = first ? index : std::uint64_t{index} - 1;
  const bool takes = !first && index < n;
  const bool sends = to != kNobody && (first || index > 0) && sent < n;
  if (!takes && !sends) return false;
  const std::uint64_t in = takes ? pieces.size(index) : 0;
  return exchange(step, sends ? to : kNobody, sends ? pieces.size(sent) : 0, takes ? from : kNobody,
                  in, reducing ? in : 0);
}

bool down_the_chain(const CollectiveCall& call, std::uint64_t piece, std::uint32_t index,
                    Step& step) {
  const int v = from_root(call);
  return pass_on(call, piece, index, step, v == 0 ? kNobody : to_rank(call, v - 1),
                 v + 1 == call.size ? kNobody : to_rank(call, v + 1), false);
}

bool up_the_chain(const CollectiveCall& call, std::uint64_t piece, std::uint32_t index,
                  Step& step) {
  const int v = from_root(call);
  return pass_on(call, piece, index, step, v + 1 == call.size ? kNobody : to_rank(call, v + 1),
                 v == 0 ? kNobody : to_rank(call, v - 1), true);
}

}  // namespace

bool bcast_chain(const CollectiveCall& call, std::uint32_t index, Step& step) {
  return down_the_chain(call, UINT64_MAX, index, step);
}

bool bcast_pipeline(const CollectiveCall& call, std::uint32_t index, Step& step) {
  return down_the_chain(call, kPipelinePiece, index, step);
}

bool reduce_chain(const CollectiveCall& call, std::uint32_t index, Step& step) {
  return up_the_chain(call, UINT64_MAX, index, step);
}

bool reduce_pipeline(const CollectiveCall& call, std::uint32_t index, Step& step) {
  return up_the_chain(call, kPipelinePiece, index, step);
}

}  // namespace foretrace::sim::collectives
