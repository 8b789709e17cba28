#include "measure/fit/terms.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "stats/column_choice.hpp"
#include "stats/group_errors.hpp"

namespace foretrace::measure {
namespace {

using machine::Factor;

// What a time can grow with in p, alone and times the data.
struct Growth {
  Factor alone;
  Factor with_data;
};
constexpr Growth kConstant{Factor::one, Factor::d};
constexpr Growth kTree{Factor::ceil_log2_p, Factor::ceil_log2_p_d};
constexpr Growth kShare{Factor::share, Factor::share_d};
constexpr Growth kOthers{Factor::p_minus_1, Factor::p_minus_1_d};
constexpr std::array kStartups{kConstant, kTree, kOthers};
constexpr std::array kSlopes{kConstant, kTree, kShare, kOthers};
constexpr std::size_t kMostStartups = 2;
constexpr std::size_t kMostSlopes = 2;
// A piece has slopes where its largest size is more than this times its smallest.
constexpr double kLeastSpan = 1.1;

constexpr machine::RankSet kAll = machine::RankSet::all;
constexpr machine::RankSet kPowers = machine::RankSet::powers_of_two;
constexpr machine::RankSet kOtherRanks = machine::RankSet::others;

bool is_power_of_two(int ranks) {
  return std::has_single_bit(static_cast<unsigned>(ranks));
}

bool holds(machine::RankSet set, int ranks) {
  return set == kAll || (set == kPowers) == is_power_of_two(ranks);
}

// A column of the design: what it adds to each piece's equation, per unit of
// its coefficient.
struct Part {
  std::vector<std::map<Factor, double>> weights;  // by piece
  machine::RankSet ranks = kAll;
  bool non_negative = true;
};

double value_of(const std::map<Factor, double>& weights, double p, double d) {
  double sum = 0;
  for (const auto& [factor, weight] : weights) sum += weight * evaluate(factor, p, d);
  return sum;
}

Part startup(const Growth& growth, std::size_t pieces, bool rising = false) {
  Part part;
  part.weights.assign(pieces, {{growth.alone, 1}});
  part.non_negative = rising || growth.alone != Factor::one;
  return part;
}

// The slope of one piece: nothing below it, its whole rise above.
Part slope(const Growth& growth, const std::vector<double>& begins, std::size_t piece) {
  Part part;
  part.weights.resize(begins.size());
  part.weights[piece] = {{growth.with_data, 1}};
  if (begins[piece] != 0) part.weights[piece][growth.alone] = -begins[piece];
  for (std::size_t i = piece + 1; i < begins.size(); ++i)
    part.weights[i] = {{growth.alone, begins[piece + 1] - begins[piece]}};
  return part;
}

// Parts and the sets of them that may be chosen.
struct Dictionary {
  std::vector<Part> parts;
  std::vector<stats::ColumnSet> candidates;
};

void add_candidate(Dictionary& dictionary, stats::ColumnSet columns) {
  std::ranges::sort(columns);
  dictionary.candidates.push_back(std::move(columns));
}

// Of one number of ranks: a constant, and a line in each piece `with_data`.
Dictionary lines(const RunProblem& problem, bool with_data) {
  Dictionary dictionary;
  const std::size_t pieces = problem.begins.size();
  dictionary.parts.push_back(startup(kConstant, pieces, problem.rising));
  add_candidate(dictionary, {0});
  if (!with_data) return dictionary;
  stats::ColumnSet all{0};
  for (std::size_t i = 0; i < pieces; ++i) {
    dictionary.parts.push_back(slope(kConstant, problem.begins, i));
    dictionary.parts.back().non_negative = problem.rising || i + 1 == pieces;
    all.push_back(i + 1);
  }
  add_candidate(dictionary, all);
  return dictionary;
}

// The papers' t(p,d) = c + s f(p) + k g(p,d), with d counted from 0.
void add_papers_forms(Dictionary& dictionary, bool with_data) {
  auto& parts = dictionary.parts;
  for (const auto f : machine::kStartupForms) {
    parts.push_back(startup({machine::factor_of(f), Factor::d}, 1));
    const std::size_t at = parts.size() - 1;
    if (!with_data) add_candidate(dictionary, {0, at});
  }
  if (!with_data) return;
  const std::size_t first = parts.size();
  for (const auto g : machine::kDataForms) {
    Part part;
    part.weights = {{{machine::factor_of(g), 1}}};
    parts.push_back(part);
  }
  for (std::size_t f = 0; f < machine::kStartupForms.size(); ++f)
    for (std::size_t g = 0; g < machine::kDataForms.size(); ++g)
      add_candidate(dictionary, {0, first - machine::kStartupForms.size() + f, first + g});
}

// Of several numbers of ranks. `with_data`: the time may grow with the size.
Dictionary sums(const RunProblem& problem, std::size_t ranks, bool with_data) {
  Dictionary dictionary;
  const std::size_t pieces = problem.begins.size();
  for (const Growth& growth : kStartups)
    dictionary.parts.push_back(startup(growth, pieces, problem.rising));
  for (const Growth& growth : kSlopes)
    for (std::size_t i = 0; i < pieces; ++i)
      dictionary.parts.push_back(slope(growth, problem.begins, i));
  const auto startups = stats::subsets(kStartups.size(), std::min(kMostStartups, ranks));
  auto slopes = with_data ? stats::subsets(kSlopes.size(), std::min(kMostSlopes, ranks))
                          : std::vector<stats::ColumnSet>();
  slopes.insert(slopes.begin(), stats::ColumnSet());
  for (const stats::ColumnSet& chosen : startups)
    for (const stats::ColumnSet& grown : slopes) {
      stats::ColumnSet columns = chosen;
      for (const std::size_t growth : grown)
        for (std::size_t i = 0; i < pieces; ++i)
          columns.push_back(kStartups.size() + growth * pieces + i);
      add_candidate(dictionary, columns);
    }
  if (pieces == 1) add_papers_forms(dictionary, with_data);
  return dictionary;
}

std::size_t piece_of(const RunProblem& problem, std::uint64_t bytes) {
  const auto d = static_cast<double>(bytes);
  // A size at which two lines meet belongs to the lower one.
  std::size_t piece = 0;
  while (piece + 1 < problem.begins.size() && d > problem.begins[piece + 1]) ++piece;
  return piece;
}

double column_value(const RunProblem& problem, const Part& part, const Observation& at) {
  if (!holds(part.ranks, at.ranks)) return 0;
  return value_of(part.weights[piece_of(problem, at.bytes)], at.ranks,
                  static_cast<double>(at.bytes));
}

stats::RelativeProblem relative_problem(const RunProblem& problem,
                                        const std::vector<Observation>& observations,
                                        const std::vector<Part>& parts) {
  stats::RelativeProblem relative;
  relative.negligible = problem.negligible;
  relative.columns.resize(parts.size());
  for (std::size_t j = 0; j < parts.size(); ++j)
    relative.columns[j].non_negative = parts[j].non_negative;
  for (const Observation& at : observations) {
    relative.y.push_back(at.time);
    relative.group.push_back(at.launch);
    for (std::size_t j = 0; j < parts.size(); ++j)
      relative.columns[j].values.push_back(column_value(problem, parts[j], at));
  }
  return relative;
}

std::vector<Observation> with_ranks_in(const RunProblem& problem, machine::RankSet set) {
  std::vector<Observation> out;
  for (const Observation& each : problem.observations)
    if (holds(set, each.ranks)) out.push_back(each);
  return out;
}

std::size_t count_ranks(const std::vector<Observation>& observations) {
  std::set<int> ranks;
  for (const Observation& each : observations) ranks.insert(each.ranks);
  return ranks.size();
}

// Over sizes that hardly differ a slope is noise, and what it says beside them is anything.
bool have_slopes(const RunProblem& problem, const std::vector<Observation>& observations) {
  const auto [least, most] = std::ranges::minmax(observations, {}, &Observation::bytes);
  return problem.begins.size() > 1 ||
         static_cast<double>(most.bytes) > kLeastSpan * static_cast<double>(least.bytes);
}

Dictionary dictionary_for(const RunProblem& problem, const std::vector<Observation>& observations) {
  const std::size_t ranks = count_ranks(observations);
  const bool with_data = have_slopes(problem, observations);
  if (!problem.by_ranks || ranks < 2) return lines(problem, with_data);
  return sums(problem, ranks, with_data);
}

// The chosen parts of the candidates for `set`.
std::vector<Part> choose(const RunProblem& problem, machine::RankSet set) {
  const std::vector<Observation> observations = with_ranks_in(problem, set);
  const Dictionary dictionary = dictionary_for(problem, observations);
  const stats::Choice choice = stats::choose_columns(
      relative_problem(problem, observations, dictionary.parts), dictionary.candidates);
  std::vector<Part> parts;
  for (const std::size_t column : choice.columns) {
    parts.push_back(dictionary.parts[column]);
    parts.back().ranks = set;
  }
  // All times are zero.
  if (parts.empty()) parts.push_back(startup(kConstant, problem.begins.size()));
  return parts;
}

// Terms of their own for the powers of two and for the others, where the
// criterion finds that this is worth its coefficients.
std::vector<Part> choose(const RunProblem& problem) {
  std::vector<Part> parts = choose(problem, kAll);
  if (!problem.by_ranks || count_ranks(with_ranks_in(problem, kPowers)) == 0 ||
      count_ranks(with_ranks_in(problem, kOtherRanks)) < 2)
    return parts;
  stats::ColumnSet together;
  for (std::size_t i = 0; i < parts.size(); ++i) together.push_back(i);
  stats::ColumnSet apart;
  for (const machine::RankSet set : {kPowers, kOtherRanks})
    for (Part& part : choose(problem, set)) {
      apart.push_back(parts.size());
      parts.push_back(std::move(part));
    }
  const stats::Choice choice = stats::choose_columns(
      relative_problem(problem, problem.observations, parts), {together, apart});
  const auto end_of_together = parts.begin() + static_cast<std::ptrdiff_t>(together.size());
  if (choice.candidate == 0)
    parts.erase(end_of_together, parts.end());
  else
    parts.erase(parts.begin(), end_of_together);
  return parts;
}

// The coefficients of one piece, for one set of ranks: sums over the columns.
std::vector<machine::Term> terms_of(const std::vector<Part>& parts, const stats::RelativeFit& fit,
                                    const stats::GroupErrors& errors, std::size_t piece,
                                    machine::RankSet set) {
  std::map<Factor, std::vector<double>> rows;  // by column, as a row of the design
  for (std::size_t j = 0; j < parts.size(); ++j) {
    if (parts[j].ranks != set || !fit.unknowns[j].used) continue;
    for (const auto& [factor, weight] : parts[j].weights[piece]) {
      std::vector<double>& row = rows[factor];
      row.resize(parts.size());
      row[j] += weight;
    }
  }
  std::vector<machine::Term> terms;
  for (const Factor factor : machine::kFactors) {
    if (!rows.contains(factor)) continue;
    const std::vector<double>& row = rows.at(factor);
    machine::Term term{factor, {}};
    for (std::size_t j = 0; j < parts.size(); ++j)
      term.coefficient.value += row[j] * fit.unknowns[j].value;
    double variance = 0;
    const std::size_t n = errors.free.size();
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b)
        variance += row[errors.free[a]] * errors.covariance[a * n + b] * row[errors.free[b]];
    if (std::isfinite(variance) && variance > 0) term.coefficient.error = std::sqrt(variance);
    if (std::isfinite(term.coefficient.value)) terms.push_back(term);
  }
  // Nothing is left: a time of zero.
  if (terms.empty()) terms.push_back({Factor::one, {}});
  return terms;
}

// The widest of a piece's points, relative to the fitted time.
void widen(std::optional<machine::PredictionInterval>& interval, double fitted,
           const stats::Interval& predicted, double coverage) {
  if (!(fitted > 0) || !std::isfinite(predicted.lower) || !std::isfinite(predicted.upper)) return;
  if (!interval) interval = machine::PredictionInterval{1, 1, coverage};
  interval->low = std::clamp(predicted.lower / fitted, 0.0, interval->low);
  interval->high = std::max(predicted.upper / fitted, interval->high);
}

// Where one piece's times are steadier by orders of magnitude than another's, all
// of the other's may be taken for wild, and its line goes anywhere.
constexpr double kAway = 3;

bool runs_away(const RunProblem& problem, const stats::RelativeFit& fit) {
  std::map<std::pair<int, std::uint64_t>, double> nearest;
  for (std::size_t i = 0; i < problem.observations.size(); ++i) {
    const Observation& at = problem.observations[i];
    const double base = std::max({at.time, problem.negligible, 1e-12});
    const double distance = std::fabs(fit.fitted[i] - at.time) / base;
    const auto [place, fresh] = nearest.emplace(std::pair(at.ranks, at.bytes), distance);
    if (!fresh) place->second = std::min(place->second, distance);
  }
  return std::ranges::any_of(nearest, [](const auto& each) { return each.second > kAway; });
}

}  // namespace

