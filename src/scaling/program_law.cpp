#include "scaling/program_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "machine/timing.hpp"
#include "scaling/fit.hpp"
#include "scaling/least_squares.hpp"

namespace foretrace::scaling {
namespace {

using machine::Cost;

constexpr double kSame = 1e-9;  // relative

// By ranks.
using Figures = std::vector<std::pair<int, double>>;

// A call as each run has it.
struct Site {
  std::string function, place;
  Cost cost = Cost::kCount;
  Figures calls, volume, members, own, wait;  // volume: bytes of all calls of a rank
};

// The value where most ranks were run, which says nothing of more.
Estimate stays(double value) {
  return {value, value, value, false, fmt::format("{:.4g}", value), 0};
}

double largest_of(const Figures& figures) {
  double out = 0;
  for (const auto& [unused, value] : figures) out = std::max(out, std::fabs(value));
  return out;
}

// The form constant + slope * factor that goes through all points, as a value there; the factor may
// be none.
std::optional<Estimate> exact_form(const Figures& figures, const Shape& factor, int at) {
  const auto of = [&](int ranks) { return evaluate(factor, {static_cast<double>(ranks)}); };
  std::vector<double> values;
  std::vector<std::vector<double>> columns(factor.empty() ? 1 : 2);
  for (const auto& [ranks, value] : figures) {
    values.push_back(value);
    columns[0].push_back(1);
    if (!factor.empty()) columns[1].push_back(of(ranks));
  }
  const SmallFit fit = fit_small(values, std::vector<double>(values.size(), 1), columns);
  if (!fit.solved) return std::nullopt;
  const double least = kSame * largest_of(figures);  // below it all is rounding
  const double constant = std::fabs(fit.coefficients[0]) > least ? fit.coefficients[0] : 0;
  const double slope = factor.empty() ? 0 : fit.coefficients[1];
  const auto fits = [&](const auto& each) {
    return std::fabs(constant + slope * of(each.first) - each.second) <= least;
  };
  if (!std::ranges::all_of(figures, fits)) return std::nullopt;
  const double value = std::max(constant + slope * of(at), 0.0);
  std::string form = constant != 0 || slope == 0 ? fmt::format("{:.4g}", constant) : "";
  if (slope != 0)
    form += fmt::format("{}{:.4g} * {}",
                        form.empty() ? ""
                        : slope < 0  ? " - "
                                     : " + ",
                        form.empty() ? slope : std::fabs(slope), format_shape(factor, {"p"}));
  return Estimate{value, value, value, true, form, 0};
}

// What a program counts has no noise: a form with two coefficients, of any sign, that goes through
// all points is the law (a rank receives in a tree 1 - 1/p times in the mean).
std::optional<Estimate> exact_law(const Figures& figures, int at) {
  if (figures.size() < kLeastValues) return std::nullopt;
  if (const auto constant = exact_form(figures, {}, at)) return constant;
  for (const Factor& factor : single_factors())
    if (const auto law = exact_form(figures, {factor}, at)) return law;
  return std::nullopt;
}

Estimate estimate(const Figures& figures, int at) {
  if (const auto exact = exact_law(figures, at)) return *exact;
  const double last = figures.back().second;
  // Errors are relative: what is zero on few ranks says nothing.
  std::vector<Observation> observations;
  for (const auto& [ranks, value] : figures)
    if (value > 0) observations.push_back({{static_cast<double>(ranks)}, {value}});
  if (!(last > 0) || observations.size() < kLeastValues) return stays(last);
  const ScalingLaw law = fit_scaling(observations, {"p"}, {static_cast<double>(at)});
  return {
      law.best.value, law.low, law.high, law.identifiable, format_law(law.best.terms, law.names),
      law.missed};
}

std::map<std::pair<std::string, std::string>, Site> sites_of(
    const std::vector<analysis::Profile>& runs) {
  std::map<std::pair<std::string, std::string>, Site> out;
  for (const analysis::Profile& run : runs)
    for (const auto* list : {&run.sites, &run.placeless})
      for (const analysis::SiteProfile& each : *list) {
        if (each.time == Time()) continue;
        Site& site = out[{each.function, each.place}];
        site.function = each.function;
        site.place = each.place;
        site.cost = each.cost;
        const auto ranks = static_cast<double>(run.ranks);
        const auto calls = static_cast<double>(each.calls);
        site.calls.emplace_back(run.ranks, calls / ranks);
        site.volume.emplace_back(run.ranks, static_cast<double>(each.bytes.count) / ranks);
        site.members.emplace_back(run.ranks, static_cast<double>(each.members) / calls);
        site.own.emplace_back(run.ranks, (each.time - each.wait).seconds() / ranks);
        site.wait.emplace_back(run.ranks, each.wait.seconds() / ranks);
      }
  return out;
}

// Totals follow simpler laws than what a call has of them in the mean.
Estimate per_call(const Estimate& volume, const Estimate& calls) {
  if (!(calls.value > 0)) return {};
  const bool one = calls.form == "1";
  return {volume.value / calls.value,
          volume.low / calls.value,
          volume.high / calls.value,
          volume.identifiable && calls.identifiable,
          one ? volume.form : "(" + volume.form + ") / (" + calls.form + ")",
          std::max(volume.missed, calls.missed)};
}

class Predictor {
 public:
  Predictor(const machine::MachineModel* model, int at) : at_(at) {
    if (model) timing_.emplace(*model, machine::Bound::avg);
  }

