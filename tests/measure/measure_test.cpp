#include "measure/campaign/measure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "machine/machine_file.hpp"
#include "machine/measurement.hpp"
#include "machine/state.hpp"

namespace foretrace::measure {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string content(const std::string& path) {
  return read_if_possible(path);
}

// Stands in for the MPI program: writes a fixed set of samples.
class RunMeasure : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(testing::TempDir()) /
                 testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    options_.mpi = "openmpi";
    options_.output = (directory_ / "m.toml").string();
    options_.launch = [this](const std::vector<std::string>& argv) { return pretend(argv); };
  }
  void TearDown() override { fs::remove_all(directory_); }

  int pretend(const std::vector<std::string>& argv) {
    calls_.push_back(argv);
    if (static_cast<int>(calls_.size()) == fails_at_) return 7;
    const auto number = std::ranges::find(argv, "--launch");
    const std::string launch = number == argv.end() ? "1" : number[1];
    SampleSet set;
    set.info = {{"host", "pine"},
                {"mpi_library", "Some MPI"},
                {"start", "common clock"},
                {"oversubscribed", oversubscribed_ ? "yes" : "no"},
                {"sync_threshold", "4041"},
                {"launch_" + launch + "_bandwidth", "1e10"},
                {"launch_" + launch + "_bounce", "4e-8"}};
    if (launch == "1") set.info.insert({{"jumps_recv", "256 4040"}, {"jumps_send", "512"}});
    if (launch == "2")
      set.info.insert({{"jumps_recv", "256 1026"}, {"sizes_between", "5000 6000"}});
    const bool other = std::stoi(launch) == other_state_;
    if (other) set.info["launch_" + launch + "_bounce"] = "1.8e-7";
    for (std::uint64_t d : {1, 2, 4})
      set.samples.push_back({"send", 2, d, std::stoi(launch),
                             1e-6 * static_cast<double>(d) * (other ? 3 : 1), !disturbed_});
    if (other_line_ > 0) {
      const std::vector<Sample> same = set.samples;
      for (Sample& sample : set.samples) sample.cache_line = 4e-8;
      for (const Sample& sample : same)
        set.samples.push_back({sample.function, sample.ranks, sample.bytes, sample.launch,
                               2.5 * sample.seconds, sample.kept, other_line_});
    }
    write_samples(set, argv.at(2));
    return 0;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_))
      names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }

  fs::path directory_;
  MeasureOptions options_;
  std::vector<std::vector<std::string>> calls_;
  int fails_at_ = 0;
  int other_state_ = 0;
  double other_line_ = 0;  // of half of the blocks
  bool oversubscribed_ = false;
  bool disturbed_ = false;
};

TEST_F(RunMeasure, WritesTheModelAndTheSamplesOfAllLaunches) {
  std::ostringstream table;
  options_.table = &table;
  EXPECT_EQ(run_measure(options_), 0);
  EXPECT_EQ(files(), (std::vector<std::string>{"m.samples.csv", "m.toml"}));
  EXPECT_EQ(read_samples(samples_path(options_.output)).samples.size(), 30u);
  const machine::MachineModel model = machine::read_machine_file(options_.output);
  EXPECT_EQ(model.name, "pine, Some MPI, 2 ranks");
  EXPECT_EQ(model.source, "foretrace measure, 10 launches, start by common clock, buffers warm");
  EXPECT_NEAR(evaluate_seconds(model, *model.find("send"), 2, Bytes(3), machine::Bound::avg), 3e-6,
              1e-15);
  EXPECT_THAT(table.str(), HasSubstr("send"));
  EXPECT_THAT(machine::read_invalid_reasons(options_.output), testing::IsEmpty());
}

TEST_F(RunMeasure, StartsTheProgramOfTheMpiOnceForEachLaunch) {
  options_.effort = EffortLevel::quick;
  options_.max_bytes = 64;
  options_.cold = true;
  options_.start_by_barrier = true;
  run_measure(options_);
  ASSERT_EQ(calls_.size(), 5u);
  EXPECT_EQ(calls_[0][0], "foretrace-measure-openmpi");
  EXPECT_THAT(calls_[0], testing::IsSupersetOf({"--launch", "1", "--quick", "--max-bytes", "64",
                                                "--buffers", "cold", "--start", "barrier"}));
  // Three launches look for jumps; each knows what those before it found.
  EXPECT_THAT(calls_[0], testing::Not(testing::Contains("--thresholds")));
  EXPECT_THAT(calls_[1],
              testing::IsSupersetOf({"--launch", "2", "--thresholds", "256,512,4040", "--search"}));
  EXPECT_THAT(calls_[2],
              testing::IsSupersetOf({"--thresholds", "256,512,1026,4040,5000,6000", "--search"}));
  EXPECT_THAT(calls_[3], testing::IsSupersetOf({"--thresholds", "256,512,1026,4040,5000,6000"}));
  EXPECT_THAT(calls_[3], testing::Not(testing::Contains("--search")));
  const SampleSet set = read_samples(samples_path(options_.output));
  EXPECT_EQ(set.info.at("jumps_recv"), "256 1026 4040");
  EXPECT_EQ(set.info.at("jumps_send"), "512");
}

