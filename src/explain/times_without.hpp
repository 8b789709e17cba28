// TimesWithout: the run time without each single wait, for all waits at once.
#pragma once

#include <cstdint>
#include <vector>

#include "explain/run.hpp"

namespace foretrace::explain {

// Some of the moments, numbered in their order.
class MarkedMoments {
 public:
  explicit MarkedMoments(std::size_t moments) : words_(moments / 64 + 1) {}
  void mark(sim::MomentId id) { words_[id / 64].bits |= bit(id); }
  // All are marked. Their count.
  std::uint32_t number();

  bool operator[](sim::MomentId id) const { return (words_[id / 64].bits & bit(id)) != 0; }
  // How many come before it.
  std::uint32_t before(sim::MomentId id) const;

 private:
  static std::uint64_t bit(sim::MomentId id) { return std::uint64_t{1} << (id % 64); }
  struct Word {
    std::uint64_t bits = 0;
    std::uint32_t before = 0;
  };
  std::vector<Word> words_;
};

// The run time if the call that leaves at a moment then need not wait: of leaves with a wait;
// the run's time for all other moments. A way around a moment has a link that leads from
// before it to after it in the order of the graph, so that the longest one is the largest of
// those links' longest ways. A collective that is carried out as messages has one such moment
// for each step.
class TimesWithout {
 public:
  explicit TimesWithout(const Run& run);
  Time operator[](sim::MomentId id) const {
    return waits_[id] ? times_[waits_.before(id)] : as_it_is_;
  }

 private:
  MarkedMoments waits_;
  std::vector<Time> times_;  // by number of the wait
  Time as_it_is_;
};

}  // namespace foretrace::explain
