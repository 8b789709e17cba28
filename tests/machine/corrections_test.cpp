// What was measured beside an equation (size_factors.hpp), in models and in their files.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "machine/machine_file.hpp"
#include "machine/timing.hpp"

namespace foretrace::machine {
namespace {

// 10 + d us. Measured with 4 and 16 ranks.
constexpr const char* kFile = R"([machine]
time_unit = "us"

[[function]]
name = "bcast"
[[function.regime]]
terms = { "1" = 10.0, "d" = 1.0 }
interval = [0.5, 2.0]
[[function.correction]]
ranks = 4
factors = [[0, 3.0], [10, 1.0], [90, 4.0]]
[[function.correction]]
ranks = 16
factors = [[10, 2.0], [90, 8.0]]
)";

double time(int ranks, std::uint64_t bytes, Bound bound = Bound::avg) {
  const MachineModel model = parse_machine(kFile, "m.toml");
  return 1e6 * evaluate_seconds(model, *model.find("bcast"), ranks, Bytes(bytes), bound);
}

TEST(Corrections, WhatWasMeasuredIsMet) {
  EXPECT_DOUBLE_EQ(time(4, 0), 30);
  EXPECT_DOUBLE_EQ(time(4, 10), 20);
  EXPECT_DOUBLE_EQ(time(4, 90), 400);
  EXPECT_DOUBLE_EQ(time(16, 10), 40);
  EXPECT_DOUBLE_EQ(time(16, 90), 800);
}

// 30 is in the middle of 10 and 90, and 8 of 4 and 16, as logarithms go: the factors' geometric
// means.
TEST(Corrections, BetweenThemLogarithmsAreStraight) {
  EXPECT_NEAR(time(4, 30), 40 * 2, 1e-9);
  EXPECT_NEAR(time(16, 30), 40 * 4, 1e-9);
  EXPECT_NEAR(time(8, 10), 20 * std::sqrt(2), 1e-9);
  EXPECT_NEAR(time(8, 30), 40 * std::sqrt(8), 1e-9);
}

TEST(Corrections, BeyondThemTheNearestHolds) {
  EXPECT_DOUBLE_EQ(time(2, 90), 400);
  EXPECT_DOUBLE_EQ(time(64, 90), 800);
  EXPECT_DOUBLE_EQ(time(4, 990), 4000);
  EXPECT_DOUBLE_EQ(time(16, 0), 20);
}

TEST(Corrections, IntervalsAreOfTheCorrectedTime) {
  EXPECT_DOUBLE_EQ(time(4, 90, Bound::min), 200);
  EXPECT_DOUBLE_EQ(time(4, 90, Bound::max), 800);
}

// A message of 10 + d us.
MachineModel corrected_message(const std::string& factors) {
  return parse_machine(
      "[machine]\ntime_unit = \"us\"\n[[function]]\nname = \"recv\"\n"
      "[[function.regime]]\nterms = { \"1\" = 10.0, \"d\" = 1.0 }\n"
      "[[function.correction]]\nranks = 2\nfactors = " +
          factors + "\n",
      "m.toml");
}

// A put is a message there and an empty one back: 1.5 (10 + 90), and 10.
TEST(Corrections, StayWithTheMessageOfAnAccess) {
  const MachineModel model = corrected_message("[[1, 1.0], [90, 1.5]]");
  const Function put = *predicted_function(model, "put");
  EXPECT_NEAR(1e6 * evaluate_seconds(model, put, 2, Bytes(90), Bound::avg), 160, 1e-9);
}

// No size takes less than is said: 10 + d, of which 4 bytes take a quarter, and 3 and 5 not much
// more.
TEST(Corrections, TheLeastOfAllSizesIsNoMoreThanAny) {
  const MachineModel model = corrected_message("[[1, 1.0], [4, 0.25], [90, 1.5]]");
  const Timing timing(model, Bound::avg);
  const Time least = timing.least(Cost::recv);
  for (std::uint64_t bytes = 0; bytes < 200; ++bytes)
    EXPECT_LE(least, timing.cost(Cost::recv, 2, Bytes(bytes))) << bytes;
  EXPECT_GE(least, Time::ns(2500));  // a quarter of the least
  EXPECT_LE(least, Time::ns(3500));
}

TEST(Corrections, AreWrittenAsTheyAreRead) {
  const std::string text = format_machine(parse_machine(kFile, "m.toml"));
  EXPECT_NE(text.find("[[function.correction]]\nranks = 4\nfactors = [[0, 3.0], [10, 1.0], [90, "
                      "4.0]]\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(format_machine(parse_machine(text, "again")), text);
}

std::string fault_of(const std::string& correction) {
  try {
    parse_machine(
        "[machine]\n[[function]]\nname = \"bcast\"\n[[function.regime]]\nc = 1\n" + correction,
        "m.toml");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Corrections, FaultsAreNamed) {
  const auto of = [](const std::string& keys) {
    return fault_of("[[function.correction]]\n" + keys);
  };
  EXPECT_EQ(of("ranks = 2\nfactors = [[0, 0.5]]\n"), "");
  EXPECT_NE(of("factors = [[1, 0.5]]\n").find("needs 'ranks'"), std::string::npos);
  EXPECT_NE(of("ranks = 0\nfactors = [[1, 0.5]]\n").find("needs 'ranks'"), std::string::npos);
  EXPECT_NE(of("ranks = 2\n").find("needs 'factors'"), std::string::npos);
  EXPECT_NE(of("ranks = 2\nfactors = []\n").find("needs 'factors'"), std::string::npos);
  EXPECT_NE(of("ranks = 2\nfactors = [[1, 0.0]]\n").find("must be above 0"), std::string::npos);
  EXPECT_NE(of("ranks = 2\nfactors = [[2, 1.0], [2, 1.0]]\n").find("ascending, 0 or more"),
            std::string::npos);
  EXPECT_NE(of("ranks = 2\nfactor = 1\n").find("unknown key 'factor'"), std::string::npos);
  EXPECT_NE(of("ranks = 2\nfactors = [[1, 1.0]]\n[[function.correction]]\nranks = 2\nfactors = "
               "[[1, 1.0]]\n")
                .find("ascending"),
            std::string::npos);
  EXPECT_NE(fault_of("correction = [1]\n").find("correction"), std::string::npos);
}

}  // namespace
}  // namespace foretrace::machine
