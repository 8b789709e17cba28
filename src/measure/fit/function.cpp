#include "measure/fit/function.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "machine/pair.hpp"
#include "measure/fit/regimes.hpp"
#include "stats/segmentation.hpp"
#include "stats/summary.hpp"

namespace foretrace::measure {
namespace {

constexpr std::size_t kFolds = 5;
// Sizes no further apart than this share of the first are left out together.
constexpr double kNear = 0.02;
// No point is taken to be more certain than this: a spread of nothing is chance.
constexpr double kLeastRelativeError = 1e-3;
// What a single launch, which has no spread between launches, is taken for.
constexpr double kOneLaunchError = 0.03;
// Beyond, it is caches and the system's pages that make jumps, at no power of two.
constexpr std::uint64_t kLargestProtocolPower = 65536;

std::vector<std::uint64_t> sizes_of(const FunctionProblem& problem) {
  std::set<std::uint64_t> sizes;
  for (const Observation& each : problem.observations) sizes.insert(each.bytes);
  return {sizes.begin(), sizes.end()};
}

std::vector<int> ranks_of(const FunctionProblem& problem) {
  std::set<int> ranks;
  for (const Observation& each : problem.observations) ranks.insert(each.ranks);
  return {ranks.begin(), ranks.end()};
}

// The thresholds that have sizes of their own below and above them, counted
// from the one before.
std::vector<double> useful(std::vector<std::uint64_t> thresholds,
                           const std::vector<std::uint64_t>& sizes) {
  std::ranges::sort(thresholds);
  // An empty message takes a way of its own through most libraries.
  if (sizes.front() == 0) thresholds.insert(thresholds.begin(), 0);
  std::vector<double> kept;
  std::size_t below = 0;  // sizes that the kept ones have passed
  for (const std::uint64_t threshold : thresholds) {
    const auto passed =
        static_cast<std::size_t>(std::ranges::upper_bound(sizes, threshold) - sizes.begin());
    if (passed == below || passed == sizes.size()) continue;
    kept.push_back(static_cast<double>(threshold));
    below = passed;
  }
  return kept;
}

stats::Segmentation segments_of(const FunctionProblem& problem) {
  std::map<int, std::size_t> curves;
  for (const int ranks : ranks_of(problem)) curves.emplace(ranks, curves.size());
  std::vector<stats::CurvePoint> points;
  for (const Observation& each : problem.parts.empty() ? problem.observations : problem.parts)
    points.push_back({static_cast<double>(each.bytes), problem.by_ranks ? curves.at(each.ranks) : 0,
                      each.launch, each.time});
  stats::SegmentSettings settings;
  settings.given = useful(problem.thresholds, sizes_of(problem));
  settings.least_points = problem.least_sizes;
  settings.most_pieces = settings.given.size() + problem.most_regimes;
  settings.negligible = problem.negligible;
  return stats::segment(points, settings);
}

// The last size of the piece below a break.
std::uint64_t end_below(const stats::Break& at) {
  const auto below = static_cast<std::uint64_t>(at.below);
  const auto above = static_cast<std::uint64_t>(at.above);
  if (at.kind == stats::BreakKind::jump && !at.confirmed) return boundary_between(below, above);
  return static_cast<std::uint64_t>(std::clamp(std::floor(at.x), at.below, at.above - 1));
}

// Between two sizes next to each other there may be two breaks, and no size between these. A jump
// tells more than a kink.
stats::Segmentation without_empty_pieces(stats::Segmentation segmentation) {
  std::vector<stats::Break>& breaks = segmentation.breaks;
  for (std::size_t i = 1; i < breaks.size();) {
    if (end_below(breaks[i]) > end_below(breaks[i - 1])) {
      ++i;
      continue;
    }
    const bool jumps_first = breaks[i - 1].kind == stats::BreakKind::jump;
    breaks.erase(breaks.begin() + static_cast<std::ptrdiff_t>(jumps_first ? i : i - 1));
  }
  return segmentation;
}

struct Interval {
  std::uint64_t from = 0;
  std::uint64_t to = UINT64_MAX;
};

std::vector<Interval> intervals_of(const stats::Segmentation& segmentation) {
  std::vector<Interval> intervals(1);
  for (const stats::Break& at : segmentation.breaks) {
    const std::uint64_t end = end_below(at);
    intervals.back().to = end;
    intervals.push_back({end + 1, UINT64_MAX});
  }
  return intervals;
}

// A jump that was only seen lies anywhere between the two sizes measured around it. Its
// upper regime begins where that one's line, led down from its first size, still tells
// more than half of the times at both ends: never where it would be none.
void begin_where_times_are_likely(const stats::Segmentation& segmentation,
                                  const std::vector<int>& ranks,
                                  std::vector<machine::Regime>& regimes) {
  for (std::size_t k = 1; k < regimes.size(); ++k) {
    const stats::Break& at = segmentation.breaks[k - 1];
    if (at.kind != stats::BreakKind::jump || at.confirmed) continue;
    const auto likely = [&](std::uint64_t from) {
      return std::ranges::all_of(ranks, [&](int p) {
        const auto time = [&](std::size_t regime, double bytes) {
          return regimes[regime].equation.evaluate(p, bytes, machine::Bound::avg);
        };
        const double least = 0.5 * std::min(time(k - 1, at.below), time(k, at.above));
        return least == 0 || time(k, static_cast<double>(from)) > least;
      });
    };
    std::uint64_t from = regimes[k].from.count;
    const auto measured = static_cast<std::uint64_t>(at.above);
    while (from < measured && !likely(from)) from += (measured - from + 1) / 2;
    regimes[k].from = Bytes(from);
    regimes[k - 1].to = Bytes(from - 1);
  }
}

double evaluate(const std::vector<machine::Regime>& regimes, int ranks, std::uint64_t bytes) {
  return machine::regime_for(regimes, Bytes(bytes))
      .equation.evaluate(ranks, static_cast<double>(bytes), machine::Bound::avg);
}

using Point = std::pair<int, std::uint64_t>;  // ranks, bytes

std::map<Point, std::vector<double>> by_point(const std::vector<Observation>& observations) {
  std::map<Point, std::vector<double>> points;
  for (const Observation& each : observations)
    points[{each.ranks, each.bytes}].push_back(each.time);
  return points;
}

double relative_spread(const std::vector<double>& launches) {
  const double middle = stats::median(launches);
  if (launches.size() < 2 || !(middle > 0)) return 0;
  return stats::kMadToSigma * stats::median_absolute_deviation(launches) / middle;
}

// Points for chi-squared. A handful of launches tells little of one point's
// spread, so none is below what is usual for the function.
RegimeProblem regime_problem(const FunctionProblem& problem) {
  const auto points = by_point(problem.observations);
  std::vector<double> spreads;
  for (const auto& [point, launches] : points)
    if (launches.size() > 1) spreads.push_back(relative_spread(launches));
  const double usual =
      spreads.empty() ? kOneLaunchError : std::max(stats::median(spreads), kLeastRelativeError);
  RegimeProblem result;
  result.by_ranks = problem.by_ranks;
  for (const auto& [point, launches] : points) {
    const double time = stats::interquartile_mean(launches);
    const double spread = std::max(relative_spread(launches), usual) * time;
    const double error = spread / std::sqrt(static_cast<double>(launches.size()));
    const double floor = std::max(0.1 * problem.negligible, 1e-6);
    result.points.push_back(
        {static_cast<double>(point.first), point.second, time, std::max(error, floor)});
  }
  return result;
}

// Sums up relative errors, as HeldOutError.
class ErrorSum {
 public:
  explicit ErrorSum(double negligible) : negligible_(negligible) {}
  void add(double fitted, double measured) {
    const double base = std::max(measured, negligible_);
    const double error = base > 0 ? std::fabs(fitted - measured) / base : fitted > 0 ? 1 : 0;
    sum_ += error;
    max_ = std::max(max_, error);
    ++count_;
  }
  std::optional<machine::HeldOutError> result() const {
    if (count_ == 0) return std::nullopt;
    return machine::HeldOutError{sum_ / static_cast<double>(count_), max_};
  }

