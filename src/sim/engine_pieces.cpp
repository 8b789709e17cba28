// Data that does not lie together in memory is put together before the call begins, and taken apart
// after all else that it does. docs/theory.md has the rule.
#include "sim/engine_impl.hpp"

namespace foretrace::sim {

using trace::EventKind;

const machine::Timing& Engine::rules_with(const Rank& rank, WorldRank peer) const {
  return timing_.on(network_->path(rank.id, peer));
}

Time Engine::packing(const Rank& rank) const {
  const trace::Endpoint& data = rank.operation.send;
  return data.piece == 0 ? Time()
                         : rules_with(rank, data.peer).packing(data.bytes, Bytes(data.piece));
}

Time Engine::unpacking(const Rank& rank) const {
  const trace::Endpoint& room = rank.operation.recv;
  const bool receives =
      rank.operation.kind == EventKind::recv || rank.operation.kind == EventKind::sendrecv;
  if (room.piece == 0 || !receives || (!rank.received && !rank.detached)) return Time();
  // Of a message that is not known (detach()) it says itself what it was.
  const trace::Endpoint& message = rank.detached ? room : rank.message;
  return rules_with(rank, message.peer).unpacking(message.bytes, Bytes(room.piece));
}

void Engine::note_pieces(const Rank& rank, Request& request) {
  const trace::Endpoint& room = rank.operation.recv;
  if (room.piece == 0) return;
  request.in_pieces = true;
  posted_pieces_[{rank.id.value, request.serial}] = Bytes(room.piece);
}

Time Engine::unpacking_of_posted(const Rank& rank, const Request& request, WorldRank source,
                                 Bytes bytes) {
  if (!request.in_pieces) return Time();
  const auto found = posted_pieces_.find({rank.id.value, request.serial});
  const Bytes piece = found->second;
  posted_pieces_.erase(found);
  return request.empty ? Time() : rules_with(rank, source).unpacking(bytes, piece);
}

}  // namespace foretrace::sim
