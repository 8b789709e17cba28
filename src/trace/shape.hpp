// Shape: what an event has in common with others of its rank, which is nearly
// all but its times. A shape is written once and then referred to by number.
//
// Requests stand in a shape by their distance from the last one that was
// posted, so that a loop that posts and completes has the same shapes each time
// around. Private to src/trace; docs/trace-format.md has the layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "trace/decoder.hpp"
#include "trace/encoding.hpp"
#include "trace/event.hpp"

namespace foretrace::trace {

struct Shape {
  Event event;  // without times; requests as distances
  Time alone;   // if stay_fixed: leave - enter - wait
  bool has_taken = false;
  bool posts = false;
  bool has_compute = false;
  bool has_steps = false;
  bool has_wait = false;
  bool has_gap = false;  // the time before it is not its computation alone
  bool stay_fixed = false;
  bool has_extra = false;  // mark: a value; others: a count
};

// What the times of an event look like: decides which of them are written.
struct EventTimes {
  std::int64_t compute = 0;  // ps; >= 0
  std::int64_t gap = 0;      // enter - previous leave - compute
  std::int64_t alone = 0;    // leave - enter - wait
  std::int64_t wait = 0;     // >= 0
};
// Times that run backwards or beyond what the format holds are bent, so that
// the rest of the stream stays readable.
EventTimes times_of(const Event& event, Clock clock, Time last_leave);
// From the previous event's end to this one's.
Time duration(const EventTimes& times);

// Whether events of this kind make a request.
constexpr bool posts(EventKind kind) {
  return kind == EventKind::isend || kind == EventKind::irecv || kind == EventKind::icollective ||
         kind == EventKind::probe;
}
// Whether this one does.
inline bool posts(const Event& event) {
  return (posts(event.kind) && !leaves_message(event)) ||
         (is_one_sided(event) && event.request != 0);
}

// Longest shape that is kept, bytes, and the most completions that one names.
inline constexpr std::size_t kMostCompletions = 16;
inline constexpr std::size_t kLongestShape = 160 + kMostCompletions * 32;
// And of what follows it, or of a record that is no event.
inline constexpr std::size_t kLongestTimes = 96;

// What the shape of an event is made from.
struct ShapeSource {
  const Event& event;
  const EventTimes& times;
  bool stay_fixed;             // the duration belongs to the shape
  CountsId counts;             // in the writer's table
  std::uint64_t last_request;  // that the rank posted last, before this event
};

// Its first two bytes, the first one low: the kind, and which fields follow.
std::uint16_t shape_head(const ShapeSource& source);
// The shape, without the event's completions.
void encode_shape(Encoder& out, const ShapeSource& source);
void encode_completion(Encoder& out, const Completion& completion, std::uint64_t last_request);
// What follows the shape's number: times, and what changes from call to call.
void encode_times(Encoder& out, const ShapeSource& source, Clock clock);

// Throw Broken.
void decode_shape(Decoder& in, Shape& shape, const Definitions& defined);
// Makes `event` out of its shape and what follows in the stream.
void decode_event(Decoder& in, const Shape& shape, Event& event, Clock clock, Position& position);

namespace shape_bits {

// First byte of a shape: the kind, and
inline constexpr std::uint8_t kKindMask = 0x1f;
inline constexpr std::uint8_t kHasExtra = 0x20;
inline constexpr std::uint8_t kHasTaken = 0x40;   // receives
inline constexpr std::uint8_t kHasCounts = 0x40;  // collectives
inline constexpr std::uint8_t kOneSided = 0x40;   // calls
inline constexpr std::uint8_t kMoves = 0x80;
// With what a one-sided call does: its request follows.
inline constexpr std::uint8_t kHasRequest = 0x80;
// The kind of probes that leave their messages where they are: they have no request.
inline constexpr std::uint8_t kLeaves = static_cast<std::uint8_t>(EventKind::probe) + 1;
// Second byte.
inline constexpr std::uint8_t kHasSite = 0x01;
inline constexpr std::uint8_t kHasCompute = 0x02;
inline constexpr std::uint8_t kHasSteps = 0x04;
inline constexpr std::uint8_t kHasWait = 0x08;
inline constexpr std::uint8_t kHasGap = 0x10;
inline constexpr std::uint8_t kStayFixed = 0x20;
inline constexpr std::uint8_t kCombines = 0x40;  // collectives, calls: what follows

inline bool receives(const Event& event) {
  return event.kind == EventKind::recv || event.kind == EventKind::irecv;
}

inline bool tells_reduction(const Event& event) {
  return event.reduction != machine::Reduction::none &&
         (combines(event) || event.kind == EventKind::collective ||
          event.kind == EventKind::icollective);
}

inline bool has_extra(const Event& event) {
  return event.kind == EventKind::mark ? event.value != 0 : event.count != 1;
}

inline std::int64_t clipped(std::int64_t ps) {
  return std::clamp(ps, -Decoder::kLongestSpan, Decoder::kLongestSpan);
}

}  // namespace shape_bits

inline EventTimes times_of(const Event& event, Clock clock, Time last_leave) {
  using shape_bits::clipped;
  EventTimes times;
  times.compute = clipped(std::max<std::int64_t>(event.compute.count_ps(), 0));
  times.wait = clipped(std::max<std::int64_t>(event.wait.count_ps(), 0));
  if (clock == Clock::cpu) return times;
  const std::int64_t enter = event.enter.count_ps();
  const std::int64_t before = clipped(std::max<std::int64_t>(enter - last_leave.count_ps(), 0));
  const std::int64_t stay = clipped(std::max<std::int64_t>(event.leave.count_ps() - enter, 0));
  times.gap = before - times.compute;
  times.alone = stay - times.wait;
  return times;
}

inline Time duration(const EventTimes& times) {
  return Time::ps(times.compute + times.gap + times.alone + times.wait);
}

inline std::uint16_t shape_head(const ShapeSource& source) {
  using namespace shape_bits;
  const Event& event = source.event;
  const EventTimes& times = source.times;
  const int kind = leaves_message(event) ? kLeaves : static_cast<int>(event.kind);
  const int first = kind | (has_extra(event) ? kHasExtra : 0) |
                    (receives(event) && event.taken != 0 ? kHasTaken : 0) |
                    (source.counts != 0 ? kHasCounts : 0) | (moves_data(event) ? kMoves : 0) |
                    (is_one_sided(event) ? kOneSided : 0);
  const int second = (event.site != 0 ? kHasSite : 0) | (times.compute != 0 ? kHasCompute : 0) |
                     (event.steps != 0 ? kHasSteps : 0) | (times.wait != 0 ? kHasWait : 0) |
                     (times.gap != 0 ? kHasGap : 0) | (source.stay_fixed ? kStayFixed : 0) |
                     (tells_reduction(event) ? kCombines : 0);
  return static_cast<std::uint16_t>(first | second << 8);
}

inline void encode_times(Encoder& out, const ShapeSource& source, Clock clock) {
  const Event& event = source.event;
  const EventTimes& times = source.times;
  if (times.compute != 0) out.time(times.compute);
  if (event.steps != 0) out.f64(event.steps);
  if (times.gap != 0) out.signed_time(times.gap);
  if (clock != Clock::cpu && !source.stay_fixed) out.signed_time(times.alone);
  if (times.wait != 0) out.time(times.wait);
  if (!shape_bits::has_extra(event)) return;
  if (event.kind == EventKind::mark)
    out.f64(event.value);
  else
    out.varint(event.count);
}

}  // namespace foretrace::trace
