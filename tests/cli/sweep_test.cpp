// Sweeps: the words of --sweep, the grid, the threads that run it, the results
// on paper.
#include "cli/simulate/sweep.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"

namespace foretrace::cli {
namespace {

using Values = std::vector<double>;
constexpr double kNone = std::numeric_limits<double>::infinity();

Values values(std::string_view text) {
  return parse_sweep(text).values;
}

TEST(ParseSweep, ParametersByName) {
  EXPECT_EQ(parse_sweep("latency=1").parameter, SweepParameter::latency);
  EXPECT_EQ(parse_sweep("bandwidth=1").parameter, SweepParameter::bandwidth);
  EXPECT_EQ(parse_sweep("overhead=1").parameter, SweepParameter::overhead);
  EXPECT_EQ(parse_sweep("compute=1").parameter, SweepParameter::compute);
  EXPECT_EQ(parse_sweep("S=1").parameter, SweepParameter::threshold);
}

TEST(ParseSweep, Lists) {
  EXPECT_EQ(values("latency=x0.1,x1,x10"), (Values{0.1, 1, 10}));
  EXPECT_EQ(values("compute=0, 0.5,x2"), (Values{0, 0.5, 2}));
  EXPECT_EQ(values("S=1024,64KiB,0,none"), (Values{1024, 65536, 0, kNone}));
}

// Equal ratios: 0.01 * 10000^(i/4); 1 * 8^(i/3); 0.1 * sqrt(1000)^i.
TEST(ParseSweep, RangesInEqualRatios) {
  EXPECT_EQ(values("latency=x0.01:x100:5"), (Values{0.01, 0.1, 1, 10, 100}));
  EXPECT_EQ(values("latency=1:8:4"), (Values{1, 2, 4, 8}));
  EXPECT_EQ(values("latency=8:1:log:4"), (Values{8, 4, 2, 1}));
  EXPECT_EQ(values("latency=0.1:100:log:3"), (Values{0.1, 3.16227766017, 100}));
  EXPECT_EQ(values("S=1KiB:1MiB:log:3"), (Values{1024, 32768, 1048576}));
  // 10 * 10^0.5 = 31.6
  EXPECT_EQ(values("S=10:100:3"), (Values{10, 32, 100}));
}

TEST(ParseSweep, RangesInEqualSteps) {
  EXPECT_EQ(values("bandwidth=1:2:lin:5"), (Values{1, 1.25, 1.5, 1.75, 2}));
  EXPECT_EQ(values("latency=0:0.3:lin:4"), (Values{0, 0.1, 0.2, 0.3}));
  EXPECT_EQ(values("S=0:100:lin:3"), (Values{0, 50, 100}));
}

TEST(ParseSweep, RangesAndValuesTogether) {
  EXPECT_EQ(values("latency=0,1:4:3,x10"), (Values{0, 1, 2, 4, 10}));
}

TEST(ParseSweep, Faults) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"", "expected NAME=VALUES"},
      {"latency", "expected NAME=VALUES"},
      {"laetncy=1", "expected NAME=VALUES"},
      {"latency=", "latency takes factors such as x0.5, from 1e-9 to 1e9 or 0, found ''"},
      {"latency=x", "found 'x'"},
      {"latency=1,,2", "found ''"},
      {"latency=1us", "latency takes factors such as x0.5, from 1e-9 to 1e9 or 0, found '1us'"},
      {"latency=-1", "found '-1'"},
      {"latency=nan", "found 'nan'"},
      {"latency=inf", "found 'inf'"},
      {"latency=1e10", "found '1e10'"},
      {"latency=none", "found 'none'"},
      {"bandwidth=0", "bandwidth takes factors such as x0.5, from 1e-9 to 1e9, found '0'"},
      {"S=x2", "S takes sizes such as 4096 or 64KiB, and none, found 'x2'"},
      {"S=1,L=3us", "found 'L=3us'"},
      {"S=1:none:3", "a range cannot begin or end at none"},
      {"latency=1:2", "a range is FROM:TO:N, FROM:TO:log:N or FROM:TO:lin:N, found '1:2'"},
      {"latency=1:2:exp:3", "a range is"},
      {"latency=1:2:lin:3:4", "a range is"},
      {"latency=0:1:3", "equal ratios cannot begin or end at 0; write FROM:TO:lin:N"},
      {"latency=1:2:1", "must be a whole number from 2 to 10000, found '1'"},
      {"latency=1:2:2.5", "found '2.5'"},
      {"latency=1:2:10001", "found '10001'"},
      {"latency=1:2:10000,3", "more than 10000 values"},
  };
  for (const auto& [text, says] : rows) {
    try {
      parse_sweep(text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const UsageError& error) {
      const std::string what = error.what();
      EXPECT_TRUE(what.starts_with("--sweep '" + text + "': ")) << what;
      EXPECT_NE(what.find(says), std::string::npos) << what;
    }
  }
}

