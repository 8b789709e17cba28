// EventQueue: what happens next in virtual time, for simulations in which the
// order matters. A 4-ary heap; events at one time have a fixed order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace foretrace::sim {

// In the order in which they happen at one time: a rank is asked for an operation
// that it did not have before, a posted collective goes on, a rank begins an operation, a
// header is where wildcards can match it, a rank that waits for any of several requests looks
// again, a message that needs its receiver in a call looks for it, a message enters the shared
// links or comes to a port, the answer to a rendezvous' request does, a rank has no more patience.
enum class EventClass : std::uint8_t {
  ask,
  progress,
  begin,
  header,
  wake,
  attend,
  inject,
  answer,
  give_up
};

struct Event {
  Time time;
  EventClass what = EventClass::begin;
  std::int32_t rank = 0;
  std::uint32_t order = 0;    // among the rank's events of the class
  std::uint32_t payload = 0;  // no part of the order

  bool operator<(const Event& other) const {
    return std::tie(time, what, rank, order) <
           std::tie(other.time, other.what, other.rank, other.order);
  }
};

class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  const Event& top() const { return heap_.front(); }

  void push(const Event& event) {
    std::size_t at = heap_.size();
    heap_.push_back(event);
    for (; at > 0 && event < heap_[(at - 1) / 4]; at = (at - 1) / 4)
      heap_[at] = heap_[(at - 1) / 4];
    heap_[at] = event;
  }

  Event pop() {
    const Event first = heap_.front();
    const Event last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return first;
    const std::size_t size = heap_.size();
    std::size_t at = 0;
    for (std::size_t child = 1; child < size; child = 4 * at + 1) {
      std::size_t least = child;
      for (std::size_t c = child + 1; c < size && c < child + 4; ++c)
        if (heap_[c] < heap_[least]) least = c;
      if (!(heap_[least] < last)) break;
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = last;
    return first;
  }

  std::size_t memory() const { return heap_.capacity() * sizeof(Event); }

 private:
  std::vector<Event> heap_;
};

}  // namespace foretrace::sim
