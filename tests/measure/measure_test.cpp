#include "measure/measure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "machine/machine_file.hpp"

namespace foretrace::measure {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
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
    SampleSet set;
    set.info = {{"host", "pine"}, {"mpi_library", "Some MPI"}, {"start", "common clock"}};
    const int launch = static_cast<int>(calls_.size());
    for (std::uint64_t d : {1, 2, 4})
      set.samples.push_back({"send", 2, d, launch, 1e-6 * static_cast<double>(d), true});
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
};

TEST_F(RunMeasure, WritesTheModelAndTheSamplesOfAllLaunches) {
  std::ostringstream table;
  options_.table = &table;
  EXPECT_EQ(run_measure(options_), 0);
  EXPECT_EQ(files(), (std::vector<std::string>{"m.samples.csv", "m.toml"}));
  EXPECT_EQ(read_samples(samples_path(options_.output)).samples.size(), 9u);
  const machine::MachineModel model = machine::read_machine_file(options_.output);
  EXPECT_EQ(model.name, "pine, Some MPI, 2 ranks");
  EXPECT_EQ(model.source, "foretrace measure, 3 launches, start by common clock");
  EXPECT_NEAR(evaluate_seconds(model, *model.find("send"), 2, Bytes(3), machine::Bound::avg), 3e-6,
              1e-15);
  EXPECT_THAT(table.str(), HasSubstr("send"));
}

TEST_F(RunMeasure, StartsTheProgramOfTheMpiOnceForEachLaunch) {
  options_.effort = EffortLevel::quick;
  options_.max_bytes = 64;
  run_measure(options_);
  ASSERT_EQ(calls_.size(), 1u);
  EXPECT_EQ(calls_[0][0], "foretrace-measure-openmpi");
  EXPECT_THAT(calls_[0], testing::IsSupersetOf({"--launch", "1", "--quick", "--max-bytes", "64"}));
}

TEST_F(RunMeasure, AFailureKeepsWhatWasThereAndWhatWasMeasured) {
  std::ofstream(options_.output) << "old model";
  std::ofstream(samples_path(options_.output)) << "old samples";
  fails_at_ = 3;
  try {
    run_measure(options_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("status 7 in launch 3 of 3"));
    EXPECT_THAT(error.what(), HasSubstr("m.samples.csv.part"));
  }
  EXPECT_EQ(content(options_.output), "old model");
  EXPECT_EQ(content(samples_path(options_.output)), "old samples");
  EXPECT_EQ(read_samples(samples_path(options_.output) + ".part").samples.size(), 6u);

  // The next one does not write over what was saved.
  fails_at_ = 0;
  calls_.clear();
  EXPECT_EQ(run_measure(options_), 0);
  EXPECT_EQ(read_samples(samples_path(options_.output) + ".part").samples.size(), 6u);
  EXPECT_EQ(read_samples(samples_path(options_.output)).samples.size(), 9u);
}

TEST_F(RunMeasure, RefitGivesTheSameModel) {
  run_measure(options_);
  const std::string first = content(options_.output);
  EXPECT_EQ(refit(options_), 0);
  EXPECT_EQ(content(options_.output), first);
  EXPECT_EQ(calls_.size(), 3u);
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
