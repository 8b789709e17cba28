#include "measure/fit/regimes.hpp"

#include <algorithm>
#include <cmath>
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
  regime.chi_squared = best.fit.chi_squared;
  regime.degrees_of_freedom = static_cast<int>(best.fit.degrees_of_freedom);
  regime.residual = best.rms;
  return regime;
}

}  // namespace foretrace::measure
