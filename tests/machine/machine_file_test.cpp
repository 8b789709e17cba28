// The machine file: defaults, what is written reads back, files on disk.
#include "machine/machine_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace foretrace::machine {
namespace {

void expect_same(const Coefficient& a, const Coefficient& b) {
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.error, b.error);
}

void expect_same(const std::vector<Term>& a, const std::vector<Term>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].factor, b[i].factor);
    expect_same(a[i].coefficient, b[i].coefficient);
  }
}

// A form counts only where it multiplies something.
void expect_same(const Regime& a, const Regime& b) {
  EXPECT_EQ(a.from, b.from);
  EXPECT_EQ(a.to, b.to);
  expect_same(a.equation.constant, b.equation.constant);
  expect_same(a.equation.startup, b.equation.startup);
  expect_same(a.equation.data, b.equation.data);
  if (a.equation.startup.value != 0 || a.equation.startup.error != 0) {
    EXPECT_EQ(a.equation.startup_form, b.equation.startup_form);
  }
  if (a.equation.data.value != 0 || a.equation.data.error != 0) {
    EXPECT_EQ(a.equation.data_form, b.equation.data_form);
  }
  expect_same(a.equation.terms, b.equation.terms);
  expect_same(a.equation.other_terms, b.equation.other_terms);
  EXPECT_EQ(a.other_state, b.other_state);
  ASSERT_EQ(a.equation.interval.has_value(), b.equation.interval.has_value());
  if (a.equation.interval) {
    EXPECT_EQ(a.equation.interval->low, b.equation.interval->low);
    EXPECT_EQ(a.equation.interval->high, b.equation.interval->high);
    EXPECT_EQ(a.equation.interval->coverage, b.equation.interval->coverage);
  }
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.residual, b.residual);
  EXPECT_EQ(a.chi_squared, b.chi_squared);
  EXPECT_EQ(a.degrees_of_freedom, b.degrees_of_freedom);
}

void expect_same(const std::optional<HeldOutError>& a, const std::optional<HeldOutError>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (!a) return;
  EXPECT_EQ(a->mean, b->mean);
  EXPECT_EQ(a->max, b->max);
}

void expect_same(const std::vector<Regime>& a, const std::vector<Regime>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) expect_same(a[i], b[i]);
}

void expect_same(const Parameter& a, const Parameter& b) {
  EXPECT_EQ(a.separable, b.separable);
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.error, b.error);
}

void expect_same(const LogGPSRegime& a, const LogGPSRegime& b) {
  EXPECT_EQ(a.from, b.from);
  EXPECT_EQ(a.to, b.to);
  for (const auto field :
       {&LogGPSRegime::latency, &LogGPSRegime::overhead_send, &LogGPSRegime::overhead_recv,
        &LogGPSRegime::gap, &LogGPSRegime::gap_per_byte}) {
    ASSERT_EQ((a.*field).has_value(), (b.*field).has_value());
    if (a.*field) expect_same(*(a.*field), *(b.*field));
  }
  EXPECT_EQ(a.overlap_send, b.overlap_send);
  EXPECT_EQ(a.overlap_recv, b.overlap_recv);
}

