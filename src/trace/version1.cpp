#include "trace/version1.hpp"

#include <algorithm>

#include "trace/fields.hpp"

namespace foretrace::trace::version1 {
namespace {

constexpr std::uint8_t kKindMask = 0x3f;
constexpr std::uint8_t kHasSteps = 0x40;
constexpr std::uint8_t kHasWait = 0x80;

Time decode_time(Decoder& in) {
  const std::uint64_t value = in.varint();
  if (value > static_cast<std::uint64_t>(Decoder::kLongestSpan))
    throw Broken{"a time is out of range"};
  return Time::ps(static_cast<std::int64_t>(value));
}

void decode_body(Decoder& in, Event& event, const Definitions& defined) {
  switch (event.kind) {
    case EventKind::send:
      return decode_send(in, event, defined);
    case EventKind::recv:
      return decode_recv(in, event, defined);
    case EventKind::sendrecv:
      decode_send(in, event, defined);
      return decode_recv(in, event, defined);
    case EventKind::isend:
      event.request = in.varint();
      return decode_send(in, event, defined);
    case EventKind::irecv:
      event.request = in.varint();
      return decode_recv(in, event, defined);
    case EventKind::complete:
      return decode_completions(in, event, defined, [&] { return in.varint(); });
    case EventKind::icollective:
      event.request = in.varint();
      [[fallthrough]];
    case EventKind::collective:
      return decode_collective(in, event, defined);
    case EventKind::call:
      event.count = static_cast<std::uint32_t>(std::min<std::uint64_t>(in.varint(), UINT32_MAX));
      return;
    case EventKind::aborted:
      event.code = in.s32();
      return;
    default:
      return;
  }
}

}  // namespace

void decode_event(Decoder& in, std::uint8_t head, Event& event, const Definitions& defined,
                  Position& position) {
  const std::uint8_t kind = head & kKindMask;
  if (kind < static_cast<std::uint8_t>(EventKind::init) ||
      kind > static_cast<std::uint8_t>(EventKind::icollective))
    throw Broken{"an unknown kind of record"};
  event.kind = static_cast<EventKind>(kind);
  event.name = in.index(defined.names.size(), "an undefined name");
  event.compute = decode_time(in);
  if (head & kHasSteps) event.steps = in.f64();
  const Time cpu = position.cpu + event.compute;
  if (cpu > kEndOfTime) throw Broken{"a time is out of range"};
  if (defined.clock == Clock::cpu) {
    event.enter = event.leave = cpu;
  } else {
    event.enter = position.last_leave + decode_time(in);
    event.leave = event.enter + decode_time(in);
    if (event.leave > kEndOfTime) throw Broken{"a time is out of range"};
  }
  if (head & kHasWait) event.wait = decode_time(in);
  decode_body(in, event, defined);
  position.cpu = cpu;
  position.last_leave = event.leave;
}

}  // namespace foretrace::trace::version1
