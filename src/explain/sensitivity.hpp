// Sensitivity: the run time as a function of one parameter of the network.
//
// Found by simulations: the time is a line between break points, where another
// critical path takes over. No second model: every point is a simulated run.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace foretrace::explain {

// A stretch in which the critical path stays the same.
struct Piece {
  double from = 0;  // of the parameter
  double to = 0;
  double slope = 0;  // seconds of run time per unit of the parameter
};

struct Sensitivity {
  std::string parameter;             // "L", "o", "g", "G"
  std::string unit;                  // "s", "s/byte"
  std::string meaning;               // where it is added to equations; empty: the network's own
  double value = 0;                  // as it is
  double slope = 0;                  // to the right of it: how often it is on the critical path
  std::vector<Piece> pieces;         // from 0 on
  std::vector<double> break_points;  // where pieces meet
  // The value at which the run takes 1, 5 and 10 % longer; nothing: beyond the pieces.
  std::optional<double> tolerance[3];
  bool exact = true;  // false: the time is no line between some of the points that were tried
};

inline constexpr double kTolerances[3] = {0.01, 0.05, 0.10};

struct Axis {
  std::string parameter;
  std::string unit;
  double value = 0;
  double end = 0;       // how far to look, at least
  double step = 0;      // the least change of the value that a simulation can tell
  double rounding = 0;  // by how much rounded message times may move a time, seconds
  int most = 64;        // so many points are simulated, each up to three times
  std::string meaning = {};
  double farthest = 0;  // how far to look, at most; 0: a parameter that is as long as the run
};

// `time` simulates the run with the parameter at a value. Looks beyond the axis's end, with the
// points that there are, up to where the run takes as much longer as the last tolerance says.
Sensitivity find_sensitivity(const Axis& axis, const std::function<Time(double)>& time);

}  // namespace foretrace::explain
