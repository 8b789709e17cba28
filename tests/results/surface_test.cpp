// Grids over two columns, speed-up on them, ratios of two, and how launches vary.
#include "results/surface.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "results/comparison.hpp"
#include "results/spread.hpp"

namespace {

using namespace foretrace;
using results::Cell;
using results::ColumnKind;
using results::Table;
using testing::ElementsAre;

std::vector<Cell> row(const std::string& way, std::int64_t ranks, std::int64_t n, double time) {
  return {way, ranks, ranks, n, time};
}

Table table(std::vector<std::vector<Cell>> rows) {
  return {{{"way", ColumnKind::fixed},
           {"ranks", ColumnKind::fixed},
           {"p", ColumnKind::parameter},
           {"n", ColumnKind::parameter},
           {"time", ColumnKind::quantity}},
          std::move(rows)};
}

// n / ranks seconds.
Table example(const std::string& way, double factor = 1) {
  Table out = table({});
  for (const std::int64_t ranks : {1, 2, 4})
    for (const std::int64_t n : {8, 32})
      out.rows.push_back(
          row(way, ranks, n, factor * static_cast<double>(n) / static_cast<double>(ranks)));
  return out;
}

// 1 to 100 by 3: both ends, and what lies between them evenly.
TEST(Surface, IsThinnedToWhatAPictureShows) {
  results::Surface surface{{}, "time", "x", "y", {}, {1, 2}, {}};
  for (int i = 1; i <= 100; ++i) surface.x.push_back(i);
  for (const double y : surface.y)
    for (const double x : surface.x) surface.values.emplace_back(x * y);
  const results::Surface thin = results::thinned(surface, 3);
  EXPECT_THAT(thin.x, ElementsAre(1, 51, 100));
  EXPECT_THAT(thin.y, ElementsAre(1, 2));
  EXPECT_THAT(thin.values, ElementsAre(1, 51, 100, 2, 102, 200));
  EXPECT_EQ(results::thinned(surface, 100).x, surface.x);
}

TEST(Surface, IsAGridOverTwoColumns) {
  const Table points = example("predict");
  EXPECT_EQ(results::axes_of(points), (std::pair<std::string, std::string>("ranks", "n")));
  const auto surfaces = results::surfaces_of(points, "ranks", "n", {});
  ASSERT_EQ(surfaces.size(), 1u);
  EXPECT_THAT(surfaces[0].x, ElementsAre(1, 2, 4));
  EXPECT_THAT(surfaces[0].y, ElementsAre(8, 32));
  EXPECT_THAT(surfaces[0].values, ElementsAre(8.0, 4.0, 2.0, 32.0, 16.0, 8.0));
  EXPECT_THAT(surfaces[0].of, ElementsAre(std::pair("way", "predict")));
  EXPECT_EQ(results::range_of(surfaces[0]), std::pair(2.0, 32.0));
  const auto speedup = results::speedup_of(surfaces[0]);
  ASSERT_TRUE(speedup);
  EXPECT_THAT(speedup->values, ElementsAre(1.0, 2.0, 4.0, 1.0, 2.0, 4.0));
}

TEST(Surface, LeavesHolesAndTellsWaysApart) {
  Table points = example("predict");
  points.rows.push_back(row("measured", 1, 8, 9));
  points.rows.push_back(row("measured", 2, 8, 5));
  points.rows.erase(points.rows.begin());  // predict at 1 rank, n = 8
  const auto surfaces = results::surfaces_of(points, "ranks", "n", {});
  ASSERT_EQ(surfaces.size(), 1u);  // two points in a row are no surface
  EXPECT_EQ(surfaces[0].at(0, 0), std::nullopt);
  EXPECT_EQ(surfaces[0].at(0, 1), 32.0);
  EXPECT_EQ(results::range_of(surfaces[0]), std::pair(2.0, 32.0));
  EXPECT_THROW(results::surfaces_of(points, "ranks", "way", {}), UsageError);
  EXPECT_THROW(results::surfaces_of(points, "ranks", "m", {}), UsageError);
}

TEST(Surface, OfRatios) {
  const auto comparison = results::compare(example("a"), example("b", 1.5), {});
  const Table ratios = results::ratios_of(comparison);
  const auto surfaces = results::surfaces_of(ratios, "ranks", "n", {});
  ASSERT_EQ(surfaces.size(), 1u);
  EXPECT_THAT(surfaces[0].values, testing::Each(1.5));
  // Which of the two would stand at one place of the surface?
  Table twice = example("b");
  twice.rows.push_back(row("b", 4, 32, 9));
  EXPECT_THROW(results::ratios_of(results::compare(example("a"), twice, {})), UsageError);
}

TEST(Spread, IsOfLaunchesThatAreDone) {
  Table launches = table({});
  launches.columns.insert(launches.columns.end() - 1, {"status", ColumnKind::count});
  const auto add = [&launches](std::int64_t ranks, const char* status, double time) {
    launches.rows.push_back(
        {std::string("measured"), ranks, ranks, std::int64_t{8}, std::string(status), time});
  };
  for (const double time : {4.0, 1.0, 2.0, 3.0, 5.0}) add(2, "done", time);
  add(2, "failed", 100);
  add(4, "done", 7);
  const auto spreads = results::spreads_of(launches, "time");
  ASSERT_EQ(spreads.size(), 1u);
  ASSERT_EQ(spreads[0].ranks.size(), 2u);
  EXPECT_THAT(spreads[0].ranks[0].values, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(spreads[0].ranks[0].lower, 2);
  EXPECT_EQ(spreads[0].ranks[0].median, 3);
  EXPECT_EQ(spreads[0].ranks[0].upper, 4);
  launches.rows.resize(1);
  EXPECT_TRUE(results::spreads_of(launches, "time").empty());
}

}  // namespace
