// The fields of an event that all versions of the format hold in the same way.
// All throw Broken. Private to src/trace.
#pragma once

#include "trace/decoder.hpp"
#include "trace/event.hpp"

namespace foretrace::trace {

// In the byte of a send's mode, and in that of a collective.
inline constexpr std::uint8_t kUntouched = 0x80;
// In the byte of a send's mode, and in that of a receive's wildcards: the bytes of a piece follow.
inline constexpr std::uint8_t kInPieces = 0x40;

inline WorldRank decode_rank(Decoder& in, int ranks) {
  const std::int32_t rank = in.s32();
  if (rank < -1 || rank >= ranks) throw Broken{"a rank that does not exist"};
  return WorldRank(rank);
}

inline std::uint16_t decode_piece(Decoder& in) {
  const std::uint64_t piece = in.varint();
  if (piece > UINT16_MAX) throw Broken{"a piece of data that is too long"};
  return static_cast<std::uint16_t>(piece);
}

inline void decode_send(Decoder& in, Event& event, const Definitions& defined) {
  event.comm = in.index(defined.comms.size(), "an undefined communicator");
  const std::uint8_t how = in.u8();
  event.send.untouched = (how & kUntouched) != 0;
  const auto mode = static_cast<std::uint8_t>(how & ~(kUntouched | kInPieces));
  if (mode > static_cast<std::uint8_t>(machine::SendMode::ready)) throw Broken{"a wrong send mode"};
  event.mode = static_cast<machine::SendMode>(mode);
  event.send.peer = decode_rank(in, defined.ranks);
  event.send.tag = in.s32();
  event.send.bytes = Bytes(in.varint());
  if (how & kInPieces) event.send.piece = decode_piece(in);
}

inline void decode_recv(Decoder& in, Event& event, const Definitions& defined) {
  event.comm = in.index(defined.comms.size(), "an undefined communicator");
  const std::uint8_t wild = in.u8();
  event.recv.any_source = wild & 1;
  event.recv.any_tag = wild & 2;
  event.recv.peer = decode_rank(in, defined.ranks);
  event.recv.tag = in.s32();
  event.recv.bytes = Bytes(in.varint());
  if (wild & kInPieces) event.recv.piece = decode_piece(in);
}

// `number()` reads a request.
template <class Number>
void decode_completions(Decoder& in, Event& event, const Definitions& defined, Number number) {
  const std::uint64_t count = in.varint();
  for (std::uint64_t i = 0; i < count; ++i) {
    Completion completion;
    completion.request = number();
    const std::uint8_t flags = in.u8();
    completion.cancelled = flags & 2;
    if (flags & 1) {
      completion.source = decode_rank(in, defined.ranks);
      completion.tag = in.s32();
      completion.bytes = Bytes(in.varint());
    }
    event.completions.push_back(completion);
  }
}

inline void decode_collective(Decoder& in, Event& event, const Definitions& defined) {
  event.comm = in.index(defined.comms.size(), "an undefined communicator");
  const std::uint8_t how = in.u8();
  event.send.untouched = (how & kUntouched) != 0;
  const auto which = static_cast<std::uint8_t>(how & ~kUntouched);
  if (!machine::is_collective(static_cast<machine::Cost>(which)))
    throw Broken{"an unknown collective"};
  event.collective = static_cast<machine::Cost>(which);
  event.bytes = Bytes(in.varint());
  event.root = LocalRank(in.s32());
  const auto size = static_cast<std::int32_t>(defined.comms[event.comm].members.size());
  if (event.root.value < -1 || event.root.value >= size) throw Broken{"a root that does not exist"};
}

}  // namespace foretrace::trace
