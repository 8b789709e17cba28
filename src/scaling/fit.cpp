#include "scaling/fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/error.hpp"
#include "scaling/least_squares.hpp"
#include "stats/summary.hpp"

namespace foretrace::scaling {
namespace {

constexpr double kLikelyChi = 3.84;     // 95 % of chi-squared with one degree of freedom
constexpr double kMisfit = 2;           // times the noise: then it is no noise that a fit misses by
constexpr double kLikelyErrors = 1.96;  // 95 % of a normal distribution, in standard deviations
constexpr double kSameGrowth = 0.25;    // exponents nearer than that are one order
constexpr double kSameValue = 1.5;
constexpr double kRounding = 1e-9;  // fits that differ by less are one
constexpr std::size_t kMostOthers = 10;
constexpr std::size_t kKeptFactors = 4;  // of each parameter, for several parameters
constexpr std::size_t kLeastKnown = 4;   // values of a parameter, to look back
constexpr double kLeastNoise = 1e-4;     // relative; no clock is better

struct Points {
  std::vector<std::vector<double>> x;
  std::vector<double> y;        // medians
  std::vector<double> weights;  // 1 / y: errors are relative
  double noise = 0;             // of one measurement, relative
  double point_noise = 0;       // of a point; 0: unknown, as nothing was repeated
};

// The median of a few is noisier than their mean by this: sqrt(pi / 2).
constexpr double kMedianLoss = 1.2533;

Points points_of(const std::vector<Observation>& observations) {
  Points out;
  double squares = 0;
  std::size_t degrees = 0;
  double repeats = 0;
  for (const Observation& each : observations) {
    const double mean = std::accumulate(each.values.begin(), each.values.end(), 0.0) /
                        static_cast<double>(each.values.size());
    const double middle = each.values.size() < 6 ? mean : stats::median(each.values);
    for (const double value : each.values) squares += std::pow((value - mean) / mean, 2);
    degrees += each.values.size() - 1;
    repeats += 1 / static_cast<double>(each.values.size());
    out.x.push_back(each.x);
    out.y.push_back(middle);
    out.weights.push_back(1 / middle);
  }
  if (degrees > 0) {
    out.noise = std::max(std::sqrt(squares / static_cast<double>(degrees)), kLeastNoise);
    const double mean_repeats = repeats / static_cast<double>(observations.size());
    out.point_noise = out.noise * std::sqrt(mean_repeats);
    if (observations.front().values.size() >= 6) out.point_noise *= kMedianLoss;
  }
  return out;
}

// A shape set that was fitted; terms with a coefficient below zero are out.
struct Trial {
  std::vector<Term> terms;
  SmallFit fit;
  std::vector<Shape> shapes;  // of fit's columns
  double press = 0;
  double leading = 0;
};

std::vector<double> column(const Shape& shape, const Points& points) {
  std::vector<double> out;
  for (const auto& x : points.x) out.push_back(evaluate(shape, x));
  return out;
}

// What saturates is a constant less a falling power: in the mean, 1 - 1/p of the ranks wait for the
// last one.
bool may_be_negative(const Shape& shape) {
  return shape.size() == 1 && shape.front().exponent < 0 && shape.front().logs == 0;
}

// What is taken away needs a constant that it is taken from, and leaves some time at every point.
bool is_above_zero(const std::vector<Term>& terms, const Points& points) {
  if (std::ranges::all_of(terms, [](const Term& term) { return term.coefficient >= 0; }))
    return true;
  return terms.front().shape.empty() &&
         std::ranges::all_of(points.x, [&](const auto& x) { return evaluate(terms, x) > 0; });
}

// The most negative coefficient's column is left out until none is. Nothing if a term other than
// the constant would go: then it is another trial's.
bool try_shapes(std::vector<Shape> shapes, const Points& points, Trial& out) {
  while (true) {
    if (shapes.size() + 1 > points.y.size()) return false;
    std::vector<std::vector<double>> columns;
    for (const Shape& shape : shapes) columns.push_back(column(shape, points));
    // Weights by the fit, not by the noisy values: two rounds.
    std::vector<double> weights = points.weights;
    SmallFit fit;
    for (int round = 0; round < 2; ++round) {
      fit = fit_small(points.y, weights, columns);
      if (!fit.solved) return false;
      for (std::size_t i = 0; i < weights.size(); ++i) {
        double value = 0;
        for (std::size_t j = 0; j < columns.size(); ++j)
          value += fit.coefficients[j] * columns[j][i];
        weights[i] = 1 / std::clamp(value, points.y[i] / 2, points.y[i] * 2);
      }
    }
    std::size_t worst = shapes.size();
    for (std::size_t j = 0; j < shapes.size(); ++j)
      if (fit.coefficients[j] < 0 && !may_be_negative(shapes[j]) &&
          (worst == shapes.size() || fit.coefficients[j] < fit.coefficients[worst]))
        worst = j;
    if (worst == shapes.size()) {
      out.fit = std::move(fit);
      out.shapes = shapes;
      out.press = out.fit.press;
      out.terms.clear();
      for (std::size_t j = 0; j < shapes.size(); ++j)
        out.terms.push_back({out.fit.coefficients[j], shapes[j]});
      return is_above_zero(out.terms, points);
    }
    if (!shapes[worst].empty()) return false;
    shapes.erase(shapes.begin() + static_cast<std::ptrdiff_t>(worst));
  }
}

// Shapes of one parameter: a constant, a term, and a falling with a rising one: for strong scaling,
// and for collectives whose part that grows with 1 - 1/p meets one that grows on.
std::vector<std::vector<Shape>> single_trials(std::size_t parameter) {
  std::vector<std::vector<Shape>> out{{Shape{}}};
  std::vector<Shape> falling, rising;
  for (Factor factor : single_factors()) {
    factor.parameter = parameter;
    out.push_back({Shape{}, Shape{factor}});
    (factor.exponent < 0 ? falling : rising).push_back({factor});
  }
  for (const Shape& down : falling)
    if (down.front().exponent == -1 && down.front().logs == 0)
      for (const Shape& up : rising)
        if (up.front().exponent <= 2) out.push_back({Shape{}, down, up});
  return out;
}

std::vector<Trial> run_trials(const std::vector<std::vector<Shape>>& sets, const Points& points) {
  std::vector<Trial> out;
  for (const auto& shapes : sets) {
    Trial trial;
    if (try_shapes(shapes, points, trial)) out.push_back(std::move(trial));
  }
  return out;
}

std::size_t best_of(const std::vector<Trial>& trials) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < trials.size(); ++i)
    if (trials[i].press < trials[best].press) best = i;
  return best;
}