void expect_same(const MachineModel& a, const MachineModel& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.ranks, b.ranks);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.date, b.date);
  EXPECT_EQ(a.mpi_library, b.mpi_library);
  EXPECT_EQ(a.timer_resolution, b.timer_resolution);
  EXPECT_EQ(a.cache_line, b.cache_line);
  EXPECT_EQ(a.other_state_share, b.other_state_share);
  EXPECT_EQ(a.time_unit, b.time_unit);
  EXPECT_EQ(a.element, b.element);
  EXPECT_EQ(a.compute_step, b.compute_step);
  EXPECT_EQ(a.loggps.latency, b.loggps.latency);
  EXPECT_EQ(a.loggps.overhead_send, b.loggps.overhead_send);
  EXPECT_EQ(a.loggps.overhead_recv, b.loggps.overhead_recv);
  EXPECT_EQ(a.loggps.gap, b.loggps.gap);
  EXPECT_EQ(a.loggps.gap_per_byte, b.loggps.gap_per_byte);
  EXPECT_EQ(a.loggps.sync_threshold, b.loggps.sync_threshold);
  EXPECT_EQ(a.loggps.attended_from, b.loggps.attended_from);
  ASSERT_EQ(a.functions.size(), b.functions.size());
  for (const auto& [name, function] : a.functions) {
    SCOPED_TRACE(name);
    const Function* other = b.find(name);
    ASSERT_TRUE(other);
    EXPECT_EQ(function.name, other->name);
    EXPECT_EQ(function.function_class, other->function_class);
    expect_same(function.regimes, other->regimes);
    expect_same(function.baseline, other->baseline);
    ASSERT_EQ(function.measured.has_value(), other->measured.has_value());
    if (function.measured) {
      EXPECT_EQ(function.measured->ranks, other->measured->ranks);
      EXPECT_EQ(function.measured->from, other->measured->from);
      EXPECT_EQ(function.measured->to, other->measured->to);
    }
    expect_same(function.held_out, other->held_out);
    expect_same(function.baseline_held_out, other->baseline_held_out);
    EXPECT_EQ(function.extrapolation_error, other->extrapolation_error);
  }
  ASSERT_EQ(a.loggps_regimes.size(), b.loggps_regimes.size());
  for (std::size_t i = 0; i < a.loggps_regimes.size(); ++i)
    expect_same(a.loggps_regimes[i], b.loggps_regimes[i]);
  ASSERT_EQ(a.hop.has_value(), b.hop.has_value());
  if (a.hop) {
    expect_same(a.hop->startup, b.hop->startup);
    expect_same(a.hop->per_byte, b.hop->per_byte);
  }
}

void expect_round_trip(const MachineModel& model) {
  const std::string text = format_machine(model);
  SCOPED_TRACE(text);
  const MachineModel again = parse_machine(text, "again.toml");
  expect_same(model, again);
  EXPECT_EQ(format_machine(again), text);
}

// One function for each pair of forms, every field set, doubles that need all
// their digits.
MachineModel full_model() {
  MachineModel model;
  model.name = "test";
  model.ranks = 512;
  model.source = "made up";
  model.date = "2024-02-29";
  model.mpi_library = "Some MPI 1.2";
  model.timer_resolution = 1.0 / 3e8;
  model.cache_line = 5.1e-8;
  model.other_state_share = 0.3;
  model.time_unit = 1e-9;
  model.element = Bytes(8);
  model.compute_step = 0.1;
  model.loggps = {1e-6, 2e-7, 3e-7, 1.0 / 3, 4e-11, Bytes(65536), Bytes(257)};
  for (const StartupForm f : kStartupForms)
    for (const DataForm g : kDataForms) {
      Regime first;
      first.to = Bytes(255);
      first.equation = {{1.0 / 7, 1e-17}, f, {-2.5e-8, 0.1}, g, {5e-324, 0}};
      first.q = 0.0625;
      first.residual = 1e300;
      Regime second;
      second.from = Bytes(256);
      second.equation = {{0, 0}, f, {0, 1}, g, {0, std::numeric_limits<double>::max()}};
      second.q = 0;
      second.other_state = 3.125;
      const std::string name = std::string(name_of(f)) + "/" + std::string(name_of(g));
      model.functions[name] = {name, "collective", "", {first, second}};
    }
  return model;
}

TEST(MachineFile, WhatIsWrittenReadsBack) {
  expect_round_trip(full_model());
}

