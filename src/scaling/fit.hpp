// A scaling law from few points: which shape a time has, what it will be beyond what was
// measured, and how far to trust that.
//
// From observations to a plain result; reads and prints nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scaling/shapes.hpp"

namespace foretrace::scaling {

struct Observation {
  std::vector<double> x;       // by parameter, above zero
  std::vector<double> values;  // repeated measurements, at least one
};

struct Term {
  double coefficient = 0;
  Shape shape;
};

// One shape that fits.
struct Candidate {
  std::vector<Term> terms;   // with the constant, if it has one
  double value = 0;          // at the point that is asked for
  double low = 0, high = 0;  // 95 % prediction interval there, if this is the right shape
  double by_noise = 0;       // how far a point there may be off by noise alone, 95 %
  double chi_squared = 0;    // of the point means; smaller is better
  double error = 0;          // relative, of points left out (cross-validation)
  double growth = 0;         // effective exponent there: f(4 x) / f(x) = 4^growth
};

struct ScalingLaw {
  std::vector<std::string> names;
  Candidate best;
  // 95 % interval over all shapes that the data leave, and at least the error that the same
  // procedure made when it told the largest points from those before (the smallest from those
  // after, for a question below them), carried on.
  double low = 0, high = 0;
  // They agree on the growth, within 1/4, on the value within 3/2; the interval is within 1/2 and 2
  // times the value.
  bool identifiable = true;
  std::vector<Candidate> others;  // shapes that fit nearly as well, best first; at most 10
  // By how much these were off there, relative; 0: by no more than noise explains.
  double missed = 0;
  double noise = 0;                       // relative standard deviation of one measurement
  std::vector<double> smallest, largest;  // of each parameter, measured
  std::size_t points = 0;
};

inline constexpr std::size_t kLeastValues = 5;  // different ones of each parameter, as for Extra-P
// An interval is wide whose ends are further than this factor from the value.
inline constexpr double kWideInterval = 2;

// Fits value = c0 + sum c_k shape_k by relative errors, for one to three parameters; c_k >= 0 but
// for falling powers, which may be taken away from c0: then the value saturates.
// Shapes are chosen by leaving points out in turn. Throws Error where that makes no sense: fewer
// than five values of a parameter, values or parameters that are not above zero.
ScalingLaw fit_scaling(const std::vector<Observation>& observations,
                       const std::vector<std::string>& names, const std::vector<double>& at);

// "0.5 + 0.25 * p * log2(p)".
std::string format_law(const std::vector<Term>& terms, const std::vector<std::string>& names);
double evaluate(const std::vector<Term>& terms, const std::vector<double>& x);

}  // namespace foretrace::scaling
