// Thresholds and jumps are found to the byte, by oracles whose answer is known.
#include "measure/core/bisection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include <map>

namespace foretrace::measure {
namespace {

using testing::ElementsAre;

TEST(LastThatHolds, EveryPlaceIsFoundToTheByte) {
  for (const std::int64_t truth : {-1, 0, 1, 255, 256, 4040, 8255, 9999})
    EXPECT_EQ(last_that_holds([truth](std::int64_t size) { return size <= truth; }, 10'000), truth);
}

TEST(LastThatHolds, NoneUpToTheLargestSizeTakesOneQuestion) {
  int questions = 0;
  const auto holds = [&questions](std::int64_t) { return ++questions > 0; };
  EXPECT_EQ(last_that_holds(holds, 1000), std::nullopt);
  EXPECT_EQ(questions, 1);
}

TEST(LastThatHolds, OneWrongAnswerStartsTheSearchAgain) {
  // The 3rd question is answered with no although it holds: an interruption.
  int questions = 0;
  const auto holds = [&questions](std::int64_t size) { return ++questions != 3 && size <= 600; };
  EXPECT_EQ(last_that_holds(holds, 1000), 600);
}

TEST(LastThatHolds, ConfirmsBothSidesThreeTimes) {
  int at = 0, above = 0;
  const auto holds = [&](std::int64_t size) {
    at += size == 256;
    above += size == 257;
    return size <= 256;
  };
  EXPECT_EQ(last_that_holds(holds, 4096), 256);
  EXPECT_GE(at, kConfirmations);
  EXPECT_GE(above, kConfirmations);
}

TEST(LastThatHolds, OutOfTimeIsNoAnswer) {
  int questions = 0;
  const auto holds = [&questions](std::int64_t size) -> std::optional<bool> {
    if (++questions > 4) return std::nullopt;
    return size <= 256;
  };
  EXPECT_EQ(last_that_holds(holds, 4096), std::nullopt);
  EXPECT_EQ(questions, 5);
}

TEST(LastThatHolds, NothingIsSaidWhereAnswersContradictEachOther) {
  // Every size is answered truly the first time, and with the opposite after it.
  std::map<std::int64_t, int> asked;
  const auto holds = [&asked](std::int64_t size) { return (asked[size]++ == 0) == (size <= 600); };
  EXPECT_EQ(last_that_holds(holds, 1000), std::nullopt);
}

// 100 ns and 1 ns for each byte, half as much again from the byte after `last`.
double jumping(std::uint64_t bytes, std::uint64_t last) {
  const double smooth = 100 + static_cast<double>(bytes);
  return 1e-9 * (bytes > last ? 1.5 * smooth : smooth);
}

std::vector<CurvePoint> curve(std::uint64_t last) {
  std::vector<CurvePoint> points;
  for (std::uint64_t bytes = 1; bytes <= 65536; bytes *= 2)
    points.push_back({bytes, jumping(bytes, last)});
  return points;
}

TEST(Jumps, TheIntervalThatStandsOutIsTheFirstCandidate) {
  const auto candidates = jump_candidates(curve(4040), 0.05);
  ASSERT_FALSE(candidates.empty());
  EXPECT_EQ(candidates[0], (Interval{2048, 4096}));
}

TEST(Jumps, ASmoothCurveHasNoCandidateWhereTheGridIsFine) {
  std::vector<CurvePoint> points;
  for (double bytes = 64; bytes < 1e6; bytes *= 1.26)
    points.push_back({static_cast<std::uint64_t>(bytes), 1e-9 * (500 + bytes)});
  EXPECT_THAT(jump_candidates(points, 0.05), ElementsAre());
}

TEST(Jumps, FoundToTheByteAndToTheStep) {
  for (const std::uint64_t last : {2049u, 2500u, 3333u, 4040u, 4095u}) {
    const auto seconds = [last](std::uint64_t bytes) -> std::optional<double> {
      return jumping(bytes, last);
    };
    EXPECT_EQ(find_jump(seconds, {2048, 4096}, 1, 0.05), last);
    EXPECT_EQ(find_jump(seconds, {2048, 4096}, 8, 0.05), last / 8 * 8);
  }
}

TEST(Jumps, AFallIsAJumpToo) {
  const auto seconds = [](std::uint64_t bytes) -> std::optional<double> {
    return bytes > 777 ? 1e-6 : 2e-6;
  };
  EXPECT_EQ(find_jump(seconds, {512, 1024}, 1, 0.05), 777u);
}

TEST(Jumps, SteepIsNoJump) {
  const auto seconds = [](std::uint64_t bytes) -> std::optional<double> {
    return 1e-9 * static_cast<double>(bytes);
  };
  EXPECT_EQ(find_jump(seconds, {1000, 2000}, 1, 0.05), std::nullopt);
}

TEST(Jumps, OneContradictionRefutes) {
  // From the 4th time on, the larger size is as quick as the smaller.
  int asked = 0;
  const auto seconds = [&asked](std::uint64_t bytes) -> std::optional<double> {
    return bytes == 101 && ++asked < 4 ? 2e-6 : 1e-6;
  };
  EXPECT_EQ(find_jump(seconds, {100, 101}, 1, 0.05), std::nullopt);
  asked = -100;
  EXPECT_EQ(find_jump(seconds, {100, 101}, 1, 0.05), 100u);
}

TEST(Jumps, OutOfTimeFindsNothing) {
  int asked = 0;
  const auto seconds = [&asked](std::uint64_t bytes) -> std::optional<double> {
    if (++asked > 5) return std::nullopt;
    return jumping(bytes, 3000);
  };
  EXPECT_EQ(find_jump(seconds, {2048, 4096}, 1, 0.05), std::nullopt);
  EXPECT_FALSE(confirm_jump(seconds, 3000, 1, 0.05));
}

// Steps of a fifth after 64 and 3333 bytes; `asked` counts the questions.
struct Steps {
  int asked = 0;
  std::optional<double> operator()(std::uint64_t bytes) {
    ++asked;
    return 1e-6 * (bytes > 64 ? 1.2 : 1) * (bytes > 3333 ? 1.2 : 1);
  }
};

std::vector<CurvePoint> third_octaves(Steps& steps) {
  std::vector<CurvePoint> points;
  for (int k = 0; k <= 48; ++k) {
    const auto bytes = static_cast<std::uint64_t>(std::llround(std::exp2(k / 3.0)));
    if (points.empty() || bytes > points.back().bytes) points.push_back({bytes, *steps(bytes)});
  }
  return points;
}

TEST(SearchJumps, AllStepsAreFoundAndNothingElse) {
  Steps steps;
  const auto points = third_octaves(steps);
  const FoundJumps found = search_jumps(std::ref(steps), points, {}, 1, 0.05);
  EXPECT_THAT(found.jumps, ElementsAre(64, 3333));
  EXPECT_THAT(found.between, ElementsAre());
}

TEST(SearchJumps, APowerOfTwoIsTriedFirst) {
  Steps steps;
  const auto points = third_octaves(steps);
  steps.asked = 0;
  search_jumps(std::ref(steps), points, {3333}, 1, 0.05);
  EXPECT_EQ(steps.asked, 2 * kConfirmations) << "64 and 65 alone";
}

TEST(SearchJumps, AMissedJumpIsLookedForAgain) {
  Steps steps;
  const auto points = third_octaves(steps);
  // The first 8 answers hide every step: more than one try.
  int asked = 0;
  const auto seconds = [&](std::uint64_t bytes) -> std::optional<double> {
    return ++asked <= 8 ? 1e-6 : steps(bytes);
  };
  EXPECT_THAT(search_jumps(seconds, points, {}, 1, 0.05).jumps, ElementsAre(64, 3333));
}

TEST(SearchJumps, AJumpThatMovesGetsSizesAroundIt) {
  Steps steps;
  const auto points = third_octaves(steps);
  const auto smooth = [](std::uint64_t) -> std::optional<double> { return 1e-6; };
  const FoundJumps found = search_jumps(smooth, points, {64}, 1, 0.05);
  EXPECT_THAT(found.jumps, ElementsAre(64));
  // Quarters of 3251 to 4096.
  EXPECT_THAT(found.between, ElementsAre(3462, 3673, 3884));
}

TEST(SearchJumps, OutOfTimeIsNoReasonForMoreSizes) {
  Steps steps;
  const auto points = third_octaves(steps);
  const auto late = [](std::uint64_t) -> std::optional<double> { return std::nullopt; };
  const FoundJumps found = search_jumps(late, points, {}, 1, 0.05);
  EXPECT_THAT(found.jumps, ElementsAre());
  EXPECT_THAT(found.between, ElementsAre());
}

}  // namespace
}  // namespace foretrace::measure