TEST(ParseSweep, NoParameterTwice) {
  EXPECT_EQ(parse_sweeps({"latency=1", "S=1"}).size(), 2u);
  EXPECT_THROW(parse_sweeps({"latency=1", "S=1", "latency=2"}), UsageError);
}

TEST(CheckSweeps, WhatWouldChangeNothing) {
  const SweepUse alone{true, true};
  const SweepUse idle{false, false};
  for (const char* text : {"latency=2", "bandwidth=2", "overhead=2"}) {
    EXPECT_THROW(check_sweeps(parse_sweeps({text}), alone), UsageError) << text;
    EXPECT_NO_THROW(check_sweeps(parse_sweeps({text}), idle)) << text;
  }
  EXPECT_NO_THROW(check_sweeps(parse_sweeps({"S=1", "compute=2"}), alone));
  EXPECT_THROW(check_sweeps(parse_sweeps({"S=1", "compute=2"}), idle), UsageError);
}

TEST(Grid, LastSweepChangesFastest) {
  const auto points = grid_of(parse_sweeps({"latency=1,2", "S=8,none", "compute=0.5"}));
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(describe(points[0]), "latency x1, S 8, compute x0.5");
  EXPECT_EQ(describe(points[1]), "latency x1, S none, compute x0.5");
  EXPECT_EQ(describe(points[2]), "latency x2, S 8, compute x0.5");
  EXPECT_EQ(describe(points[3]), "latency x2, S none, compute x0.5");
}

TEST(Grid, NotBeyondReason) {
  EXPECT_EQ(grid_of(parse_sweeps({"latency=1:2:1000", "compute=1:2:100"})).size(), 100000u);
  EXPECT_THROW(grid_of(parse_sweeps({"latency=1:2:1000", "compute=1:2:101"})), UsageError);
}

TEST(Grid, FactorsOfAPoint) {
  const auto points =
      grid_of(parse_sweeps({"latency=2", "bandwidth=3", "overhead=4", "compute=5", "S=6,none"}));
  const MachineFactors factors = factors_of(points[0]);
  EXPECT_EQ(factors.latency, 2);
  EXPECT_EQ(factors.bandwidth, 3);
  EXPECT_EQ(factors.overhead, 4);
  EXPECT_EQ(factors.compute, 5);
  EXPECT_EQ(factors.sync_threshold, Bytes(6));
  EXPECT_EQ(factors_of(points[1]).sync_threshold, Bytes(UINT64_MAX));
  EXPECT_FALSE(factors_of(SweepPoint()).sync_threshold);
  EXPECT_EQ(factors_of(SweepPoint()).latency, 1);
}