// Terms, errors, baseline, LogGPS by regime.
MachineModel measured_model() {
  MachineModel model = full_model();
  Function function = model.functions.begin()->second;
  function.name = "measured";
  function.measured = MeasuredRange{{2, 3, 512}, Bytes(0), Bytes(4 << 20)};
  function.held_out = HeldOutError{1.0 / 3, 0.5};
  function.extrapolation_error = 1.0 / 7;
  function.baseline_held_out = HeldOutError{2.0 / 3, 12};
  function.baseline = function.regimes;
  function.baseline[0].chi_squared = 12.5;
  function.baseline[0].degrees_of_freedom = 9;
  for (Regime& regime : function.regimes) {
    Equation equation;
    for (const Factor factor : kFactors)
      equation.terms.push_back({factor, {1.0 / (2 + static_cast<int>(factor)), 0.1}});
    equation.other_terms = {{Factor::share_d, {-0.1, 0}}};
    equation.interval = {1.0 / 3, 5.0 / 3, 0.95};
    regime.equation = equation;
  }
  function.regimes[1].equation.other_terms.clear();
  function.regimes[1].equation.interval->coverage = 0;
  model.functions["measured"] = function;
  LogGPSRegime eager;
  eager.to = Bytes(4040);
  eager.latency = Parameter{0, 0, false};
  eager.overhead_send = Parameter{1e-7, 1e-9, true};
  eager.overhead_recv = Parameter{1.0 / 3, 0, true};
  eager.gap = Parameter{1e-6, 0, true};
  eager.gap_per_byte = Parameter{1e-10, 1e-12, true};
  eager.overlap_send = 0.25;
  eager.overlap_recv = 1;
  LogGPSRegime rest;
  rest.from = Bytes(4041);
  model.loggps_regimes = {eager, rest};
  model.hop = HopParameters{{1e-6, 1e-8, true}, {0, 0, false}};
  return model;
}

TEST(MachineFile, WhatWasFittedReadsBack) {
  expect_round_trip(measured_model());
}

TEST(MachineFile, RegimesOfLogGPSNeedNoOtherParameters) {
  MachineModel model = measured_model();
  model.loggps = {};
  expect_round_trip(model);
}