std::vector<machine::Equation> fit_terms(const RunProblem& problem) {
  const std::vector<Part> parts = choose(problem);
  const stats::RelativeProblem relative = relative_problem(problem, problem.observations, parts);
  stats::RelativeFit fit = stats::fit_relative(relative);
  if (runs_away(problem, fit)) {
    stats::RelativeSettings tolerant;
    tolerant.least_scale = 1;
    fit = stats::fit_relative(relative, tolerant);
  }
  stats::GroupSettings settings;
  settings.coverage = problem.coverage;
  const stats::GroupErrors errors = stats::group_errors(relative, fit, settings);

  std::vector<machine::Equation> equations(problem.begins.size());
  const bool apart = parts.front().ranks != kAll;
  for (std::size_t piece = 0; piece < equations.size(); ++piece) {
    equations[piece].terms = terms_of(parts, fit, errors, piece, apart ? kPowers : kAll);
    if (apart) equations[piece].other_terms = terms_of(parts, fit, errors, piece, kOtherRanks);
  }
  // Without degrees of freedom the points lie on the curve, and nothing is known.
  if (!(errors.degrees_of_freedom > 0)) return equations;
  std::set<std::pair<int, std::uint64_t>> seen;
  for (std::size_t i = 0; i < problem.observations.size(); ++i) {
    const Observation& at = problem.observations[i];
    if (!seen.insert({at.ranks, at.bytes}).second) continue;
    std::vector<double> row;
    for (const stats::Column& column : relative.columns) row.push_back(column.values[i]);
    widen(equations[piece_of(problem, at.bytes)].interval, fit.fitted[i], errors.prediction(row),
          problem.coverage);
  }
  return equations;
}

}  // namespace foretrace::measure