// A program of 10 us latency and 30 us computation on each of two ranks.
PointResult toy(const SweepPoint& point) {
  const MachineFactors factors = factors_of(point);
  const auto compute = static_cast<std::int64_t>(30'000 * factors.compute);
  const auto wait = static_cast<std::int64_t>(10'000 * factors.latency);
  return {Time::ns(compute + wait), Time::ns(2 * compute), Time::ns(2 * wait), 2};
}

SweepRunner runner_of(std::function<PointResult(const SweepPoint&)> run, int jobs = 1) {
  SweepRunner runner;
  runner.run = std::move(run);
  runner.jobs = jobs;
  return runner;
}

TEST(RunSweep, ResultsInTheOrderOfTheGridOnAnyNumberOfThreads) {
  const auto sweeps = parse_sweeps({"latency=0:63:lin:64"});
  // Later points are done sooner.
  const auto run = [](const SweepPoint& point) {
    if (!point.values.empty())
      std::this_thread::sleep_for(std::chrono::microseconds(640 - 10 * int(point.values[0])));
    return toy(point);
  };
  for (const int jobs : {1, 2, 7, 1000}) {
    const views::SweepReport report = run_sweep(sweeps, runner_of(run, jobs));
    ASSERT_EQ(report.runs.size(), 64u);
    for (int i = 0; i < 64; ++i) {
      EXPECT_EQ(report.runs[std::size_t(i)].values, Values{double(i)});
      EXPECT_EQ(report.runs[std::size_t(i)].time, Time::ns(30'000 + 10'000 * i));
    }
    EXPECT_EQ(report.base.time, Time::ns(40'000));
  }
}

TEST(RunSweep, BaseIsAPointOfTheGridOrARunOfItsOwn) {
  std::atomic<int> runs = 0;
  const auto count = [&runs](const SweepPoint& point) {
    ++runs;
    return toy(point);
  };
  const auto with = run_sweep(parse_sweeps({"latency=2,1", "compute=1"}), runner_of(count));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(with.runs.size(), 2u);
  EXPECT_EQ(with.base.time, Time::ns(40'000));
  runs = 0;
  const auto without = run_sweep(parse_sweeps({"latency=2,3"}), runner_of(count));
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(without.runs.size(), 2u);
  EXPECT_EQ(without.base.time, Time::ns(40'000));
  // S = 1 byte is not the machine as it is.
  runs = 0;
  EXPECT_EQ(run_sweep(parse_sweeps({"S=1"}), runner_of(count)).runs.size(), 1u);
  EXPECT_EQ(runs, 2);
}

TEST(RunSweep, ThreadsRunSideBySide) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<int> inside = 0;
  // Nobody leaves before a second one has come.
  const auto meet = [&](const SweepPoint& point) {
    const std::scoped_lock lock(mutex);
    threads.insert(std::this_thread::get_id());
    return toy(point);
  };
  const auto wait_for_two = [&](const SweepPoint& point) {
    ++inside;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (inside < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return meet(point);
  };
  run_sweep(parse_sweeps({"latency=2,3,4"}), runner_of(wait_for_two, 2));
  EXPECT_EQ(threads.size(), 2u);
}

// x8 fails long after x9, which comes later in the grid.
TEST(RunSweep, FirstFailureInTheOrderOfTheGridIsThrown) {
  const auto fail = [](const SweepPoint& point) -> PointResult {
    if (!point.values.empty() && point.values[0] == 8) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      throw Error("deadlock");
    }
    if (!point.values.empty() && point.values[0] == 9) throw UsageError("later");
    return toy(point);
  };
  for (const int jobs : {1, 2, 8}) {
    try {
      run_sweep(parse_sweeps({"latency=2:41:lin:40"}), runner_of(fail, jobs));
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "with latency x8: deadlock");
    }
  }
}

TEST(RunSweep, FailuresKeepTheirKind) {
  const auto sweeps = parse_sweeps({"latency=2"});
  try {
    run_sweep(sweeps, runner_of([](const SweepPoint&) -> PointResult { throw UsageError("no"); }));
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "with the machine as it is: no");
  }
  EXPECT_THROW(run_sweep(sweeps, runner_of([](const SweepPoint&) -> PointResult {
                           throw std::runtime_error("odd");
                         })),
               Error);
}

TEST(RunSweep, AFailureGivesUpTheRest) {
  std::atomic<int> runs = 0;
  const auto fail = [&runs](const SweepPoint&) -> PointResult {
    ++runs;
    throw Error("no");
  };
  EXPECT_THROW(run_sweep(parse_sweeps({"latency=2:100:lin:99"}), runner_of(fail)), Error);
  EXPECT_EQ(runs, 1);
}

TEST(RunSweep, ProgressCountsEveryRun) {
  SweepRunner runner = runner_of(toy, 3);
  std::vector<std::size_t> counts;
  runner.progress = [&counts](std::size_t done, std::size_t total) {
    EXPECT_EQ(total, 6u);
    counts.push_back(done);
  };
  run_sweep(parse_sweeps({"latency=2,3,4,5,6"}), runner);
  EXPECT_EQ(counts, (std::vector<std::size_t>{1, 2, 3, 4, 5, 6}));
}

// x0: 30 us, 60 / 30 = 2, 100 %; x1: 40 us, 60 / 40 = 1.5, 75 %; x3: 60 us, 1, 50 %.
const char* const kTable =
    "the machine as it is: 40 us, speed-up 1.5, efficiency 75.0 % on 2 ranks\n"
    "\n"
    "latency     S   time  of base  speed-up  efficiency  wait time\n"
    "     x0    16  30 us     0.75         2     100.0 %        0 s\n"
    "     x0  none  30 us     0.75         2     100.0 %        0 s\n"
    "     x3    16  60 us      1.5         1      50.0 %      60 us\n"
    "     x3  none  60 us      1.5         1      50.0 %      60 us\n";

TEST(SweepReport, TextTable) {
  const auto report = run_sweep(parse_sweeps({"latency=0,3", "S=16,none"}), runner_of(toy));
  EXPECT_EQ(views::render_text_sweep(report), kTable);
}

TEST(SweepReport, JsonArray) {
  const auto report = run_sweep(parse_sweeps({"latency=0.5,3", "S=16,none"}), runner_of(toy, 2));
  const auto list = nlohmann::json::parse(views::render_json_sweep(report));
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[3], nlohmann::json::parse(R"({"latency": 3.0, "S": null, "ranks": 2, "time": 6e-05,
                "serial_time": 6e-05, "wait": 6e-05, "speedup": 1.0, "efficiency": 0.5,
                "ratio": 1.5, "notes": []})"));
  EXPECT_EQ(list[0]["latency"], 0.5);
  EXPECT_EQ(list[0]["S"], 16);
  EXPECT_EQ(list[0]["time"], 35e-6);
}

TEST(SweepReport, Csv) {
  const auto report = run_sweep(parse_sweeps({"latency=1,3", "S=16,none"}), runner_of(toy));
  EXPECT_EQ(views::render_csv_sweep(report),
            "latency,S,ranks,time,serial_time,wait,speedup,efficiency,ratio\n"
            "1,16,2,4e-05,6e-05,2e-05,1.5,0.75,1\n"
            "1,inf,2,4e-05,6e-05,2e-05,1.5,0.75,1\n"
            "3,16,2,6e-05,6e-05,6e-05,1,0.5,1.5\n"
            "3,inf,2,6e-05,6e-05,6e-05,1,0.5,1.5\n");
}

TEST(SweepReport, RunsThatTakeNoTime) {
  const auto nothing = [](const SweepPoint&) { return PointResult{{}, {}, {}, 4}; };
  const auto report = run_sweep(parse_sweeps({"latency=2"}), runner_of(nothing));
  EXPECT_EQ(views::render_csv_sweep(report),
            "latency,ranks,time,serial_time,wait,speedup,efficiency,ratio\n2,4,0,0,0,,,1\n");
  const auto list = nlohmann::json::parse(views::render_json_sweep(report));
  EXPECT_TRUE(list[0].at("speedup").is_null());
  EXPECT_TRUE(list[0].at("efficiency").is_null());
  EXPECT_EQ(views::render_text_sweep(report),
            "the machine as it is: 0 s on 4 ranks\n\n"
            "latency  time  of base  speed-up  efficiency  wait time\n"
            "     x2   0 s        1         -           -        0 s\n");
}

}  // namespace
}  // namespace foretrace::cli
