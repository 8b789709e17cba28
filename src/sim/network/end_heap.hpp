// EndHeap: which of many flows ends first, when ends move all the time.
//
// A heap with four children to a node and each member's place, by (end,
// number). When most ends have moved it is cheaper to put the new ones in
// without order and to restore the heap once: put() and rebuild(). It belongs to
// FlowNetwork and knows nothing of flows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace foretrace::sim {

class EndHeap {
 public:
  struct Entry {
    std::int64_t end;
    std::uint32_t number;
    bool operator<(const Entry& other) const {
      return end != other.end ? end < other.end : number < other.number;
    }
  };

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  const Entry& top() const { return heap_.front(); }

  // Puts a member in, or moves its end.
  void set(std::uint32_t number, std::int64_t end) {
    put(number, end);
    const std::size_t place = static_cast<std::size_t>(place_[number]);
    if (!rise(place)) sink(place);
  }

  // The same, leaving the heap without order until rebuild().
  void put(std::uint32_t number, std::int64_t end) {
    if (number >= place_.size()) place_.resize(number + 1, kNowhere);
    if (place_[number] == kNowhere) {
      place_[number] = static_cast<std::int32_t>(heap_.size());
      heap_.push_back({end, number});
    } else {
      heap_[static_cast<std::size_t>(place_[number])].end = end;
    }
  }
  void rebuild() {
    if (heap_.size() < 2) return;
    for (std::size_t place = (heap_.size() - 2) / kArity + 1; place-- > 0;) sink(place);
  }

  void pop() {
    place_[heap_.front().number] = kNowhere;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    move_to(0, last);
    sink(0);
  }

  std::size_t memory() const {
    return heap_.capacity() * sizeof(Entry) + place_.capacity() * sizeof(place_[0]);
  }

 private:
  static constexpr std::size_t kArity = 4;
  static constexpr std::int32_t kNowhere = -1;

  void move_to(std::size_t place, const Entry& entry) {
    heap_[place] = entry;
    place_[entry.number] = static_cast<std::int32_t>(place);
  }

  // Whether it has moved.
  bool rise(std::size_t place) {
    const Entry entry = heap_[place];
    const std::size_t start = place;
    while (place > 0) {
      const std::size_t parent = (place - 1) / kArity;
      if (!(entry < heap_[parent])) break;
      move_to(place, heap_[parent]);
      place = parent;
    }
    if (place == start) return false;
    move_to(place, entry);
    return true;
  }

  void sink(std::size_t place) {
    const Entry entry = heap_[place];
    const std::size_t start = place;
    while (true) {
      const std::size_t first = place * kArity + 1;
      if (first >= heap_.size()) break;
      std::size_t least = first;
      const std::size_t end = std::min(first + kArity, heap_.size());
      for (std::size_t child = first + 1; child < end; ++child)
        if (heap_[child] < heap_[least]) least = child;
      if (!(heap_[least] < entry)) break;
      move_to(place, heap_[least]);
      place = least;
    }
    if (place != start) move_to(place, entry);
  }

  std::vector<Entry> heap_;
  std::vector<std::int32_t> place_;  // by number
};

}  // namespace foretrace::sim
