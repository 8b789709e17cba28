#include "stats/segmentation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "synthetic.hpp"

namespace foretrace::stats {
namespace {

using synthetic::Launch;
using synthetic::Noise;
using synthetic::NoiseKind;
using synthetic::Random;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<double> kSizes = synthetic::sizes(1, 1 << 20, 60);
const Noise kQuiet{NoiseKind::independent, 0.01, 0.002, 0.05};

// Five launches of each curve: curve c is (c + 1) times `time`.
template <typename Time>
std::vector<CurvePoint> launches_of(Time time, std::size_t curves = 1, std::size_t launches = 5,
                                    const Noise& noise = kQuiet) {
  Random random(3);
  std::vector<CurvePoint> points;
  for (std::size_t g = 0; g < launches; ++g) {
    Launch launch(noise, random);
    for (std::size_t c = 0; c < curves; ++c)
      for (double x : kSizes)
        points.push_back({x, c, g, launch.value(static_cast<double>(c + 1) * time(x))});
  }
  return points;
}

double with_jump(double x) {
  return x <= 4000 ? 10 + 0.002 * x : 30 + 0.001 * x;
}
double with_kink(double x) {
  return 10 + 0.0001 * x + 0.01 * std::max(x - 5000, 0.0);
}

TEST(Segmentation, OneLineIsOnePiece) {
  const Segmentation found = segment(launches_of([](double x) { return 5 + 0.01 * x; }));
  EXPECT_EQ(found.pieces.size(), 1u);
  EXPECT_THAT(found.breaks, IsEmpty());
  EXPECT_THAT(found.notes, IsEmpty());
  EXPECT_NEAR(*found.evaluate(0, 1000), 15, 0.1);
  EXPECT_EQ(found.pieces[0].distinct_x, kSizes.size());
}

TEST(Segmentation, AJumpIsFoundBetweenTheRightSizes) {
  for (std::size_t curves : {1, 3}) {
    const Segmentation found = segment(launches_of(with_jump, curves));
    ASSERT_EQ(found.breaks.size(), 1u);
    const Break& at = found.breaks[0];
    EXPECT_EQ(at.kind, BreakKind::jump);
    EXPECT_FALSE(at.confirmed);
    EXPECT_LE(at.below, 4000);
    EXPECT_GT(at.above, 4000);
    EXPECT_DOUBLE_EQ(at.x, std::sqrt(at.below * at.above));
    EXPECT_NEAR(at.jump, 34.0 / 18 - 1, 0.05);
    EXPECT_GT(at.significance, 5);
    EXPECT_NEAR(*found.evaluate(curves - 1, 8000), static_cast<double>(curves) * 38, 0.6);
    EXPECT_EQ(found.pieces[0].to, at.below);
    EXPECT_EQ(found.pieces[1].from, at.above);
  }
}

TEST(Segmentation, AKinkIsContinuous) {
  const Segmentation found = segment(launches_of(with_kink));
  ASSERT_EQ(found.breaks.size(), 1u);
  const Break& at = found.breaks[0];
  EXPECT_EQ(at.kind, BreakKind::kink);
  EXPECT_NEAR(at.x, 5000, 200);
  EXPECT_NEAR(at.jump, 0, 1e-9);
  EXPECT_EQ(found.run_start(1), 0u);
  EXPECT_NEAR(found.pieces[1].lines[0].slope, 0.0101, 1e-4);
}

TEST(Segmentation, GivenBreaksAreAlwaysBreaks) {
  SegmentSettings settings;
  settings.given = {65536, 100, 0.5, 1e9};  // the last two have sizes on one side only
  const Segmentation found = segment(launches_of([](double x) { return 5 + 0.01 * x; }), settings);
  ASSERT_EQ(found.breaks.size(), 2u);
  EXPECT_EQ(found.breaks[0].x, 100);
  EXPECT_EQ(found.breaks[1].x, 65536);
  EXPECT_EQ(found.breaks[0].kind, BreakKind::given);
  EXPECT_EQ(found.fewest_pieces, 3u);
  EXPECT_EQ(found.piece_of(100), 0u);
  EXPECT_EQ(found.piece_of(100.5), 1u);
}

TEST(Segmentation, GivenBreaksCloserThanAPieceMayBe) {
  SegmentSettings settings;
  settings.given = {kSizes[20], kSizes[22]};  // two sizes between
  const Segmentation found = segment(launches_of([](double x) { return 5 + 0.01 * x; }), settings);
  ASSERT_EQ(found.pieces.size(), 3u);
  EXPECT_EQ(found.pieces[1].distinct_x, 2u);
}

TEST(Segmentation, AConfirmedJumpIsPutWhereItWasConfirmed) {
  SegmentSettings settings;
  settings.confirmed = {4000, 300000};  // at the second there is nothing to be found
  const Segmentation found = segment(launches_of(with_jump), settings);
  ASSERT_EQ(found.breaks.size(), 1u);
  EXPECT_TRUE(found.breaks[0].confirmed);
  EXPECT_EQ(found.breaks[0].x, 4000);
  EXPECT_EQ(found.breaks[0].kind, BreakKind::jump);
}

TEST(Segmentation, ALaunchThatIsSlowerAsAWholeMovesNothing) {
  const Segmentation found =
      segment(launches_of(with_jump, 1, 5, {NoiseKind::common, 0.2, 0.002, 0.05}));
  ASSERT_EQ(found.breaks.size(), 1u);
  EXPECT_LE(found.breaks[0].below, 4000);
  EXPECT_GT(found.breaks[0].above, 4000);
  EXPECT_LT(found.noise, 0.01);
}

TEST(Segmentation, NothingSentHasAWayOfItsOwn) {
  std::vector<CurvePoint> points = launches_of([](double x) { return 5 + 0.01 * x; });
  for (std::size_t g = 0; g < 5; ++g) points.push_back({0, 0, g, 2});
  const Segmentation found = segment(points);
  ASSERT_EQ(found.breaks.size(), 1u);
  EXPECT_EQ(found.breaks[0].x, 0);
  EXPECT_NEAR(*found.evaluate(0, 0), 2, 0.05);
  EXPECT_NEAR(*found.evaluate(0, 1), 5, 0.1);
}

TEST(Segmentation, OneLaunch) {
  const Segmentation found = segment(launches_of(with_jump, 1, 1));
  EXPECT_THAT(found.notes, ElementsAre(Note::one_group));
  ASSERT_EQ(found.breaks.size(), 1u);
  EXPECT_LE(found.breaks[0].below, 4000);
  EXPECT_GT(found.breaks[0].above, 4000);
}

TEST(Segmentation, CurvesOfDifferentSizes) {
  // The second curve was measured above 1,000 only.
  std::vector<CurvePoint> points = launches_of(with_jump, 2);
  std::erase_if(points,
                [](const CurvePoint& point) { return point.curve == 1 && point.x < 10000; });
  const Segmentation found = segment(points);
  ASSERT_EQ(found.breaks.size(), 1u);
  EXPECT_FALSE(found.evaluate(1, 10).has_value());
  EXPECT_NEAR(*found.evaluate(1, 20000), 100, 2);
  EXPECT_FALSE(found.evaluate(7, 10).has_value());
}

TEST(Segmentation, DegenerateData) {
  const Segmentation none = segment({});
  EXPECT_THAT(none.notes, ElementsAre(Note::no_points));
  EXPECT_FALSE(none.evaluate(0, 1).has_value());

  const Segmentation one = segment({{8, 0, 0, 5}, {8, 0, 1, 5}, {8, 0, 2, 5}});
  EXPECT_THAT(one.notes, ElementsAre(Note::one_size));
  EXPECT_EQ(*one.evaluate(0, 100), 5);

  const Segmentation two = segment({{8, 0, 0, 5}, {16, 0, 0, 7}});
  EXPECT_THAT(two.notes, Contains(Note::too_few_sizes));
  EXPECT_NEAR(*two.evaluate(0, 12), 6, 1e-9);

  const Segmentation constant =
      segment(launches_of([](double) { return 3.0; }, 1, 3, {NoiseKind::common, 0, 0, 0}));
  EXPECT_EQ(constant.pieces.size(), 1u);
  EXPECT_NEAR(*constant.evaluate(0, 77), 3, 1e-9);

  const Segmentation zeros = segment({{8, 0, 0, 0}, {16, 0, 0, 0}});
  EXPECT_THAT(zeros.notes, Contains(Note::no_points));
  SegmentSettings settings;
  settings.negligible = 0.1;
  std::vector<CurvePoint> points;
  for (double x : kSizes) points.push_back({x, 0, 0, 0});
  const Segmentation counted = segment(points, settings);
  EXPECT_EQ(counted.pieces.size(), 1u);
  EXPECT_EQ(*counted.evaluate(0, 3), 0);
}

TEST(Segmentation, SameInputSameResult) {
  const auto points = launches_of(with_kink, 2);
  const Segmentation first = segment(points);
  const Segmentation second = segment(points);
  ASSERT_EQ(first.breaks.size(), second.breaks.size());
  for (std::size_t b = 0; b < first.breaks.size(); ++b)
    EXPECT_EQ(first.breaks[b].x, second.breaks[b].x);
}

TEST(Ramp, SlopesOfOneInterval) {
  EXPECT_EQ(ramp(3, 5, 9), 0);
  EXPECT_EQ(ramp(7, 5, 9), 2);
  EXPECT_EQ(ramp(20, 5, 9), 4);
}

}  // namespace
}  // namespace foretrace::stats
