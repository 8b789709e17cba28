#include "measure/fit/loggps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "stats/group_errors.hpp"
#include "stats/summary.hpp"

namespace foretrace::measure {
namespace {

enum Unknown : std::size_t { kSendOverhead, kRecvOverhead, kLatency, kGap, kPerByte, kUnknowns };
using Weights = std::array<double, kUnknowns>;

// What a function's time at one byte consists of; kPerByte is times x.
struct Role {
  std::string_view function;
  Weights weights;
  bool own_slope;  // grows with x in a way of its own
};

//                              o_s o_r L g G
constexpr std::array kEager{
    Role{"send", {1, 0, 0, 0, 0}, true}, Role{"recvmin", {0, 1, 0, 0, 0}, true},
    Role{"recv", {1, 1, 1, 0, 1}, false}, Role{"gap", {0, 0, 0, 1, 0}, true}};
constexpr std::array kRendezvous{
    Role{"isend1", {1, 0, 0, 0, 0}, true}, Role{"send", {2, 0, 2, 0, 0}, true},
    Role{"ssend", {2, 0, 2, 0, 0}, true},  Role{"recvmin", {1, 1, 2, 0, 0}, true},
    Role{"recv", {2, 1, 3, 0, 1}, false},  Role{"gap", {0, 0, 0, 1, 0}, true}};

// Observations of one function in one interval, by role.
struct Measured {
  Role role;
  std::vector<Observation> observations;
};

std::vector<Observation> within(const LogGPSProblem& problem, std::string_view function,
                                const machine::LogGPSRegime& regime) {
  std::vector<Observation> out;
  const auto found = problem.functions.find(function);
  if (found == problem.functions.end()) return out;
  for (const Observation& each : found->second)
    if (Bytes(each.bytes) >= regime.from && Bytes(each.bytes) <= regime.to) out.push_back(each);
  return out;
}

stats::RelativeProblem relative_problem(const std::vector<Measured>& functions, double negligible) {
  stats::RelativeProblem problem;
  problem.negligible = negligible;
  problem.columns.resize(kUnknowns + functions.size());
  for (std::size_t f = 0; f < functions.size(); ++f)
    for (const Observation& each : functions[f].observations) {
      const Role& role = functions[f].role;
      const double x = static_cast<double>(each.bytes) - 1;
      problem.y.push_back(each.time);
      problem.group.push_back(each.launch);
      for (std::size_t j = 0; j < kUnknowns; ++j)
        problem.columns[j].values.push_back(role.weights[j] * (j == kPerByte ? x : 1));
      for (std::size_t other = 0; other < functions.size(); ++other)
        problem.columns[kUnknowns + other].values.push_back(other == f && role.own_slope ? x : 0);
    }
  return problem;
}

double variance(const stats::GroupErrors& errors, std::size_t column) {
  const auto at = std::ranges::find(errors.free, column);
  if (at == errors.free.end()) return 0;
  const auto i = static_cast<std::size_t>(at - errors.free.begin());
  return errors.covariance[i * errors.free.size() + i];
}

machine::Parameter parameter_of(const stats::RelativeFit& fit, const stats::GroupErrors& errors,
                                std::size_t column, std::size_t minus, std::size_t columns) {
  machine::Parameter parameter{0, 0, false};
  if (!fit.unknowns[column].used) return parameter;
  std::vector<double> row(columns, 0.0);
  row[column] = 1;
  if (minus != column) row[minus] = -1;
  if (!(errors.degrees_of_freedom > 0) || !(errors.confidence(row).lower > 0)) return parameter;
  // A bootstrap of launches that agree can leave a variance a rounding below zero.
  const double error = std::sqrt(std::max(0.0, variance(errors, column)));
  if (!std::isfinite(fit.unknowns[column].value) || !std::isfinite(error)) return parameter;
  return {fit.unknowns[column].value, error, true};
}

// A column that no function speaks of is no parameter that was looked for.
bool is_spoken_of(const stats::RelativeProblem& problem, std::size_t column) {
  return std::ranges::any_of(problem.columns[column].values, [](double v) { return v != 0; });
}

// How many of these rows are independent; what grows with the size is not looked at.
std::size_t rank_of(std::vector<Weights> rows) {
  std::size_t rank = 0;
  for (std::size_t j = 0; j < kPerByte; ++j) {
    const auto pivot = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(rank), rows.end(),
                                    [j](const Weights& row) { return std::fabs(row[j]) > 1e-9; });
    if (pivot == rows.end()) continue;
    std::swap(rows[rank], *pivot);
    for (std::size_t i = rank + 1; i < rows.size(); ++i) {
      const double share = rows[i][j] / rows[rank][j];
      for (std::size_t k = j; k < kPerByte; ++k) rows[i][k] -= share * rows[rank][k];
    }
    ++rank;
  }
  return rank;
}

// Whether what was measured tells the unknown from the others: round trips alone do not tell
// overhead from latency.
bool is_determined(const std::vector<Measured>& functions, std::size_t column) {
  if (column == kPerByte) return true;
  std::vector<Weights> rows;
  for (const Measured& each : functions) rows.push_back(each.role.weights);
  const std::size_t rank = rank_of(rows);
  rows.push_back({});
  rows.back()[column] = 1;
  return rank_of(std::move(rows)) == rank;
}

void fit_regime_parameters(const LogGPSProblem& problem, machine::LogGPSRegime& regime) {
  const bool rendezvous = problem.sync_threshold && regime.from >= *problem.sync_threshold;
  std::vector<Measured> functions;
  const auto add = [&](const Role& role) {
    std::vector<Observation> observations = within(problem, role.function, regime);
    // (d - 1) of an empty message means nothing.
    std::erase_if(observations, [](const Observation& each) { return each.bytes == 0; });
    if (!observations.empty()) functions.push_back({role, std::move(observations)});
  };
  if (rendezvous)
    std::ranges::for_each(kRendezvous, add);
  else
    std::ranges::for_each(kEager, add);
  if (functions.empty()) return;
  const stats::RelativeProblem relative = relative_problem(functions, problem.negligible);
  const stats::RelativeFit fit = stats::fit_relative(relative);
  stats::GroupSettings settings;
  settings.coverage = problem.coverage;
  const stats::GroupErrors errors = stats::group_errors(relative, fit, settings);
  const auto put = [&](std::optional<machine::Parameter>& to, std::size_t column,
                       std::size_t minus) {
    if (is_spoken_of(relative, column))
      to = is_determined(functions, column)
               ? parameter_of(fit, errors, column, minus, relative.columns.size())
               : machine::Parameter{0, 0, false};
  };
  put(regime.overhead_send, kSendOverhead, kSendOverhead);
  put(regime.overhead_recv, kRecvOverhead, kRecvOverhead);
  put(regime.latency, kLatency, kLatency);
  put(regime.gap_per_byte, kPerByte, kPerByte);
  put(regime.gap, kGap, is_spoken_of(relative, kSendOverhead) ? kSendOverhead : kGap);
}

std::map<std::uint64_t, double> medians(const std::vector<Observation>& observations) {
  std::map<std::uint64_t, std::vector<double>> by_size;
  for (const Observation& each : observations) by_size[each.bytes].push_back(each.time);
  std::map<std::uint64_t, double> out;
  for (const auto& [bytes, times] : by_size) out[bytes] = stats::median(times);
  return out;
}

std::optional<double> overlap(const LogGPSProblem& problem, const machine::LogGPSRegime& regime,
                              const std::string& posted) {
  const auto post = medians(within(problem, posted + "1", regime));
  const auto wait = medians(within(problem, posted + "2", regime));
  std::vector<double> shares;
  for (const auto& [bytes, hidden] : medians(within(problem, posted + "overlap", regime))) {
    if (!post.contains(bytes) || !wait.contains(bytes)) continue;
    const double transfer = post.at(bytes) + wait.at(bytes);
    if (transfer > problem.negligible) shares.push_back(std::clamp(hidden / transfer, 0.0, 1.0));
  }
  if (shares.empty()) return std::nullopt;
  return stats::median(shares);
}

}  // namespace

