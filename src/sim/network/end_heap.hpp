// EndHeap: which of many ends first, when ends move all the time.
//
// A heap with four children to a node, by (end, number), that knows each
// member's place. Heaps whose members are different ones of the same numbers may
// share the places. When most ends have moved it is cheaper to put the new ones in
// without order and to restore the heap once: put() and rebuild(). It belongs to
// FlowNetwork and knows nothing of flows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace foretrace::sim {

// By number, of those that are in a heap.
using HeapPlaces = std::vector<std::int32_t>;

template <typename End>
class EndHeap {
 public:
  struct Entry {
    End end;
    std::uint32_t number;
    bool operator<(const Entry& other) const {
      return end != other.end ? end < other.end : number < other.number;
    }
  };

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  const Entry& top() const { return heap_.front(); }

  // Puts a member in, or moves its end.
  void set(HeapPlaces& places, std::uint32_t number, End end) {
    put(places, number, end);
    restore(places, static_cast<std::size_t>(places[number]));
  }

  // The same, leaving the heap without order until rebuild().
  void put(HeapPlaces& places, std::uint32_t number, End end) {
    if (number >= places.size()) places.resize(number + 1, kNowhere);
    if (places[number] == kNowhere) {
      places[number] = static_cast<std::int32_t>(heap_.size());
      heap_.push_back({end, number});
    } else {
      heap_[static_cast<std::size_t>(places[number])].end = end;
    }
  }
  void rebuild(HeapPlaces& places) {
    if (heap_.size() < 2) return;
    for (std::size_t place = (heap_.size() - 2) / kArity + 1; place-- > 0;) sink(places, place);
  }

  // Does nothing where it is not in.
  void remove(HeapPlaces& places, std::uint32_t number) {
    if (number >= places.size() || places[number] == kNowhere) return;
    const auto place = static_cast<std::size_t>(places[number]);
    places[number] = kNowhere;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (place == heap_.size()) return;
    move_to(places, place, last);
    restore(places, place);
  }

  std::size_t memory() const { return heap_.capacity() * sizeof(Entry); }

 private:
  static constexpr std::size_t kArity = 4;
  static constexpr std::int32_t kNowhere = -1;

  void move_to(HeapPlaces& places, std::size_t place, const Entry& entry) {
    heap_[place] = entry;
    places[entry.number] = static_cast<std::int32_t>(place);
  }

  void restore(HeapPlaces& places, std::size_t place) {
    if (!rise(places, place)) sink(places, place);
  }

  // Whether it has moved.
  bool rise(HeapPlaces& places, std::size_t place) {
    const Entry entry = heap_[place];
    const std::size_t start = place;
    while (place > 0) {
      const std::size_t parent = (place - 1) / kArity;
      if (!(entry < heap_[parent])) break;
      move_to(places, place, heap_[parent]);
      place = parent;
    }
    if (place == start) return false;
    move_to(places, place, entry);
    return true;
  }

  void sink(HeapPlaces& places, std::size_t place) {
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
      move_to(places, place, heap_[least]);
      place = least;
    }
    if (place != start) move_to(places, place, entry);
  }

  std::vector<Entry> heap_;
};

}  // namespace foretrace::sim
