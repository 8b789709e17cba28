// Times of single ranks by class in any part of the run, exactly: from what is written down
// every few thousand events, and the events from there on. Private to src/pyramid.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pyramid/before.hpp"
#include "pyramid/event_walk.hpp"
#include "pyramid/open_file.hpp"

namespace foretrace::pyramid {

using ClassTimes = std::array<double, 256>;  // ps

// The times of one rank from its start.
class RankTimes {
 public:
  RankTimes(const OpenFile& file, std::uint64_t rank) : file_(file), rank_(rank) {}
  // Up to `time`, ps; no earlier than the one asked for before.
  ClassTimes upto(double time);

 private:
  void seek(double time);

  const OpenFile& file_;
  std::uint64_t rank_;
  std::optional<EventWalk> walk_;
  std::size_t begin_ = 0;  // the piece that the walk began with
  bool more_ = false;      // the walk stands at an event that is not in the times
  ClassTimes times_{};
};

// Ranks that do the same, as web/src/arrange.ts puts them together.
struct AlikeGroup {
  std::vector<std::uint32_t> ranks;  // ascending
  double apart = 0;
};
std::vector<AlikeGroup> alike(const OpenFile& file, double from, double to);

struct RankMeasure {
  double compute = 0, calls = 0, wait = 0;  // ps
};
std::vector<RankMeasure> rank_measures(const OpenFile& file, double from, double to);

}  // namespace foretrace::pyramid
