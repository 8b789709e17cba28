// An analytical model at many points: every combination of values of its parameters.
//
// Between the command line, which reads the ranges, and views/model/report.hpp.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formulas/evaluate.hpp"

namespace foretrace::formulas {

struct SweepAxis {
  std::string name;
  std::vector<double> values;  // at least one
};

struct SweepPoint {
  std::vector<double> values;  // by axis
  Evaluation result;
  std::optional<double> speedup;  // see below
};

struct Sweep {
  std::vector<SweepAxis> axes;
  std::vector<SweepPoint> points;  // the last axis changes fastest
};

// "1,2,8", "1:64" (all from 1 to 64, as gnuplot's ranges), "0:1:0.25" (a step), "1..64" (each
// twice the one before, and the end). At most 10,000 values. Throws UsageError.
SweepAxis parse_axis(const std::string& text);
// "8", "64k", "0.5us", "1e-6": a number, bytes or seconds; blanks around it do not count. Throws
// UsageError that begins with `what`.
double parse_value(const std::string& text, const std::string& what);
// Each "NAME=VALUE", as --at has them, in their order; no name twice. Throws UsageError.
std::vector<std::pair<std::string, double>> parse_at(const std::vector<std::string>& words);

// The model at all combinations, with `at` for the other parameters; at most a million points.
// speedup: the time at p = 1 divided by the time (Howell's thesis, section 2.5.1), where the model
// has a parameter p that is given, and a time at p = 1. Throws as evaluate() does.
Sweep sweep(const ModelFile& model, const machine::MachineModel* machine, const Values& at,
            const std::vector<SweepAxis>& axes);

}  // namespace foretrace::formulas
