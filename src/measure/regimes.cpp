#include "measure/regimes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "stats/least_squares.hpp"

namespace foretrace::measure {
namespace {

struct Form {
  machine::StartupForm startup;
  machine::DataForm data;
};

// Sizes and the points of one interval.
struct Selection {
  std::vector<const RegimePoint*> points;
  std::size_t ranks = 0;  // distinct
  std::size_t sizes = 0;  // distinct
};

Selection select(const RegimeProblem& problem, std::uint64_t from, std::uint64_t to) {
  Selection selection;
  std::set<double> ranks;
  std::set<std::uint64_t> sizes;
  for (const RegimePoint& point : problem.points) {
    if (point.bytes < from || point.bytes > to) continue;
    selection.points.push_back(&point);
    ranks.insert(point.ranks);
    sizes.insert(point.bytes);
  }
  selection.ranks = ranks.size();
  selection.sizes = sizes.size();
  return selection;
}

// The forms that the selection can tell apart.
std::vector<Form> forms_for(const Selection& selection, bool by_ranks) {
  if (!by_ranks || selection.ranks < 2) return {{machine::StartupForm::p, machine::DataForm::d}};
  std::vector<Form> forms;
  for (auto startup : machine::kStartupForms) {
    for (auto data : machine::kDataForms) {
      forms.push_back({startup, data});
      if (selection.sizes < 2) break;
    }
  }
  return forms;
}

std::vector<stats::Column> design(const Selection& selection, const Form& form, bool by_ranks) {
  std::vector<stats::Column> columns(3);
  columns[1].non_negative = columns[2].non_negative = true;
  const bool varied_ranks = by_ranks && selection.ranks > 1;
  for (const RegimePoint* point : selection.points) {
    const auto d = static_cast<double>(point->bytes);
    columns[0].values.push_back(1);
    columns[1].values.push_back(varied_ranks ? evaluate(form.startup, point->ranks) : 0);
    columns[2].values.push_back(selection.sizes > 1 ? evaluate(form.data, point->ranks, d) : 0);
  }
  return columns;
}

struct RegimeFit {
  Form form;
  stats::FitResult fit;
  double rms = 0;  // of the residuals
};

RegimeFit fit_selection(const RegimeProblem& problem, const Selection& selection) {
  std::vector<double> times, sigmas;
  for (const RegimePoint* point : selection.points) {
    times.push_back(point->time);
    sigmas.push_back(point->sigma);
  }
  const std::vector<Form> forms = forms_for(selection, problem.by_ranks);
  std::vector<std::vector<stats::Column>> candidates;
  for (const Form& form : forms) candidates.push_back(design(selection, form, problem.by_ranks));
  stats::BestFit best = stats::fit_best(times, sigmas, candidates);
  const auto& columns = candidates[best.candidate];
  double squares = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    double fitted = 0;
    for (std::size_t j = 0; j < columns.size(); ++j)
      fitted += best.fit.unknowns[j].value * columns[j].values[i];
    squares += (times[i] - fitted) * (times[i] - fitted);
  }
  const double rms = times.empty() ? 0 : std::sqrt(squares / static_cast<double>(times.size()));
  return {forms[best.candidate], std::move(best.fit), rms};
}

std::vector<std::uint64_t> sizes_of(const RegimeProblem& problem) {
  std::set<std::uint64_t> sizes;
  for (const RegimePoint& point : problem.points) sizes.insert(point.bytes);
  return {sizes.begin(), sizes.end()};
}

std::vector<machine::Regime> fit_regimes_ending_at(const RegimeProblem& problem,
                                                   const std::vector<std::uint64_t>& ends) {
  std::vector<machine::Regime> regimes;
  std::uint64_t from = 0;
  for (std::uint64_t end : ends) {
    regimes.push_back(fit_regime(problem, Bytes(from), Bytes(end)));
    from = end + 1;
  }
  regimes.push_back(fit_regime(problem, Bytes(from), Bytes(UINT64_MAX)));
  return regimes;
}

}  // namespace

