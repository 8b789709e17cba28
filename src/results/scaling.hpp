// How times of points go over ranks: a group for each program and set of parameters, in it a
// series for each way and machine, with speed-up, efficiency and phases.
//
// From a table of points (query.hpp) to plain numbers; views draw them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/query.hpp"

namespace foretrace::results {

struct ScalingPoint {
  std::int64_t ranks = 0;    // above 0
  double time = 0;           // seconds, above 0
  double low = 0, high = 0;  // time_min and time_max where both are known, else the time
  // Against the series' fewest ranks r: T(r) / T(p), and that times r / p.
  double speedup = 1, efficiency = 1;
  std::vector<std::optional<double>> phases;  // seconds, by Scaling::phases
};

struct ScalingSeries {
  std::string way, machine;          // machine "": this one
  std::vector<ScalingPoint> points;  // by ranks, each number of ranks once
  // Ranks that other series of the group have and this one lacks.
  std::vector<std::int64_t> missing;
};

struct ScalingGroup {
  std::vector<std::pair<std::string, std::string>> of;  // program and parameters that vary
  std::vector<ScalingSeries> series;
};

struct Scaling {
  std::vector<std::string> phases;  // names, without "phase_"
  std::vector<ScalingGroup> groups;
  // Parameters that have one value for each number of ranks: the problem grows with the ranks, and
  // speed-up and efficiency mean nothing.
  std::vector<std::string> grown;
  std::size_t left_out = 0;  // points without a time or without a number of ranks
  std::size_t replaced = 0;  // points that were run anew after something changed; the latest count
};

// Of a table of points with medians. A parameter that is the number of ranks tells no groups
// apart. Points that do not know a parameter (a measurement and the network that is predicted)
// stand in each group with which they agree. Without a column `time` there are no groups.
Scaling scaling_of(const Table& points);

}  // namespace foretrace::results