TEST_F(RunMeasure, AChangeOfTheMachinesStateIsSaidLoudly) {
  std::ostringstream messages;
  options_.messages = &messages;
  other_state_ = 3;
  run_measure(options_);
  EXPECT_EQ(calls_.size(), 11u);
  EXPECT_THAT(messages.str(), HasSubstr("WARNING: launch 3 is not used, the machine was in another "
                                        "state (left out: cache line 180 ns, copy 10 GB/s)"));
  EXPECT_THAT(messages.str(), HasSubstr("10 launches in one state of the machine"));
  // What is left out is in the file, and in no figure.
  const SampleSet set = read_samples(samples_path(options_.output));
  EXPECT_EQ(set.samples.size(), 33u);
  EXPECT_EQ(set.info.at("launch_2_state"), "used");
  const machine::MachineModel model = machine::read_machine_file(options_.output);
  EXPECT_NEAR(evaluate_seconds(model, *model.find("send"), 2, Bytes(3), machine::Bound::avg), 3e-6,
              1e-15);
}

TEST_F(RunMeasure, WhatTheOtherStateTakesIsKeptAndSaid) {
  std::ostringstream messages;
  options_.messages = &messages;
  run_measure(options_);
  EXPECT_THAT(messages.str(), testing::Not(HasSubstr("--other-state")));
  other_line_ = 2e-7;
  run_measure(options_);
  EXPECT_THAT(messages.str(), HasSubstr("the machine was in another state for 50.0 % of the "
                                        "measurement; predictions for that one: --other-state\n"));
  const machine::MachineModel model = machine::read_machine_file(options_.output);
  const machine::MachineModel other = machine::in_other_state(model);
  const auto send = [](const machine::MachineModel& of) {
    return evaluate_seconds(of, *of.find("send"), 2, Bytes(3), machine::Bound::avg);
  };
  EXPECT_NEAR(send(model), 3e-6, 1e-15);
  EXPECT_NEAR(send(other), 7.5e-6, 1e-15);
}

TEST_F(RunMeasure, MoreRanksThanCoresLeaveNothing) {
  oversubscribed_ = true;
  try {
    run_measure(options_);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("more ranks than processor cores"));
    EXPECT_THAT(error.what(), HasSubstr("Use fewer ranks (-n), or a machine with more cores"));
    EXPECT_THAT(error.what(), HasSubstr("--keep-invalid"));
  }
  ASSERT_EQ(calls_.size(), 1u);
  EXPECT_THAT(calls_[0], testing::Contains("--need-cores"));
  EXPECT_THAT(files(), testing::IsEmpty());
  std::ostringstream out;
  EXPECT_THROW(find_thresholds_only(options_, out), UsageError);
  EXPECT_EQ(out.str(), "");
}

TEST_F(RunMeasure, MoreRanksThanCoresAreMeasuredWhereAsked) {
  std::ostringstream messages;
  options_.messages = &messages;
  options_.keep_invalid = true;
  oversubscribed_ = true;
  run_measure(options_);
  ASSERT_EQ(calls_.size(), 1u);
  EXPECT_THAT(calls_[0], testing::Not(testing::Contains("--need-cores")));
  EXPECT_THAT(messages.str(), HasSubstr("cannot be characterised"));
  EXPECT_THAT(machine::read_machine_file(options_.output).source,
              HasSubstr("MORE RANKS THAN CORES"));
}

TEST_F(RunMeasure, AModelWithoutAUsableFunctionIsNotWritten) {
  std::ofstream(options_.output) << "old model";
  disturbed_ = true;
  try {
    run_measure(options_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("m.toml: not written"));
    EXPECT_THAT(error.what(), HasSubstr("m.samples.csv; --refit --keep-invalid"));
  }
  EXPECT_EQ(content(options_.output), "old model");
  EXPECT_EQ(files(), (std::vector<std::string>{"m.samples.csv", "m.toml"}));
  EXPECT_THROW(refit(options_), Error);
  options_.keep_invalid = true;
  EXPECT_EQ(refit(options_), 0);
  EXPECT_THAT(machine::read_machine_file(options_.output).source, HasSubstr("INVALID: send"));
}

