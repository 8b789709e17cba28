// Time of the steps from samples to equations: pieces, choice of terms, errors.
//
// "items" are functions of 70 sizes, 5 launches and three regimes; the argument is
// the number of curves (numbers of ranks). One iteration of `model` is all of a model's 60
// functions.
#include <benchmark/benchmark.h>

#include <vector>

#include "stats/column_choice.hpp"
#include "stats/group_errors.hpp"
#include "stats/relative_fit.hpp"
#include "stats/segmentation.hpp"
#include "synthetic.hpp"
#include "synthetic_regimes.hpp"

namespace {

using namespace foretrace::stats;

constexpr std::size_t kLaunches = 5;
constexpr std::size_t kRegimes = 3;
constexpr std::size_t kFunctions = 60;

struct Sampled {
  synthetic::Study study;
  std::vector<CurvePoint> points;
};

Sampled function(std::size_t curves, std::uint64_t seed) {
  Sampled sampled{synthetic::dictionary_study(), {}};
  sampled.study.ranks.resize(curves);
  synthetic::Random random(seed);
  const synthetic::FunctionTruth truth =
      synthetic::random_function(sampled.study, kRegimes, random);
  sampled.points = synthetic::measure(sampled.study, truth, kLaunches,
                                      {synthetic::NoiseKind::common, 0.03, 0.006, 0.05}, random);
  return sampled;
}

std::vector<RelativeProblem> problems_of(const Sampled& sampled, const Segmentation& pieces) {
  ColumnSet every(sampled.study.columns.size());
  for (std::size_t j = 0; j < every.size(); ++j) every[j] = j;
  std::vector<RelativeProblem> problems;
  for (std::size_t k = 0; k < pieces.pieces.size(); ++k)
    problems.push_back(synthetic::piece_problem(sampled.study, sampled.points, pieces, k, every));
  return problems;
}

double fit(const RelativeProblem& problem, const std::vector<ColumnSet>& candidates) {
  const Choice choice = choose_columns(problem, candidates);
  const GroupErrors errors = group_errors(problem, choice.fit, {}, candidates[choice.candidate]);
  return errors.point_scale;
}

void pieces(benchmark::State& state) {
  const Sampled sampled = function(static_cast<std::size_t>(state.range(0)), 1);
  for (auto _ : state) benchmark::DoNotOptimize(segment(sampled.points).noise);
  state.SetItemsProcessed(state.iterations());
}

void terms_and_errors(benchmark::State& state) {
  const Sampled sampled = function(static_cast<std::size_t>(state.range(0)), 1);
  const auto problems = problems_of(sampled, segment(sampled.points));
  for (auto _ : state)
    for (const RelativeProblem& problem : problems)
      benchmark::DoNotOptimize(fit(problem, sampled.study.candidates));
  state.SetItemsProcessed(state.iterations());
}

void errors_alone(benchmark::State& state) {
  const Sampled sampled = function(static_cast<std::size_t>(state.range(0)), 1);
  const auto problems = problems_of(sampled, segment(sampled.points));
  std::vector<RelativeFit> fits;
  for (const RelativeProblem& problem : problems) fits.push_back(fit_relative(problem));
  for (auto _ : state)
    for (std::size_t k = 0; k < fits.size(); ++k)
      benchmark::DoNotOptimize(group_errors(problems[k], fits[k]).point_scale);
  state.SetItemsProcessed(state.iterations());
}

void model(benchmark::State& state) {
  std::vector<Sampled> functions;
  for (std::size_t f = 0; f < kFunctions; ++f)
    functions.push_back(function(static_cast<std::size_t>(state.range(0)), f));
  for (auto _ : state)
    for (const Sampled& sampled : functions)
      for (const RelativeProblem& problem : problems_of(sampled, segment(sampled.points)))
        benchmark::DoNotOptimize(fit(problem, sampled.study.candidates));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kFunctions));
}

BENCHMARK(pieces)->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);
BENCHMARK(terms_and_errors)->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);
BENCHMARK(errors_alone)->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);
BENCHMARK(model)->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);

}  // namespace