  SiteLaw law_of(const Site& site) const {
    SiteLaw out;
    out.function = site.function;
    out.place = site.place;
    out.calls = estimate(site.calls, at_);
    out.bytes = per_call(estimate(site.volume, at_), out.calls);
    out.members = estimate(site.members, at_);
    out.wait = estimate(site.wait, at_);
    out.last = site.own.back().second + site.wait.back().second;
    out.own = estimate(site.own, at_);
    if (timing_ && site.cost != Cost::kCount) on_sheet(site, out);
    return out;
  }

  std::vector<std::string> notes() const {
    return timing_ ? machine::notes_of(timing_->unknowns()) : std::vector<std::string>();
  }

 private:
  double sheet(Cost cost, double calls, double members, double bytes) const {
    const Bytes size(static_cast<std::uint64_t>(std::llround(std::max(bytes, 0.0))));
    const int ranks = static_cast<int>(std::lround(std::clamp(members, 1.0, 1e9)));
    return calls * timing_->cost(cost, ranks, size).seconds();
  }

  // What the data sheet says there, times the law of what the runs had times it.
  void on_sheet(const Site& site, SiteLaw& out) const {
    Figures ratios;
    for (std::size_t i = 0; i < site.own.size(); ++i) {
      const double expected = sheet(site.cost, site.calls[i].second, site.members[i].second,
                                    site.volume[i].second / site.calls[i].second);
      if (!(expected > 0)) return;
      ratios.emplace_back(site.own[i].first, site.own[i].second / expected);
    }
    const Estimate ratio = estimate(ratios, at_);
    const auto there = [&](double Estimate::*which) {
      return ratio.*which * sheet(site.cost, out.calls.*which, out.members.value, out.bytes.*which);
    };
    out.on_sheet = name_of(site.cost);
    out.own = {there(&Estimate::value),
               there(&Estimate::low),
               there(&Estimate::high),
               true,
               ratio.form,
               std::max({ratio.missed, out.calls.missed, out.bytes.missed})};
    // Sizes that are not told matter as far as the time depends on them.
    out.own.identifiable = ratio.identifiable && out.calls.identifiable &&
                           out.members.identifiable &&
                           out.own.high <= kWideInterval * out.own.value &&
                           out.own.low * kWideInterval >= out.own.value;
  }

  int at_;
  std::optional<machine::Timing> timing_;
};

void check(const std::vector<analysis::Profile>& runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].info.machine != runs.front().info.machine)
      throw Error("the runs are of two machines, '" + runs.front().info.machine + "' and '" +
                  runs[i].info.machine + "'");
    if (i > 0 && runs[i].ranks == runs[i - 1].ranks)
      throw Error("two runs have " + std::to_string(runs[i].ranks) + " ranks; give one of them");
  }
  if (runs.size() < kLeastValues)
    throw Error("there are runs of " + std::to_string(runs.size()) +
                (runs.size() == 1 ? " number of ranks; " : " numbers of ranks; ") +
                std::to_string(kLeastValues) + " at least are needed to tell laws apart");
}

}  // namespace

ProgramLaw fit_program(std::vector<analysis::Profile> runs, const machine::MachineModel* model,
                       int at) {
  std::ranges::stable_sort(runs, {}, &analysis::Profile::ranks);
  check(runs);
  ProgramLaw out;
  out.at = at;
  Figures compute;
  for (const analysis::Profile& run : runs) {
    out.ranks.push_back(run.ranks);
    compute.emplace_back(run.ranks, run.serial_time.seconds() / run.ranks);
  }
  out.compute = estimate(compute, at);
  out.last_compute = compute.back().second;
  const Predictor predictor(model, at);
  // What is no longer called where most ranks were run is over.
  for (const auto& [unused, site] : sites_of(runs))
    if (site.calls.back().first == runs.back().ranks) out.sites.push_back(predictor.law_of(site));
  out.notes = predictor.notes();
  std::ranges::stable_sort(out.sites, std::greater(), &SiteLaw::value);
  return out;
}

}  // namespace foretrace::scaling