// What errors of `sigma` leave of the difference between two fits, in chi-squared.
double excess(const Trial& trial, const Trial& best, double sigma) {
  return (trial.fit.chi_squared - best.fit.chi_squared) / (sigma * sigma);
}

// The best, or of those with fewer terms the best that explains the data as well: by
// cross-validation alone, a term that follows the noise of five points wins too often.
std::size_t simplest_of(const std::vector<Trial>& trials, double sigma) {
  std::size_t chosen = best_of(trials);
  const Trial& best = trials[chosen];
  if (best.shapes.size() <= 2) return chosen;
  bool found = false;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].shapes.size() != 2 || excess(trials[i], best, sigma) > kLikelyChi) continue;
    if (!found || trials[i].press < trials[chosen].press) chosen = i;
    found = true;
  }
  return chosen;
}

// The points along one parameter, where the others have the values that most points have.
Points slice(const Points& points, std::size_t parameter) {
  std::map<std::vector<double>, std::vector<std::size_t>> lines;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    std::vector<double> others = points.x[i];
    others[parameter] = 0;
    lines[others].push_back(i);
  }
  const auto longest =
      std::ranges::max_element(lines, {}, [](const auto& line) { return line.second.size(); });
  Points out;
  out.noise = points.noise;
  out.point_noise = points.point_noise;
  for (const std::size_t i : longest->second) {
    out.x.push_back(points.x[i]);
    out.y.push_back(points.y[i]);
    out.weights.push_back(points.weights[i]);
  }
  return out;
}

