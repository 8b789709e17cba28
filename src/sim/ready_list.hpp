// ReadyList: the ranks that can go on, as a stack or by rank.
//
// The stack is the engine's own choice: the rank that was made ready last is
// the one whose data is still in the cache. The order by rank exists so that
// tests can show that the order has no effect.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace foretrace::sim {

class ReadyList {
 public:
  explicit ReadyList(bool by_rank) : by_rank_(by_rank) {}

  bool empty() const { return ranks_.empty(); }
  void push(std::size_t rank) {
    ranks_.push_back(rank);
    if (by_rank_) std::ranges::push_heap(ranks_, std::greater<>());
  }
  std::size_t pop() {
    if (by_rank_) std::ranges::pop_heap(ranks_, std::greater<>());
    const std::size_t rank = ranks_.back();
    ranks_.pop_back();
    return rank;
  }
  std::size_t memory() const { return ranks_.capacity() * sizeof(std::size_t); }

 private:
  bool by_rank_;
  std::vector<std::size_t> ranks_;
};

}  // namespace foretrace::sim