machine::Regime fit_regime(const RegimeProblem& problem, Bytes from, Bytes to) {
  const RegimeFit best = fit_selection(problem, select(problem, from.count, to.count));
  const auto coefficient = [&best](std::size_t j) {
    return machine::Coefficient{best.fit.unknowns[j].value, best.fit.unknowns[j].error};
  };
  machine::Regime regime;
  regime.from = from;
  regime.to = to;
  regime.equation = {coefficient(0), best.form.startup, coefficient(1), best.form.data,
                     coefficient(2)};
  // With nothing left over there is no fit whose goodness could be told.
  if (best.fit.degrees_of_freedom > 0) regime.q = best.fit.q;
  regime.residual = best.rms;
  return regime;
}

std::vector<machine::Regime> fit_given_regimes(const RegimeProblem& problem,
                                               const std::vector<std::uint64_t>& boundaries) {
  const std::vector<std::uint64_t> sizes = sizes_of(problem);
  const auto count = [&sizes](std::uint64_t from, std::uint64_t to) {
    return static_cast<std::size_t>(std::ranges::count_if(
        sizes, [=](std::uint64_t size) { return size >= from && size <= to; }));
  };
  // A boundary stays when there are enough sizes below it, counted from the
  // one before.
  std::vector<std::uint64_t> ends;
  std::uint64_t from = 0;
  for (std::uint64_t boundary : boundaries) {
    if (boundary < from || count(from, boundary) < problem.least_sizes) continue;
    ends.push_back(boundary);
    from = boundary + 1;
  }
  while (!ends.empty() && count(ends.back() + 1, UINT64_MAX) < problem.least_sizes) ends.pop_back();
  return fit_regimes_ending_at(problem, ends);
}

std::uint64_t boundary_between(std::uint64_t lower, std::uint64_t upper) {
  if (upper - lower <= 1 || std::has_single_bit(lower)) return lower;
  if (std::has_single_bit(upper)) return upper - 1;
  return static_cast<std::uint64_t>(
      std::sqrt(static_cast<double>(lower) * static_cast<double>(upper)));
}

std::vector<machine::Regime> fit_best_regimes(const RegimeProblem& problem, std::size_t most) {
  const std::vector<std::uint64_t> sizes = sizes_of(problem);
  const std::size_t n = sizes.size();
  const std::size_t least = std::max<std::size_t>(problem.least_sizes, 1);
  if (n < 2 * least) return fit_regimes_ending_at(problem, {});
  const double price = std::log(static_cast<double>(problem.points.size()));
  constexpr double kNever = std::numeric_limits<double>::infinity();

  // cost[k][j]: the best of the first j sizes in k segments; from[k][j]: where
  // its last segment begins.
  std::vector<std::vector<double>> cost(most + 1, std::vector<double>(n + 1, kNever));
  std::vector<std::vector<std::size_t>> from(most + 1, std::vector<std::size_t>(n + 1, 0));
  cost[0][0] = 0;
  // An empty message takes a way of its own through most libraries.
  const auto allowed = [&](std::size_t i, std::size_t j) {
    return j - i >= least || (i == 0 && j == 1 && sizes[0] == 0);
  };
  for (std::size_t j = 1; j <= n; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (!allowed(i, j)) continue;
      const RegimeFit fit = fit_selection(problem, select(problem, sizes[i], sizes[j - 1]));
      const auto coefficients =
          static_cast<double>(std::ranges::count_if(fit.fit.unknowns, &stats::Unknown::used));
      const double segment = fit.fit.chi_squared + price * (coefficients + 1);
      for (std::size_t k = 1; k <= most; ++k) {
        if (cost[k - 1][i] + segment >= cost[k][j]) continue;
        cost[k][j] = cost[k - 1][i] + segment;
        from[k][j] = i;
      }
    }
  }
  std::size_t segments = 1;
  for (std::size_t k = 2; k <= most; ++k)
    if (cost[k][n] < cost[segments][n]) segments = k;

  std::vector<std::uint64_t> ends;
  for (std::size_t k = segments, j = from[k][n]; k > 1; --k, j = from[k][j])
    ends.push_back(boundary_between(sizes[j - 1], sizes[j]));
  std::ranges::reverse(ends);
  return fit_regimes_ending_at(problem, ends);
}

}  // namespace foretrace::measure
