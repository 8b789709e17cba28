// PacketEvents: what is due when, if most delays are one of a few.
//
// Events with the same delay are due in the order in which they were made, so
// each of a few delays (a full packet on a link, a link's latency) has a line of
// its own, where an event costs next to nothing; other delays go into a 4-ary
// heap. Exact whatever the delays are. Knows nothing of packets.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/error.hpp"

namespace foretrace::sim {

// Times are picoseconds. Events made by the same caller with one delay are
// taken, at one time, in the order in which they were made.
class PacketEvents {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  PacketEvents() { fronts_.fill(kNever); }

  // When the next event is due; kNever: there is none.
  std::int64_t next() const {
    std::int64_t least = heap_.empty() ? kNever : heap_.front().time;
    for (std::size_t i = 0; i < used_; ++i) least = std::min(least, fronts_[i]);
    return least;
  }

  // now: not before that of any earlier push. Throws Error when time ends.
  void push(std::int64_t now, std::int64_t delay, std::uint32_t what) {
    if (delay >= kNever - now)
      throw Error("virtual time: expected less than 106 days, found more; check the links' speeds");
    const std::int64_t time = now + delay;
    for (std::size_t i = 0; i < used_; ++i)
      if (delays_[i] == delay) return append(i, time, what);
    if (used_ < kLines) {
      delays_[used_] = delay;
      return append(used_++, time, what);
    }
    for (std::size_t i = 0; i < kLines; ++i) {
      if (fronts_[i] != kNever) continue;
      delays_[i] = delay;
      return append(i, time, what);
    }
    sift_in({time, ++made_, what});
  }

  // Calls each(what) for every event due at `time`, which is next(); it must
  // not push here. The heap comes first: where it has events of a delay that
  // has a line, they are older than the line. soon(what) is called for events
  // that may be due a little later: the time to bring their data near.
  template <class Each, class Soon>
  void take(std::int64_t time, const Each& each, const Soon& soon) {
    while (!heap_.empty() && heap_.front().time == time) each(sift_out());
    for (std::size_t i = 0; i < used_; ++i)
      if (fronts_[i] == time) take_line(i, time, each, soon);
  }

  std::size_t memory() const {
    std::size_t bytes = heap_.capacity() * sizeof(Event);
    for (const Line& line : lines_) bytes += line.events.capacity() * sizeof(Event);
    return bytes;
  }

 private:
  static constexpr std::size_t kLines = 8;

  struct Event {
    std::int64_t time = 0;
    std::uint32_t made = 0;  // in the heap; wraps round, compared by distance
    std::uint32_t what = 0;
    bool before(const Event& other) const {
      if (time != other.time) return time < other.time;
      return static_cast<std::int32_t>(made - other.made) < 0;
    }
  };
  // A ring; its size is a power of two.
  struct Line {
    std::vector<Event> events;
    std::size_t first = 0;
    std::size_t count = 0;
  };

  void append(std::size_t index, std::int64_t time, std::uint32_t what) {
    Line& line = lines_[index];
    if (line.count == line.events.size()) widen(line);
    if (line.count == 0) fronts_[index] = time;
    Event& event = line.events[(line.first + line.count++) & (line.events.size() - 1)];
    event.time = time;
    event.what = what;
  }

  static void widen(Line& line) {
    std::rotate(line.events.begin(), line.events.begin() + static_cast<std::ptrdiff_t>(line.first),
                line.events.end());
    line.first = 0;
    line.events.resize(std::max<std::size_t>(16, 2 * line.events.size()));
  }

  template <class Each, class Soon>
  void take_line(std::size_t index, std::int64_t time, const Each& each, const Soon& soon) {
    constexpr std::size_t kAhead = 6;
    Line& line = lines_[index];
    const std::size_t mask = line.events.size() - 1;
    while (line.count > 0 && line.events[line.first].time == time) {
      if (line.count > kAhead) soon(line.events[(line.first + kAhead) & mask].what);
      each(line.events[line.first].what);
      line.first = (line.first + 1) & mask;
      --line.count;
    }
    fronts_[index] = line.count > 0 ? line.events[line.first].time : kNever;
  }

  void sift_in(const Event& event) {
    std::size_t at = heap_.size();
    heap_.push_back(event);
    for (; at > 0 && event.before(heap_[(at - 1) / 4]); at = (at - 1) / 4)
      heap_[at] = heap_[(at - 1) / 4];
    heap_[at] = event;
  }

  std::uint32_t sift_out() {
    const std::uint32_t what = heap_.front().what;
    const Event last = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (size == 0) return what;
    std::size_t at = 0;
    for (std::size_t child = 1; child < size; child = 4 * at + 1) {
      std::size_t least = child;
      for (std::size_t c = child + 1; c < std::min(size, child + 4); ++c)
        if (heap_[c].before(heap_[least])) least = c;
      if (!heap_[least].before(last)) break;
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = last;
    return what;
  }

  std::array<std::int64_t, kLines> fronts_;  // kNever: the line is empty
  std::array<std::int64_t, kLines> delays_{};
  std::size_t used_ = 0;
  std::array<Line, kLines> lines_;
  std::vector<Event> heap_;
  std::uint32_t made_ = 0;
};

}  // namespace foretrace::sim