TEST_F(RunMeasure, FunctionsThatAreNotToBeTrustedAreMarked) {
  std::ostringstream messages, table;
  options_.messages = &messages;
  options_.table = &table;
  options_.keep_invalid = true;
  disturbed_ = true;
  run_measure(options_);
  EXPECT_THAT(messages.str(), HasSubstr("WARNING: INVALID"));
  EXPECT_THAT(table.str(), testing::ContainsRegex("send .* INVALID"));
  EXPECT_THAT(machine::read_machine_file(options_.output).source, HasSubstr("INVALID: send"));
  EXPECT_THAT(machine::read_invalid_reasons(options_.output),
              testing::ElementsAre("ranks were switched out nearly all the time in send"));
  EXPECT_EQ(read_samples(samples_path(options_.output)).info.at("invalid"), "send");
}

TEST_F(RunMeasure, AFailureKeepsWhatWasThereAndIsGoneOnWith) {
  std::ofstream(options_.output) << "old model";
  std::ofstream(samples_path(options_.output)) << "old samples";
  fails_at_ = 3;
  try {
    run_measure(options_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("status 7 in launch 3; the launches before it are in"));
    EXPECT_THAT(error.what(), HasSubstr("the same command goes on from there"));
  }
  EXPECT_EQ(content(options_.output), "old model");
  EXPECT_EQ(content(samples_path(options_.output)), "old samples");
  EXPECT_EQ(files(), (std::vector<std::string>{"m.samples.csv", "m.samples.csv.launch-1",
                                               "m.samples.csv.launch-2", "m.toml"}));

  // The next one makes the three that are missing.
  fails_at_ = 0;
  std::ostringstream messages;
  options_.messages = &messages;
  EXPECT_EQ(run_measure(options_), 0);
  EXPECT_THAT(messages.str(), HasSubstr("going on with the 2 launches that an unfinished"));
  EXPECT_EQ(calls_.size(), 3u + 8u);
  EXPECT_THAT(calls_[3], testing::IsSupersetOf({"--launch", "3", "--thresholds"}));
  EXPECT_EQ(files(), (std::vector<std::string>{"m.samples.csv", "m.toml"}));
  const SampleSet set = read_samples(samples_path(options_.output));
  EXPECT_EQ(set.samples.size(), 30u);
  EXPECT_EQ(set.samples.back().launch, 10);
}

TEST_F(RunMeasure, OtherArgumentsDoNotGoOnWithTheLaunchesOfTheseOnes) {
  fails_at_ = 3;
  EXPECT_THROW(run_measure(options_), Error);
  fails_at_ = 0;
  options_.cold = true;
  try {
    run_measure(options_);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("m.samples.csv.launch-1 is a launch of an unfinished"));
    EXPECT_THAT(error.what(), HasSubstr("buffers warm; now"));
    EXPECT_THAT(error.what(), HasSubstr("--fresh to start over"));
  }
  options_.fresh = true;
  calls_.clear();
  EXPECT_EQ(run_measure(options_), 0);
  EXPECT_EQ(calls_.size(), 10u);
  EXPECT_EQ(files(), (std::vector<std::string>{"m.samples.csv", "m.toml"}));
}

TEST_F(RunMeasure, MoreTimeIsNoOtherArgument) {
  fails_at_ = 3;
  EXPECT_THROW(run_measure(options_), Error);
  fails_at_ = 0;
  options_.budget = 10'000;
  options_.launches = 6;
  EXPECT_EQ(run_measure(options_), 0);
  EXPECT_EQ(calls_.size(), 3u + 4u);
}

TEST_F(RunMeasure, ThresholdsAlone) {
  std::ostringstream out;
  EXPECT_EQ(find_thresholds_only(options_, out), 0);
  EXPECT_EQ(out.str(), "# sync_threshold = 4041\n");
  ASSERT_EQ(calls_.size(), 1u);
  EXPECT_THAT(calls_[0], testing::Contains("--only-thresholds"));
}

TEST_F(RunMeasure, RefitGivesTheSameModel) {
  run_measure(options_);
  const std::string first = content(options_.output);
  EXPECT_EQ(refit(options_), 0);
  EXPECT_EQ(content(options_.output), first);
  EXPECT_EQ(calls_.size(), 10u);
}

TEST_F(RunMeasure, WrongUse) {
  options_.ranks = 1;
  EXPECT_THROW(run_measure(options_), UsageError);
  options_.ranks = 2;
  options_.output.clear();
  EXPECT_THROW(run_measure(options_), UsageError);
}

}  // namespace
}  // namespace foretrace::measure
