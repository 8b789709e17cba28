#include "trace/shape.hpp"

#include <algorithm>

#include "trace/fields.hpp"

namespace foretrace::trace {
namespace {

using namespace shape_bits;

std::uint8_t as_byte(int bits) {
  return static_cast<std::uint8_t>(bits);
}

// Numbers wrap around: any two requests have a distance.
std::int64_t distance(std::uint64_t from, std::uint64_t to) {
  return static_cast<std::int64_t>(to - from);
}

void encode_send(Encoder& out, const Event& event) {
  out.varint(event.comm);
  const bool in_pieces = event.send.piece != 0;
  out.u8(as_byte(static_cast<int>(event.mode) | (event.send.untouched ? kUntouched : 0) |
                 (in_pieces ? kInPieces : 0)));
  out.svarint(event.send.peer.value);
  out.svarint(event.send.tag);
  out.varint(event.send.bytes.count);
  if (in_pieces) out.varint(event.send.piece);
}

void encode_recv(Encoder& out, const Event& event) {
  out.varint(event.comm);
  const bool in_pieces = event.recv.piece != 0;
  out.u8(as_byte((event.recv.any_source ? 1 : 0) | (event.recv.any_tag ? 2 : 0) |
                 (in_pieces ? kInPieces : 0)));
  out.svarint(event.recv.peer.value);
  out.svarint(event.recv.tag);
  out.varint(event.recv.bytes.count);
  if (in_pieces) out.varint(event.recv.piece);
}

void encode_body(Encoder& out, const ShapeSource& source) {
  const Event& event = source.event;
  const std::uint64_t last_request = source.last_request;
  if (posts(event.kind) && !leaves_message(event))
    out.svarint(distance(last_request + 1, event.request));
  switch (event.kind) {
    case EventKind::send:
    case EventKind::isend:
      return encode_send(out, event);
    case EventKind::recv:
    case EventKind::irecv:
    case EventKind::probe:
      encode_recv(out, event);
      if (receives(event) && event.taken != 0) out.svarint(distance(event.taken, last_request));
      return;
    case EventKind::sendrecv:
      encode_send(out, event);
      return encode_recv(out, event);
    case EventKind::complete:
      return out.varint(event.completions.size());
    case EventKind::collective:
    case EventKind::icollective:
      out.varint(event.comm);
      out.u8(as_byte(static_cast<int>(event.collective) | (event.send.untouched ? kUntouched : 0)));
      out.varint(event.bytes.count);
      out.svarint(event.root.value);
      if (source.counts != 0) out.varint(source.counts - 1);
      if (tells_reduction(event)) out.u8(static_cast<std::uint8_t>(event.reduction));
      return;
    case EventKind::call:
      if (combines(event)) {
        out.u8(static_cast<std::uint8_t>(event.reduction));
        return out.varint(event.bytes.count);
      }
      if (!moves_data(event) && !is_one_sided(event)) return;
      out.varint(event.comm);
      out.svarint(event.send.peer.value);
      out.varint(event.bytes.count);
      if (!is_one_sided(event)) return;
      out.u8(as_byte(static_cast<int>(event.one_sided) | (posts(event) ? kHasRequest : 0)));
      if (posts(event)) out.svarint(distance(last_request + 1, event.request));
      return;
    case EventKind::aborted:
      return out.svarint(event.code);
    default:
      return;
  }
}

void decode_one_sided(Decoder& in, Shape& shape) {
  const std::uint8_t what = in.u8();
  const int action = what & ~kHasRequest;
  if (action == 0 || action > static_cast<int>(machine::OneSided::unlock))
    throw Broken{"an unknown kind of one-sided call"};
  shape.event.one_sided = static_cast<machine::OneSided>(action);
  shape.posts = what & kHasRequest;
  if (shape.posts) shape.event.request = static_cast<std::uint64_t>(in.svarint());
}

machine::Reduction decode_reduction(Decoder& in) {
  const std::uint8_t number = in.u8();
  if (!machine::is_reduction(number)) throw Broken{"an unknown reduction"};
  return static_cast<machine::Reduction>(number);
}

void decode_body(Decoder& in, Shape& shape, const Definitions& defined, std::uint8_t bits,
                 bool combines) {
  Event& event = shape.event;
  shape.posts = posts(event.kind) && (bits & kKindMask) != kLeaves;
  if (shape.posts) event.request = static_cast<std::uint64_t>(in.svarint());
  switch (event.kind) {
    case EventKind::send:
    case EventKind::isend:
      return decode_send(in, event, defined);
    case EventKind::recv:
    case EventKind::irecv:
    case EventKind::probe:
      decode_recv(in, event, defined);
      if (bits & kHasTaken) event.taken = static_cast<std::uint64_t>(in.svarint());
      return;
    case EventKind::sendrecv:
      decode_send(in, event, defined);
      return decode_recv(in, event, defined);
    case EventKind::complete:
      return decode_completions(in, event, defined,
                                [&] { return static_cast<std::uint64_t>(in.svarint()); });
    case EventKind::collective:
    case EventKind::icollective:
      decode_collective(in, event, defined);
      if (bits & kHasCounts) event.counts = in.index(defined.counts.size(), "undefined counts") + 1;
      if (combines) event.reduction = decode_reduction(in);
      return;
    case EventKind::call:
      if (combines) {
        event.reduction = decode_reduction(in);
        event.bytes = Bytes(in.varint());
        return;
      }
      if (!(bits & (kMoves | kOneSided))) return;
      event.comm = in.index(defined.comms.size(), "an undefined communicator");
      event.send.peer = decode_rank(in, defined.ranks);
      event.bytes = Bytes(in.varint());
      if (bits & kOneSided) decode_one_sided(in, shape);
      return;
    case EventKind::aborted:
      event.code = in.s32();
      return;
    default:
      return;
  }
}

// From distances to numbers.
void number_requests(const Shape& shape, Event& event, std::uint64_t& last_request) {
  if (shape.has_taken) event.taken = last_request - event.taken;
  if (shape.posts) last_request = event.request += last_request + 1;
  for (Completion& completion : event.completions)
    completion.request = last_request - completion.request;
}

}  // namespace

void encode_shape(Encoder& out, const ShapeSource& source) {
  const Event& event = source.event;
  const std::uint16_t head = shape_head(source);
  out.u8(static_cast<std::uint8_t>(head));
  out.u8(static_cast<std::uint8_t>(head >> 8));
  out.varint(event.name);
  if (event.site != 0) out.varint(event.site);
  if (source.stay_fixed) out.signed_time(source.times.alone);
  encode_body(out, source);
}

void encode_completion(Encoder& out, const Completion& completion, std::uint64_t last_request) {
  const bool receive = completion.source.valid();
  out.svarint(distance(completion.request, last_request));
  out.u8(as_byte((receive ? 1 : 0) | (completion.cancelled ? 2 : 0)));
  if (!receive) return;
  out.svarint(completion.source.value);
  out.svarint(completion.tag);
  out.varint(completion.bytes.count);
}

void decode_shape(Decoder& in, Shape& shape, const Definitions& defined) {
  shape = Shape();
  const std::uint8_t first = in.u8();
  const std::uint8_t kind = first & kKindMask;
  if (kind < static_cast<std::uint8_t>(EventKind::init) || kind > kLeaves)
    throw Broken{"an unknown kind of event"};
  shape.event.kind = kind == kLeaves ? EventKind::probe : static_cast<EventKind>(kind);
  const std::uint8_t second = in.u8();
  shape.has_extra = first & kHasExtra;
  shape.has_taken = receives(shape.event) && (first & kHasTaken);
  shape.has_compute = second & kHasCompute;
  shape.has_steps = second & kHasSteps;
  shape.has_wait = second & kHasWait;
  shape.has_gap = second & kHasGap;
  shape.stay_fixed = second & kStayFixed;
  shape.event.name = in.index(defined.names.size(), "an undefined name");
  if (second & kHasSite)
    shape.event.site = in.index(defined.sites.size() + 1, "an undefined call site");
  if (shape.stay_fixed) shape.alone = Time::ps(in.signed_time());
  decode_body(in, shape, defined, first, second & kCombines);
}

void decode_event(Decoder& in, const Shape& shape, Event& event, Clock clock, Position& position) {
  event = shape.event;
  if (shape.has_compute) event.compute = Time::ps(in.time());
  if (shape.has_steps) event.steps = in.f64();
  const Time cpu = position.cpu + event.compute;
  const Time gap = Time::ps(shape.has_gap ? in.signed_time() : 0);
  Time alone = shape.alone;
  if (clock != Clock::cpu && !shape.stay_fixed) alone = Time::ps(in.signed_time());
  if (shape.has_wait) event.wait = Time::ps(in.time());
  event.enter = clock == Clock::cpu ? cpu : position.last_leave + event.compute + gap;
  if (std::max(cpu, event.enter) > kEndOfTime) throw Broken{"a time is out of range"};
  event.leave = clock == Clock::cpu ? cpu : event.enter + alone + event.wait;
  if (event.enter < position.last_leave || event.leave < event.enter || event.leave > kEndOfTime)
    throw Broken{"a time is out of range"};
  if (shape.has_extra && event.kind == EventKind::mark)
    event.value = in.f64();
  else if (shape.has_extra)
    event.count = static_cast<std::uint32_t>(std::min<std::uint64_t>(in.varint(), UINT32_MAX));
  number_requests(shape, event, position.last_request);
  position.cpu = cpu;
  position.last_leave = event.leave;
}

}  // namespace foretrace::trace