// The factors that fit best along each parameter, in sums and in products.
std::vector<std::vector<Shape>> several_trials(const Points& points, std::size_t parameters) {
  std::vector<std::vector<Factor>> kept(parameters);
  for (std::size_t i = 0; i < parameters; ++i) {
    std::vector<Trial> trials = run_trials(single_trials(i), slice(points, i));
    std::ranges::stable_sort(trials, {}, &Trial::press);
    for (const Trial& trial : trials)
      for (const Term& term : trial.terms)
        if (!term.shape.empty() && kept[i].size() < kKeptFactors && trial.terms.size() <= 2 &&
            std::ranges::find(kept[i], term.shape.front()) == kept[i].end())
          kept[i].push_back(term.shape.front());
  }
  std::vector<std::vector<Shape>> out{{Shape{}}};
  std::vector<Shape> products{Shape{}};
  std::vector<std::vector<Shape>> sums{{}};
  for (const auto& factors : kept) {
    std::vector<Shape> more_products = products;
    std::vector<std::vector<Shape>> more_sums = sums;
    for (const Factor& factor : factors) {
      for (const Shape& product : products) {
        more_products.push_back(product);
        more_products.back().push_back(factor);
      }
      for (const auto& sum : sums) {
        more_sums.push_back(sum);
        more_sums.back().push_back({factor});
      }
    }
    products = std::move(more_products);
    sums = std::move(more_sums);
  }
  for (const auto& sum : sums) {
    std::vector<Shape> shapes{Shape{}};
    shapes.insert(shapes.end(), sum.begin(), sum.end());
    if (!sum.empty()) out.push_back(shapes);
  }
  for (const Shape& product : products) {
    if (product.size() < 2) continue;
    out.push_back({Shape{}, product});
    for (const auto& factors : kept)
      for (const Factor& factor : factors) out.push_back({Shape{}, {factor}, product});
  }
  return out;
}

double growth_at(const std::vector<Term>& terms, const std::vector<double>& at) {
  std::vector<double> larger = at;
  for (double& each : larger) each *= 4;
  return std::log(evaluate(terms, larger) / evaluate(terms, at)) / std::log(4.0);
}

Candidate candidate_of(const Trial& trial, const Points& points, const std::vector<double>& at,
                       double sigma) {
  Candidate out;
  out.terms = trial.terms;
  out.value = evaluate(trial.terms, at);
  out.chi_squared = trial.fit.chi_squared / (sigma * sigma);
  out.error = std::sqrt(trial.press / static_cast<double>(points.y.size()));
  out.growth = growth_at(trial.terms, at);
  double variance = 0;
  for (std::size_t a = 0; a < trial.shapes.size(); ++a)
    for (std::size_t b = 0; b < trial.shapes.size(); ++b)
      variance += evaluate(trial.shapes[a], at) * trial.fit.covariance[a][b] *
                  evaluate(trial.shapes[b], at);
  const auto degrees = static_cast<double>(points.y.size() - trial.shapes.size());
  const double t = stats::student(0.95, std::max(degrees, 1.0));
  // Of a new measurement: its own noise, too.
  const double own = (points.noise > 0 ? points.noise : sigma) * out.value;
  const double width = t * std::sqrt(variance * sigma * sigma + own * own);
  out.low = std::max(out.value - width, 0.0);
  out.high = out.value + width;
  const double noise = std::max(points.point_noise, kLeastNoise);
  out.by_noise = kLikelyErrors * noise * std::sqrt(variance + out.value * out.value);
  return out;
}

