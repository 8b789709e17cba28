// Shape: what an event has in common with others of its rank, which is nearly
// all but its times. A shape is written once and then referred to by number.
//
// Requests stand in a shape by their distance from the last one that was
// posted, so that a loop that posts and completes has the same shapes each time
// around. Private to src/trace; docs/trace-format.md has the layout.
#pragma once

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
  bool has_compute = false;
  bool has_steps = false;
  bool has_wait = false;
  bool has_gap = false;  // the time before it is not its computation alone
  bool stay_fixed = false;
  bool has_extra = false;  // call: a count; mark: a value
};

// What the times of an event look like: decides which of them are written.
struct EventTimes {
  std::int64_t compute = 0;  // ps; >= 0
  std::int64_t gap = 0;      // enter - previous leave - compute
  std::int64_t alone = 0;    // leave - enter - wait
  std::int64_t wait = 0;     // >= 0
};
EventTimes times_of(const Event& event, Clock clock, Time last_leave);
// From the previous event's end to this one's.
Time duration(const EventTimes& times);

// Whether events of this kind make a request.
constexpr bool posts(EventKind kind) {
  return kind == EventKind::isend || kind == EventKind::irecv || kind == EventKind::icollective ||
         kind == EventKind::probe;
}

// Longest shape that is kept, bytes, and the most completions that one names.
inline constexpr std::size_t kMostCompletions = 16;
inline constexpr std::size_t kLongestShape = 160 + kMostCompletions * 32;
// And of what follows it, or of a record that is no event.
inline constexpr std::size_t kLongestTimes = 96;

// The shape of `event`, without its completions. `last_request` is the number
// that the rank posted last, before this event.
void encode_shape(Encoder& out, const Event& event, const EventTimes& times, bool stay_fixed,
                  std::uint64_t last_request);
void encode_completion(Encoder& out, const Completion& completion, std::uint64_t last_request);
// What follows the shape's number: times, and what changes from call to call.
void encode_times(Encoder& out, const Event& event, const EventTimes& times, bool stay_fixed,
                  Clock clock);

// Throw Broken.
void decode_shape(Decoder& in, Shape& shape, const Definitions& defined);
// Makes `event` out of its shape and what follows in the stream.
void decode_event(Decoder& in, const Shape& shape, Event& event, Clock clock, Position& position);

}  // namespace foretrace::trace
