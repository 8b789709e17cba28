// Arrivals: the messages that wait at one rank, by when their headers are there.
//
// For open receives and probes, which take the first to arrive of many: a heap
// for each communicator and tag (or any tag) that one of them asked for. Messages
// that a named receive took stay in until they come to the top or the heap has
// doubled; the caller says which are still there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
  // Whether messages with this tag (or kAnyTag) have a heap. If not, learn() makes
  // one, to be filled with those that wait; others may be dropped for it.
  bool knows(trace::CommId comm, std::int32_t tag) const { return heaps_.contains({comm, tag}); }
  void learn(trace::CommId comm, std::int32_t tag) {
    if (heaps_.size() >= kMostHeaps) heaps_.clear();
    heaps_[{comm, tag}];
  }

  // A message that waits. waits(message) says whether another one still does.
  template <class Waits>
  void add(trace::CommId comm, const WaitingMessage& message, Waits waits) {
    add_to(comm, message.tag, message, waits);
    add_to(comm, kAnyTag, message, waits);
  }
  // The same into the heap of one tag (or kAnyTag), if there is one.
  template <class Waits>
  void add_to(trace::CommId comm, std::int32_t tag, const WaitingMessage& message, Waits waits) {
    const auto found = heaps_.find({comm, tag});
    if (found == heaps_.end()) return;
    Heap& heap = found->second;
    if (heap.messages.size() >= heap.limit) {
      std::erase_if(heap.messages, [&](const WaitingMessage& other) { return !waits(other); });
      std::ranges::make_heap(heap.messages, later);
      heap.limit = std::max(kFirstLimit, 2 * heap.messages.size());
    }
    heap.messages.push_back(message);
    std::ranges::push_heap(heap.messages, later);
  }

  // The first one from anybody with this tag (or kAnyTag), which knows() says is
  // known; false if there is none.
  template <class Waits>
  bool first(trace::CommId comm, std::int32_t tag, Waits waits, WaitingMessage& found) {
    std::vector<WaitingMessage>& messages = heaps_.at({comm, tag}).messages;
    while (!messages.empty() && !waits(messages.front())) {
      std::ranges::pop_heap(messages, later);
      messages.pop_back();
    }
    if (messages.empty()) return false;
    found = messages.front();
    return true;
  }

  std::size_t memory() const {
    std::size_t bytes = 0;
    for (const auto& [pattern, heap] : heaps_)
      bytes += sizeof heap + heap.messages.capacity() * sizeof(WaitingMessage);
    return bytes;
  }

 private:
  static constexpr std::size_t kMostHeaps = 64;
  static constexpr std::size_t kFirstLimit = 64;
  struct Heap {
    std::vector<WaitingMessage> messages;
    std::size_t limit = kFirstLimit;
  };
  static bool later(const WaitingMessage& a, const WaitingMessage& b) { return b.before(a); }

  std::map<std::pair<trace::CommId, std::int32_t>, Heap> heaps_;
};

}  // namespace foretrace::sim