// What no reader would take is never written: an error of -nan was.
TEST(MachineFile, WhatIsNotFiniteIsNotWritten) {
  for (const double bad : {std::nan(""), -std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    MachineModel model;
    model.loggps_regimes.resize(1);
    model.loggps_regimes[0].overhead_send = Parameter{5.14e-05, bad};
    EXPECT_THROW(format_machine(model), Error);
    MachineModel other;
    other.functions["send"] = {"send", "", "", {Regime{}}};
    EXPECT_NO_THROW(format_machine(other));
    other.functions["send"].regimes[0].equation.constant.value = bad;
    EXPECT_THROW(format_machine(other), Error);
  }
}

TEST(MachineFile, ProvenanceReadsBack) {
  MachineModel model;
  model.kind = "derived";
  model.licence = "MIT, Copyright (c) 2019 \"somebody\"";
  model.functions["recv"] = {"recv", "point-to-point", "half of a round trip", {Regime{}}};
  const MachineModel again = parse_machine(format_machine(model), "m.toml");
  EXPECT_EQ(again.kind, model.kind);
  EXPECT_EQ(again.licence, model.licence);
  EXPECT_EQ(again.find("recv")->method, "half of a round trip");
  EXPECT_THROW(parse_machine("[machine]\nkind = \"guessed\"\n", "m.toml"), Error);
}

TEST(MachineModel, EquationsThatAreOffByMoreThanHalfAreUnreliable) {
  MachineModel model;
  for (const double error : {0.02, 0.49, 1.38}) {
    const std::string name = "f" + std::to_string(error);
    model.functions[name] = {name, "", "", {Regime{}}};
    model.functions[name].held_out = HeldOutError{error, 2 * error};
  }
  model.functions["unknown"] = {"unknown", "", "", {Regime{}}};
  EXPECT_EQ(unreliable_functions(model), std::vector<std::string>{"f" + std::to_string(1.38)});
}

TEST(MachineFile, RulesOfCollectivesReadBack) {
  for (const CollectiveRules rules :
       {CollectiveRules{true, false}, CollectiveRules{false, true}, CollectiveRules{true, true}}) {
    MachineModel model = full_model();
    model.collectives = rules;
    EXPECT_EQ(parse_machine(format_machine(model, {}, {}), "m.toml").collectives, rules);
  }
  EXPECT_EQ(parse_machine("[machine]\n", "m.toml").collectives, CollectiveRules());
  EXPECT_EQ(
      parse_machine("[machine]\n[collectives]\nsynchronise = false\ncount = \"own\"\n", "m.toml")
          .collectives,
      CollectiveRules());
}

TEST(MachineFile, DefaultsReadBack) {
  expect_round_trip(MachineModel());
}

TEST(MachineFile, AnyTimeUnitReadsBack) {
  for (const double unit : {1.0, 1e-3, 1e-6, 1e-9}) {
    MachineModel model = full_model();
    model.time_unit = unit;
    expect_round_trip(model);
  }
}

TEST(MachineFile, AnyTextReadsBack) {
  for (const std::string text : {"\"quoted\" and \\ back", "it's", "\ttab", "two\nlines",
                                 "# no comment", "caf\xc3\xa9 \xe2\x82\xac", " blank ", "\x01\x7f",
                                 "'''", "\"\"\"", "a = 1", "\r\n", "\n"}) {
    MachineModel model;
    model.name = model.source = model.date = model.mpi_library = text;
    model.functions[text] = {text, "local", text, {Regime()}};
    expect_round_trip(model);
  }
}

TEST(MachineFile, ShippedMachinesReadBack) {
  for (const char* name : {"cray-t3d", "sparc-ethernet"})
    expect_round_trip(
        read_machine_file(FORETRACE_SOURCE_DIR "/machines/" + std::string(name) + ".toml"));
}

TEST(MachineFile, SmallestFileHasDefaults) {
  const MachineModel model = parse_machine("[machine]\n", "m.toml");
  expect_same(model, MachineModel());
  EXPECT_EQ(model.time_unit, 1);
  EXPECT_EQ(model.element, Bytes(1));
  EXPECT_FALSE(model.loggps.sync_threshold);
}

// Whole numbers are numbers; a coefficient may come without its error; a
// regime without bytes holds all sizes.
TEST(MachineFile, ShortForms) {
  const MachineModel model = parse_machine(
      "[machine]\ntime_unit = \"us\"\n[[function]]\nname = \"send\"\n"
      "[[function.regime]]\nc = 30\nk = [1, 2]\ng = \"d\"\n",
      "m.toml");
  const Regime& regime = model.find("send")->regimes.at(0);
  EXPECT_EQ(regime.from, Bytes(0));
  EXPECT_EQ(regime.to, Bytes(UINT64_MAX));
  expect_same(regime.equation.constant, {30, 0});
  expect_same(regime.equation.data, {1, 2});
  expect_same(regime.equation.startup, {0, 0});
  EXPECT_FALSE(regime.q);
  EXPECT_FALSE(regime.residual);
}

TEST(MachineFile, TimesOfComputationMayHaveUnits) {
  const std::string text =
      "[machine]\nname = \"m\"\n[compute]\nstep = \"1us\"\nblock = \"1.5ns\"\n"
      "instruction = 1e-10\n[[compute.kernel]]\nname = \"sqrt\"\ntime = \"0.25ms\"\n";
  EXPECT_EQ(parse_machine(text, "m.toml").compute_step, 1e-6);
  EXPECT_EQ(parse_compute_costs(text, "m.toml"),
            (ComputeCosts{"m", 1.5e-9, 1e-10, {{"sqrt", {0.25e-3, {}}}}}));
  EXPECT_EQ(parse_compute_costs("[machine]\n", "m.toml"), ComputeCosts());
}

TEST(MachineFile, KernelsByRanks) {
  const std::string text =
      "[machine]\nname = \"m\"\n[[compute.kernel]]\nname = \"stream\"\nranks = [1, 2, 8]\n"
      "time = [\"1ns\", 1.5e-9, 4e-9]\n";
  const ComputeCosts costs = parse_compute_costs(text, "m.toml");
  EXPECT_EQ(costs,
            (ComputeCosts{"m", {}, {}, {{"stream", {4e-9, {{1, 1e-9}, {2, 1.5e-9}, {8, 4e-9}}}}}}));
  const std::string written = format_machine(parse_machine(text, "m.toml"), costs);
  EXPECT_EQ(parse_compute_costs(written, "again.toml"), costs) << written;
}

TEST(MachineFile, PatternsReadBack) {
  MachineModel model;
  model.name = "m";
  model.patterns = {{"exchange_ring", 4, {{Bytes(0), 1e-6}, {Bytes(65536), 0.25}}},
                    {"exchange_mesh", 8, {{Bytes(1), 0}}}};
  const MachineModel read = parse_machine(format_machine(model), "m.toml");
  ASSERT_EQ(read.patterns.size(), 2U);
  EXPECT_EQ(read.patterns[0].name, "exchange_ring");
  EXPECT_EQ(read.patterns[0].ranks, 4);
  ASSERT_EQ(read.patterns[0].times.size(), 2U);
  EXPECT_EQ(read.patterns[0].times[1].bytes, Bytes(65536));
  EXPECT_EQ(read.patterns[0].times[1].seconds, 0.25);
  EXPECT_EQ(read.patterns[1].ranks, 8);
}

TEST(MachineFile, LaunchesReadBack) {
  MachineModel model;
  model.name = "m";
  model.launches = {{1.0 / 3, 1}, {1.25, 2.5}};
  const MachineModel read = parse_machine(format_machine(model), "m.toml");
  ASSERT_EQ(read.launches.size(), 2U);
  EXPECT_EQ(read.launches[0].calls, 1.0 / 3);
  EXPECT_EQ(read.launches[1].calls, 1.25);
  EXPECT_EQ(read.launches[1].computation, 2.5);
  EXPECT_TRUE(parse_machine("[machine]\n", "m.toml").launches.empty());
}

TEST(MachineFile, ReductionsReadBack) {
  MachineModel model;
  model.name = "m";
  model.reductions = {{Reduction::sum_double, 1.0 / 3e9},
                      {reduction_of(Combining::minmaxloc, Operand::int32), 0},
                      {Reduction::other, 5e-324}};
  const std::string text = format_machine(model);
  EXPECT_NE(text.find("\n[reduction]  # seconds to combine a byte\nsum_double = 3.33"),
            std::string::npos)
      << text;
  EXPECT_EQ(parse_machine(text, "m.toml").reductions, model.reductions);
  EXPECT_EQ(parse_machine("[machine]\n[reduction]\nsum_double = \"0.1ns\"\n", "m.toml").reductions,
            (Reductions{{Reduction::sum_double, 1e-10}}));
  EXPECT_TRUE(parse_machine("[machine]\n", "m.toml").reductions.empty());
}

// Each has a name and a number of its own.
TEST(Reductions, NamesAndNumbers) {
  std::set<Reduction> all;
  for_each_reduction([&](Combining what, Operand of) {
    const Reduction reduction = reduction_of(what, of);
    EXPECT_EQ(name_of(reduction), name_of(what, of));
    EXPECT_EQ(parse_reduction(name_of(what, of)), reduction);
    EXPECT_TRUE(is_reduction(static_cast<int>(reduction)));
    all.insert(reduction);
  });
  EXPECT_EQ(all.size(), 39U);
  EXPECT_EQ(name_of(Reduction::other), "other");
  EXPECT_EQ(parse_reduction("other"), Reduction::other);
  for (const char* name : {"", "sum", "minmax_complex_double", "bit_float", "minmaxloc_int8"})
    EXPECT_FALSE(parse_reduction(name)) << name;
  EXPECT_FALSE(is_reduction(0));
  EXPECT_FALSE(is_reduction(static_cast<int>(reduction_of(Combining::bit, Operand::float_))));
  EXPECT_EQ(told(Reduction::sum_double), Reduction::none);
  EXPECT_EQ(told(Reduction::other), Reduction::other);
}

TEST(MachineFile, CostsOfComputationReadBack) {
  MachineModel model;
  model.name = "m";
  const ComputeCosts costs{
      "m", 1.0 / 3e9, 1e-10, {{"stream \"large\"", {1.0 / 3, {}}}, {"sqrt", {5e-324, {}}}}};
  const std::string text = format_machine(model, costs);
  EXPECT_EQ(parse_compute_costs(text, "again.toml"), costs) << text;
  expect_same(parse_machine(text, "again.toml"), model);
}

class MachineFileOnDisk : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  static std::string message_of_reading(const std::string& path) {
    try {
      read_machine_file(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "was read";
  }
  const std::string folder_ = testing::TempDir() + "machine_file_" +
                              testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(MachineFileOnDisk, WrittenFileReadsBack) {
  write_machine_file(full_model(), path("m.toml"));
  expect_same(full_model(), read_machine_file(path("m.toml")));
  EXPECT_FALSE(std::filesystem::exists(path("m.toml.new")));
}

TEST_F(MachineFileOnDisk, ErrorNamesTheFile) {
  std::ofstream(path("m.toml")) << "[machine]\nranks = -1\n";
  EXPECT_EQ(message_of_reading(path("m.toml")).find(path("m.toml") + ":2: "), 0u);
}

TEST_F(MachineFileOnDisk, MissingFile) {
  EXPECT_EQ(message_of_reading(path("none.toml")),
            path("none.toml") + ": cannot read the machine model: No such file or directory");
}

TEST_F(MachineFileOnDisk, EmptyFileIsNoMachineModel) {
  std::ofstream(path("empty.toml")).close();
  EXPECT_EQ(message_of_reading(path("empty.toml")),
            path("empty.toml") + ":1: not a machine model: it has no [machine] table");
}

TEST_F(MachineFileOnDisk, FolderIsNoMachineModel) {
  EXPECT_EQ(message_of_reading(folder_),
            folder_ + ": cannot read the machine model: Is a directory");
}

TEST_F(MachineFileOnDisk, FailedWriteLeavesWhatWasThere) {
  EXPECT_THROW(write_machine_file(full_model(), path("none/m.toml")), Error);
  // The target is a folder with content: it cannot be replaced.
  std::filesystem::create_directories(path("m.toml/inside"));
  EXPECT_THROW(write_machine_file(full_model(), path("m.toml")), Error);
  EXPECT_TRUE(std::filesystem::exists(path("m.toml/inside")));
  EXPECT_FALSE(std::filesystem::exists(path("m.toml.new")));
}

}  // namespace
// Between any two lines: what is left is a model of its own.
TEST(MachineFile, CutOff) {
  const std::string text = format_machine(full_model());
  const std::size_t second = text.find('\n') + 1;
  for (std::size_t end = second; end < text.size(); end = text.find('\n', end) + 1) {
    SCOPED_TRACE(text.substr(0, end));
    const long lines = std::count(text.begin(), text.begin() + static_cast<long>(end), '\n');
    try {
      parse_machine(text.substr(0, end), "m.toml");
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(
          std::string(error.what())
              .find("m.toml:" + std::to_string(lines) + ": the file is cut off: its last line, "),
          0U)
          << error.what();
    }
  }
  EXPECT_NO_THROW(parse_machine(
      text + "\n[[function]]\nname = \"comm_rank\"\n[[function.regime]]\nc = 1\n", "longer.toml"));
  // Whoever wrote it by hand says nothing of its length.
  EXPECT_NO_THROW(parse_machine("[machine]\nname = \"m\"\n", "short.toml"));
}

}  // namespace foretrace::machine