void check(const std::vector<Observation>& observations, const std::vector<std::string>& names,
           const std::vector<double>& at) {
  if (names.empty() || names.size() > 3) throw Error("a scaling law has one to three parameters");
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::set<double> values;
    for (const Observation& each : observations) {
      if (!(each.x[i] > 0) || !std::isfinite(each.x[i]))
        throw Error(names[i] + " is not above zero at every point; no power law holds there");
      values.insert(each.x[i]);
    }
    if (values.size() < kLeastValues)
      throw Error(names[i] + " has " + std::to_string(values.size()) + " different values; " +
                  std::to_string(kLeastValues) + " at least are needed to tell shapes apart");
    if (!(at[i] > 0)) throw Error(names[i] + " must be above zero");
  }
  for (const Observation& each : observations)
    for (const double value : each.values)
      if (!(value > 0) || !std::isfinite(value))
        throw Error("a value is not above zero; shapes are told apart by relative errors");
}

// How much worse than the best a shape's chi-squared may be. Where sigma is what the best fit
// misses by, few points tell it, and Student's distribution says how badly they do.
double likely_excess(const Trial& best, const Points& points, double sigma) {
  if (sigma <= kMisfit * std::max(points.point_noise, kLeastNoise)) return kLikelyChi;
  const auto degrees = static_cast<double>(points.y.size() - best.shapes.size());
  return std::pow(stats::student(0.95, std::max(degrees, 1.0)), 2);
}

// Whether two fits are one law: what one of them has beside the other is not there.
bool are_same(const Trial& a, const Trial& b, const Points& points, const std::vector<double>& at) {
  const auto agree = [&](const std::vector<double>& x) {
    const double one = evaluate(a.terms, x);
    return std::fabs(one - evaluate(b.terms, x)) <= kRounding * one;
  };
  return agree(at) && std::ranges::all_of(points.x, agree);
}

// Whether the interval is too wide to say what the value is.
bool is_wide(const ScalingLaw& law) {
  return law.high > kWideInterval * law.best.value || law.low * kWideInterval < law.best.value;
}

// What the points say of a place, whatever they would have said of places that are known.
ScalingLaw fit_points(const Points& points, const std::vector<std::string>& names,
                      const std::vector<double>& at) {
  std::vector<Trial> trials = run_trials(
      names.size() == 1 ? single_trials(0) : several_trials(points, names.size()), points);
  std::erase_if(trials, [&at](const Trial& trial) { return !(evaluate(trial.terms, at) > 0); });
  if (trials.empty()) throw Error("no shape fits");
  // Where a fit is worse than the repeated measurements allow, the fit says.
  const auto sigma_of = [&points](const Trial& trial) {
    const auto degrees =
        static_cast<double>(std::max<std::size_t>(points.y.size() - trial.shapes.size(), 1));
    return std::max({points.point_noise, kLeastNoise, std::sqrt(trial.fit.chi_squared / degrees)});
  };
  std::size_t chosen = best_of(trials);
  if (names.size() == 1) chosen = simplest_of(trials, sigma_of(trials[chosen]));
  const Trial& best = trials[chosen];
  const double sigma = sigma_of(best);
  ScalingLaw law;
  law.names = names;
  law.noise = points.noise;
  law.points = points.y.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto by_this = [i](const std::vector<double>& x) { return x[i]; };
    const auto [least, most] = std::ranges::minmax(points.x, {}, by_this);
    law.smallest.push_back(least[i]);
    law.largest.push_back(most[i]);
  }
  law.best = candidate_of(best, points, at, sigma);
  law.low = law.best.low;
  law.high = law.best.high;
  double least = law.best.chi_squared;
  const double likely = likely_excess(best, points, sigma);
  for (const Trial& trial : trials)
    least = std::min(least, trial.fit.chi_squared / (sigma * sigma));
  for (const Trial& trial : trials) {
    if (&trial == &best) continue;
    const Candidate other = candidate_of(trial, points, at, sigma);
    if (other.chi_squared - least > likely) continue;
    law.high = std::max(law.high, other.high);
    // Of what is 0 there may be a little, but never less.
    if (are_same(trial, best, points, at)) continue;
    law.low = std::min(law.low, other.low);
    const double ratio = std::max(other.value / law.best.value, law.best.value / other.value);
    if (std::fabs(other.growth - law.best.growth) > kSameGrowth || ratio > kSameValue)
      law.identifiable = false;
    law.others.push_back(other);
  }
  law.identifiable = law.identifiable && !is_wide(law);
  std::ranges::stable_sort(law.others, {}, &Candidate::chi_squared);
  if (law.others.size() > kMostOthers) law.others.resize(kMostOthers);
  return law;
}

