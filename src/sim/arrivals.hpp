// Arrivals: the messages that wait at one rank, by when their headers are there.
//
// For open receives and probes, which take the first to arrive of many: a heap
// for each communicator and tag. Messages that a named receive took stay in
// until they come to the top; the caller says which are still there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "sim/operation.hpp"

namespace foretrace::sim {

struct WaitingMessage {
  Time header;
  WorldRank source;
  std::uint32_t order = 0;  // among the source's messages
  std::int32_t tag = 0;

  // Which one an open receive takes first.
  bool before(const WaitingMessage& other) const {
    return std::tie(header, source, order) < std::tie(other.header, other.source, other.order);
  }
};

class Arrivals {
 public:
  void add(trace::CommId comm, const WaitingMessage& message) {
    Heap& heap = heaps_[{comm, message.tag}];
    heap.push_back(message);
    std::ranges::push_heap(heap, later);
  }

  // The first one from anybody with this tag (or kAnyTag) of which there(message)
  // says that it still waits; false if there is none.
  template <class There>
  bool first(trace::CommId comm, std::int32_t tag, There there, WaitingMessage& found) {
    constexpr auto kLeast = std::numeric_limits<std::int32_t>::min();
    bool any = false;
    auto at = heaps_.lower_bound({comm, tag == kAnyTag ? kLeast : tag});
    for (; at != heaps_.end() && at->first.first == comm; ++at) {
      if (tag != kAnyTag && at->first.second != tag) break;
      Heap& heap = at->second;
      while (!heap.empty() && !there(heap.front())) {
        std::ranges::pop_heap(heap, later);
        heap.pop_back();
      }
      if (heap.empty() || (any && !heap.front().before(found))) continue;
      found = heap.front();
      any = true;
    }
    return any;
  }

 private:
  using Heap = std::vector<WaitingMessage>;
  static bool later(const WaitingMessage& a, const WaitingMessage& b) { return b.before(a); }

  std::map<std::pair<trace::CommId, std::int32_t>, Heap> heaps_;
};

}  // namespace foretrace::sim
