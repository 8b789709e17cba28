#include "results/comparison.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace {

using namespace foretrace;
using results::Cell;
using results::ColumnKind;
using results::Table;

Table table_of_way(const std::string& way, std::vector<std::pair<std::int64_t, double>> times) {
  Table out{{{"program", ColumnKind::fixed},
             {"way", ColumnKind::fixed},
             {"n", ColumnKind::parameter},
             {"time", ColumnKind::quantity}},
            {}};
  for (const auto& [n, time] : times) out.rows.push_back({std::string("life"), way, n, time});
  return out;
}

TEST(Comparison, TellsRatiosAndErrors) {
  const auto result = compare(table_of_way("a", {{1, 2.0}, {2, 4.0}, {3, 1.0}}),
                              table_of_way("b", {{1, 3.0}, {2, 2.0}, {4, 1.0}}), {});
  ASSERT_EQ(result.quantities.size(), 1u);
  const auto& time = result.quantities[0];
  ASSERT_EQ(time.points.size(), 2u);
  EXPECT_DOUBLE_EQ(time.points[0].ratio, 1.5);
  EXPECT_DOUBLE_EQ(time.points[1].ratio, 0.5);
  EXPECT_DOUBLE_EQ(time.mean_ratio, std::sqrt(0.75));
  EXPECT_DOUBLE_EQ(time.mean_error, 0.5);
  EXPECT_EQ(time.worst, 1u);  // |ln 0.5| > |ln 1.5|
  EXPECT_DOUBLE_EQ(time.worst_error, -0.5);
  EXPECT_EQ(result.only_a, 1u);
  EXPECT_EQ(result.only_b, 1u);
}

TEST(Comparison, OneProgramAgainstAnother) {
  Table other = table_of_way("b", {{1, 3.0}});
  other.rows[0][0] = std::string("tiles");
  EXPECT_EQ(compare(table_of_way("a", {{1, 2.0}}), other, {}).quantities[0].points[0].ratio, 1.5);
  // With several programs on one side they are told apart.
  other.rows.push_back({std::string("life"), std::string("b"), std::int64_t{1}, 8.0});
  EXPECT_EQ(compare(table_of_way("a", {{1, 2.0}}), other, {}).quantities[0].points[0].ratio, 4);
}

// pi knows no n; life's are told apart by it all the same.
TEST(Comparison, ProgramsMayHaveOtherParameters) {
  Table a = table_of_way("a", {{1, 2.0}, {2, 4.0}});
  Table b = table_of_way("b", {{2, 8.0}, {1, 6.0}});
  for (Table* each : {&a, &b}) each->rows.push_back({std::string("pi"), std::string("a"), {}, 5.0});
  const auto result = compare(a, b, {});
  ASSERT_EQ(result.quantities[0].points.size(), 3u);
  EXPECT_EQ(result.quantities[0].points[0].ratio, 3);
  EXPECT_EQ(result.quantities[0].points[1].ratio, 2);
  EXPECT_EQ(result.quantities[0].points[2].ratio, 1);
}

TEST(Comparison, SaysWhatManyPointsDifferIn) {
  Table a = table_of_way("a", {{1, 2.0}, {2, 4.0}});
  Table b = a;
  b.columns[2].name = "m";
  try {
    compare(a, b, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "several points of both sides belong together; on the first side they differ in "
                 "n, on the second in m: pick some with --where");
  }
}

TEST(Comparison, OneSideMayHaveSeveral) {
  // One measurement, two machines predicted: each is set beside it.
  EXPECT_EQ(compare(table_of_way("a", {{1, 2.0}}), table_of_way("b", {{1, 3.0}, {1, 4.0}}), {})
                .quantities[0]
                .points.size(),
            2u);
  EXPECT_THROW(
      compare(table_of_way("a", {{1, 2.0}, {1, 2.5}}), table_of_way("b", {{1, 3.0}, {1, 4.0}}), {}),
      Error);
  EXPECT_THROW(compare(table_of_way("a", {{1, 2.0}}), table_of_way("b", {{2, 3.0}}), {}), Error);
  EXPECT_THROW(compare(table_of_way("a", {}), table_of_way("b", {{2, 3.0}}), {}), Error);
}

}  // namespace