 private:
  double negligible_;
  double sum_ = 0, max_ = 0;
  std::size_t count_ = 0;
};

double evaluate(const CorrectedCurve& curve, int ranks, std::uint64_t bytes) {
  return evaluate(curve.regimes, ranks, bytes) *
         machine::factor_at(curve.corrections, ranks, Bytes(bytes));
}

// How far a curve is from what it was fitted without.
class LeftOutSum {
 public:
  explicit LeftOutSum(const FunctionProblem& problem)
      : problem_(problem), errors_(problem.negligible) {}
  void add(const std::vector<Observation>& left_out, const std::set<std::uint64_t>& sizes,
           const CorrectedCurve& curve) {
    for (const auto& [point, launches] : by_point(left_out))
      errors_.add(evaluate(curve, point.first, point.second), stats::interquartile_mean(launches));
    for (const Observation& each :
         problem_.blocks.empty() ? problem_.observations : problem_.blocks) {
      if (!sizes.contains(each.bytes)) continue;
      const double fitted = evaluate(curve, each.ranks, each.bytes);
      if (fitted > problem_.negligible)
        ratios_.push_back({each.bytes, each.launch, each.time / fitted});
    }
  }
  HeldOut result() const { return {errors_.result(), ratios_}; }

 private:
  const FunctionProblem& problem_;
  ErrorSum errors_;
  std::vector<LeftOut> ratios_;
};

// Launches differ by more than what comes after these digits.
double to_four_digits(double factor) {
  const double scale = std::pow(10, 3 - std::floor(std::log10(factor)));
  return std::round(factor * scale) / scale;
}

// The observations for which `out` holds, and the problem without them.
template <class Predicate>
std::pair<FunctionProblem, std::vector<Observation>> split(const FunctionProblem& problem,
                                                           Predicate out) {
  FunctionProblem rest = problem;
  std::vector<Observation> left_out;
  std::erase_if(rest.parts, out);
  std::erase_if(rest.blocks, out);
  std::erase_if(rest.observations, [&](const Observation& each) {
    if (!out(each)) return false;
    left_out.push_back(each);
    return true;
  });
  return {std::move(rest), std::move(left_out)};
}

// For each size but the first and the last, in which round it is left out.
std::vector<std::size_t> inner_folds(const std::vector<std::uint64_t>& sizes) {
  std::vector<std::size_t> folds;
  std::size_t cluster = 0;
  double first = static_cast<double>(sizes[1]);
  for (std::size_t i = 1; i + 1 < sizes.size(); ++i) {
    const auto size = static_cast<double>(sizes[i]);
    if (size > (1 + kNear) * first) {
      ++cluster;
      first = size;
    }
    folds.push_back(cluster % kFolds);
  }
  return folds;
}

struct PredictionSpan {
  double low = 1;
  double high = 1;
};

// Where `coverage` of another launch's ratios lie: the quantiles of those seen, further from
// their middle by what is not known of launches for their small number.
PredictionSpan span_of(const std::vector<LeftOut>& ratios, double coverage) {
  std::vector<double> all;
  std::map<std::size_t, std::vector<double>> by_launch;
  for (const LeftOut& each : ratios) {
    all.push_back(each.ratio);
    by_launch[each.launch].push_back(each.ratio);
  }
  std::vector<double> levels;
  for (const auto& [launch, of_launch] : by_launch)
    levels.push_back(stats::interquartile_mean(of_launch));
  const auto launches = static_cast<double>(levels.size());
  double more = 0;  // squared
  if (levels.size() > 1) {
    const double known = stats::student(coverage, 1e6);
    const double few = stats::student(coverage, launches - 1);
    const double deviation = stats::standard_deviation(levels);
    more = (few * few * (1 + 1 / launches) - known * known) * deviation * deviation;
  }
  const double middle = stats::median(all);
  const double outside = (1 - coverage) / 2;
  const double below = middle - stats::quantile(all, outside);
  const double above = stats::quantile(all, 1 - outside) - middle;
  return {middle - std::sqrt(below * below + more), middle + std::sqrt(above * above + more)};
}

PredictionSpan span_of_few(const std::vector<LeftOut>& ratios) {
  const auto [least, most] = std::ranges::minmax(ratios, {}, &LeftOut::ratio);
  return {least.ratio, most.ratio};
}

}  // namespace

std::uint64_t boundary_between(std::uint64_t lower, std::uint64_t upper) {
  if (upper - lower <= 1) return lower;
  if (upper <= kLargestProtocolPower) {
    if (std::has_single_bit(lower)) return lower;
    if (std::has_single_bit(upper)) return upper - 1;
  }
  return static_cast<std::uint64_t>(
      std::sqrt(static_cast<double>(lower) * static_cast<double>(upper)));
}

std::vector<machine::Regime> fit_regimes(const FunctionProblem& problem) {
  const stats::Segmentation segmentation = without_empty_pieces(segments_of(problem));
  const std::vector<Interval> intervals = intervals_of(segmentation);
  std::vector<machine::Regime> regimes;
  for (std::size_t first = 0; first < intervals.size();) {
    RunProblem run;
    run.by_ranks = problem.by_ranks;
    run.negligible = problem.negligible;
    run.coverage = problem.coverage;
    std::size_t end = first + 1;
    while (end < intervals.size() && segmentation.breaks[end - 1].kind == stats::BreakKind::kink)
      ++end;
    for (const Observation& each : problem.observations)
      if (each.bytes >= intervals[first].from && each.bytes <= intervals[end - 1].to)
        run.observations.push_back(each);
    run.begins.push_back(
        static_cast<double>(std::ranges::min(run.observations, {}, &Observation::bytes).bytes));
    for (std::size_t i = first + 1; i < end; ++i) {
      const stats::Break& kink = segmentation.breaks[i - 1];
      run.begins.push_back(std::clamp(kink.x, kink.below, kink.above));
    }
    const std::vector<machine::Equation> equations = fit_terms(run);
    for (std::size_t i = first; i < end; ++i) {
      machine::Regime regime;
      regime.from = Bytes(intervals[i].from);
      regime.to = Bytes(intervals[i].to);
      regime.equation = equations[i - first];
      regimes.push_back(std::move(regime));
    }
    first = end;
  }
  begin_where_times_are_likely(segmentation, ranks_of(problem), regimes);
  return regimes;
}

std::optional<CorrectedCurve> fit_corrected(const FunctionProblem& problem) {
  CorrectedCurve curve;
  const std::vector<std::uint64_t> sizes = sizes_of(problem);
  const auto add = [&](Bytes from, Bytes to) {
    RunProblem run{{}, {0}, problem.by_ranks, problem.negligible, problem.coverage, true};
    std::ranges::copy_if(problem.observations, std::back_inserter(run.observations),
                         [&](const Observation& each) {
                           return Bytes(each.bytes) >= from && Bytes(each.bytes) <= to;
                         });
    curve.regimes.push_back({from, to, fit_terms(run).front(), {}, {}});
    // What one curve leaves over all sizes says nothing of what its factors do.
    curve.regimes.back().equation.interval.reset();
  };
  const bool empty_apart = sizes.front() == 0 && sizes.size() > 1;
  if (empty_apart) add(Bytes(0), Bytes(0));
  add(Bytes(empty_apart ? 1 : 0), Bytes(UINT64_MAX));
  std::vector<Observation> observations = problem.observations;
  if (!problem.by_ranks)
    for (Observation& each : observations) each.ranks = machine::kPair;
  for (const auto& [point, launches] : by_point(observations)) {
    const int ranks = point.first;
    const double ratio =
        stats::interquartile_mean(launches) / evaluate(curve.regimes, point.first, point.second);
    if (!std::isnormal(ratio) || ratio <= 0) return std::nullopt;
    if (curve.corrections.empty() || curve.corrections.back().ranks != ranks)
      curve.corrections.push_back({ranks, {}});
    curve.corrections.back().factors.push_back({Bytes(point.second), to_four_digits(ratio)});
  }
  return curve;
}

std::vector<machine::Regime> fit_baseline(const FunctionProblem& problem,
                                          const std::vector<machine::Regime>& regimes) {
  const RegimeProblem points = regime_problem(problem);
  std::vector<machine::Regime> baseline;
  for (const machine::Regime& regime : regimes)
    baseline.push_back(fit_regime(points, regime.from, regime.to));
  return baseline;
}

HeldOutErrors hold_out_sizes(const FunctionProblem& problem) {
  const std::vector<std::uint64_t> sizes = sizes_of(problem);
  if (sizes.size() < 3) return {};
  const std::vector<std::size_t> fold_of = inner_folds(sizes);
  ErrorSum baseline(problem.negligible);
  LeftOutSum model(problem);
  LeftOutSum corrected(problem);
  bool has_curve = true;
  for (std::size_t fold = 0; fold <= std::ranges::max(fold_of); ++fold) {
    std::set<std::uint64_t> chosen;
    for (std::size_t i = 0; i < fold_of.size(); ++i)
      if (fold_of[i] == fold) chosen.insert(sizes[i + 1]);
    const auto [rest, left_out] =
        split(problem, [&](const Observation& each) { return chosen.contains(each.bytes); });
    const std::vector<machine::Regime> regimes = fit_regimes(rest);
    const std::vector<machine::Regime> forms = fit_baseline(rest, regimes);
    for (const auto& [point, launches] : by_point(left_out))
      baseline.add(evaluate(forms, point.first, point.second), stats::interquartile_mean(launches));
    model.add(left_out, chosen, {regimes, {}});
    const std::optional<CorrectedCurve> curve = fit_corrected(rest);
    has_curve = has_curve && curve;
    if (has_curve) corrected.add(left_out, chosen, *curve);
  }
  return {model.result(), has_curve ? corrected.result() : HeldOut(), baseline.result()};
}

void widen_intervals(const std::vector<LeftOut>& ratios, double coverage,
                     std::vector<machine::Regime>& regimes) {
  constexpr std::size_t kEnough = 20;
  constexpr std::size_t kEnoughSizes = 4;
  if (ratios.empty()) return;
  // The quantiles of a handful are no further apart than they themselves.
  const PredictionSpan of_all =
      ratios.size() < kEnough ? span_of_few(ratios) : span_of(ratios, coverage);
  for (machine::Regime& regime : regimes) {
    if (!regime.equation.interval) continue;
    std::vector<LeftOut> own;
    std::set<std::uint64_t> sizes;
    for (const LeftOut& each : ratios)
      if (each.bytes >= regime.from.count && each.bytes <= regime.to.count) {
        own.push_back(each);
        sizes.insert(each.bytes);
      }
    const bool enough = own.size() >= kEnough && sizes.size() >= kEnoughSizes;
    const PredictionSpan span = enough ? span_of(own, coverage) : of_all;
    machine::PredictionInterval& interval = *regime.equation.interval;
    interval.low = std::clamp(span.low, 0.0, interval.low);
    interval.high = std::max(interval.high, span.high);
  }
}

std::optional<double> hold_out_largest_ranks(const FunctionProblem& problem, bool corrected) {
  const std::vector<int> ranks = ranks_of(problem);
  if (!problem.by_ranks || ranks.size() < 3) return std::nullopt;
  const auto [rest, left_out] =
      split(problem, [&](const Observation& each) { return each.ranks == ranks.back(); });
  std::optional<CorrectedCurve> curve;
  if (corrected) curve = fit_corrected(rest);
  if (!curve) curve = {fit_regimes(rest), {}};
  const double least = std::max(problem.negligible, 1e-9);
  double worst = 1;
  for (const auto& [point, launches] : by_point(left_out)) {
    const double measured = std::max(stats::interquartile_mean(launches), least);
    const double fitted = std::max(evaluate(*curve, point.first, point.second), least);
    worst = std::max({worst, measured / fitted, fitted / measured});
  }
  return worst - 1;
}

machine::Function fit_function(const FunctionProblem& problem) {
  // A curve with a factor for each point is harder to read, and has to be worth it: the more so
  // the more points there are.
  constexpr std::size_t kFewSizes = 50;
  machine::Function function;
  const std::vector<std::uint64_t> sizes = sizes_of(problem);
  function.measured =
      machine::MeasuredRange{ranks_of(problem), Bytes(sizes.front()), Bytes(sizes.back())};
  const HeldOutErrors held_out = hold_out_sizes(problem);
  const auto& [by_regimes, by_curve, by_forms] = held_out;
  std::optional<CorrectedCurve> curve;
  if (by_regimes.error && by_curve.error &&
      by_curve.error->mean < (sizes.size() > kFewSizes ? 0.5 : 0.9) * by_regimes.error->mean)
    curve = fit_corrected(problem);
  const bool corrected = curve.has_value();
  std::vector<machine::Regime> regimes = fit_regimes(problem);
  function.baseline = fit_baseline(problem, regimes);
  if (!curve) curve = {std::move(regimes), {}};
  function.regimes = std::move(curve->regimes);
  function.corrections = std::move(curve->corrections);
  const HeldOut& chosen = corrected ? by_curve : by_regimes;
  // Points that lie on the curve tell nothing of its errors; those that were left out do.
  for (machine::Regime& regime : function.regimes)
    if (!regime.equation.interval && !chosen.ratios.empty())
      regime.equation.interval = machine::PredictionInterval{1, 1, problem.coverage};
  widen_intervals(chosen.ratios, problem.coverage, function.regimes);
  function.held_out = chosen.error;
  function.baseline_held_out = by_forms;
  function.extrapolation_error = hold_out_largest_ranks(problem, corrected);
  return function;
}

}  // namespace foretrace::measure