// The points whose parameter is below `limit`; `downward`: above it.
Points before(const Points& points, std::size_t parameter, double limit, bool downward) {
  Points out;
  out.noise = points.noise;
  out.point_noise = points.point_noise;
  for (std::size_t i = 0; i < points.y.size(); ++i) {
    const double x = points.x[i][parameter];
    if (downward ? x <= limit : x >= limit) continue;
    out.x.push_back(points.x[i]);
    out.y.push_back(points.y[i]);
    out.weights.push_back(points.weights[i]);
  }
  return out;
}

// How far off the points at the edge of a parameter are when `known` is all that is known: the
// middle one of log(measured / predicted), 0 where noise alone may be why.
double missed_by(const Points& known, const Points& points, const std::vector<std::string>& names,
                 std::size_t parameter, double edge) {
  std::vector<double> missed;
  for (std::size_t i = 0; i < points.y.size(); ++i) {
    if (points.x[i][parameter] != edge) continue;
    const Candidate told = fit_points(known, names, points.x[i]).best;
    const bool held = std::fabs(points.y[i] - told.value) <= told.by_noise;
    missed.push_back(held ? 0 : std::fabs(std::log(points.y[i] / told.value)));
  }
  return stats::median(missed);
}

// No interval that comes of the points alone knows of what begins beyond them, such as the part
// of a time that is small as yet. But the points can be asked: would those before have told the
// largest, or for a question below them those after the smallest? If not, the interval must hold an
// error that grows on at the same rate, by the logarithm of the parameter.
void look_back(ScalingLaw& law, const Points& points, const std::vector<double>& at) {
  double error = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const bool downward = at[i] < law.smallest[i];
    const double edge = downward ? law.smallest[i] : law.largest[i];
    const double beyond = std::fabs(std::log(at[i] / edge));
    if (!downward && at[i] <= edge) continue;
    std::set<double> values;
    for (const auto& x : points.x) values.insert(x[i]);
    // The edge first.
    std::vector<double> sorted(values.begin(), values.end());
    if (!downward) std::ranges::reverse(sorted);
    double rate = 0;
    for (std::size_t out = 1; out <= 2 && sorted.size() >= out + kLeastKnown; ++out) {
      const Points known = before(points, i, sorted[out - 1], downward);
      const double missed = missed_by(known, points, law.names, i, edge);
      law.missed = std::max(law.missed, std::exp(missed) - 1);
      rate = std::max(rate, missed / std::fabs(std::log(edge / sorted[out])));
    }
    error += rate * beyond;
  }
  law.low = std::min(law.low, law.best.value * std::exp(-error));
  law.high = std::max(law.high, law.best.value * std::exp(error));
  law.identifiable = law.identifiable && !is_wide(law);
}

}  // namespace

double evaluate(const std::vector<Term>& terms, const std::vector<double>& x) {
  double sum = 0;
  for (const Term& term : terms) sum += term.coefficient * evaluate(term.shape, x);
  return sum;
}

std::string format_law(const std::vector<Term>& terms, const std::vector<std::string>& names) {
  std::string out;
  for (const Term& term : terms) {
    if (term.coefficient == 0) continue;
    char number[32];
    const bool minus = term.coefficient < 0;
    std::snprintf(number, sizeof number, "%.4g", std::fabs(term.coefficient));
    out += (out.empty() ? (minus ? "-" : "") : minus ? " - " : " + ") + std::string(number);
    if (!term.shape.empty()) out += " * " + format_shape(term.shape, names);
  }
  return out.empty() ? "0" : out;
}

ScalingLaw fit_scaling(const std::vector<Observation>& observations,
                       const std::vector<std::string>& names, const std::vector<double>& at) {
  check(observations, names, at);
  const Points points = points_of(observations);
  ScalingLaw law = fit_points(points, names, at);
  look_back(law, points, at);
  return law;
}

}  // namespace foretrace::scaling