std::vector<machine::LogGPSRegime> fit_loggps(const LogGPSProblem& problem) {
  std::vector<machine::LogGPSRegime> regimes(1);
  std::vector<std::uint64_t> thresholds = problem.thresholds;
  if (problem.sync_threshold && problem.sync_threshold->count > 0)
    thresholds.push_back(problem.sync_threshold->count - 1);
  std::ranges::sort(thresholds);
  for (const std::uint64_t threshold : thresholds) {
    if (threshold < regimes.back().from.count || threshold == UINT64_MAX) continue;
    regimes.back().to = Bytes(threshold);
    regimes.emplace_back();
    regimes.back().from = Bytes(threshold + 1);
  }
  bool any = false;
  for (machine::LogGPSRegime& regime : regimes) {
    fit_regime_parameters(problem, regime);
    regime.overlap_send = overlap(problem, regime, "isend");
    regime.overlap_recv = overlap(problem, regime, "irecv");
    any = any || regime.overhead_send || regime.overhead_recv || regime.latency || regime.gap ||
          regime.gap_per_byte || regime.overlap_send || regime.overlap_recv;
  }
  if (!any) regimes.clear();
  return regimes;
}

std::optional<machine::HopParameters> fit_hop(const LogGPSProblem& problem) {
  const auto found = problem.functions.find("pingpong");
  if (found == problem.functions.end() || found->second.empty()) return std::nullopt;
  stats::RelativeProblem relative;
  relative.negligible = problem.negligible;
  relative.columns.resize(2);
  for (const Observation& each : found->second) {
    relative.y.push_back(each.time / 2);
    relative.group.push_back(each.launch);
    relative.columns[0].values.push_back(1);
    relative.columns[1].values.push_back(static_cast<double>(each.bytes));
  }
  const stats::RelativeFit fit = stats::fit_relative(relative);
  stats::GroupSettings settings;
  settings.coverage = problem.coverage;
  const stats::GroupErrors errors = stats::group_errors(relative, fit, settings);
  return machine::HopParameters{parameter_of(fit, errors, 0, 0, 2),
                                parameter_of(fit, errors, 1, 1, 2)};
}

}  // namespace foretrace::measure
