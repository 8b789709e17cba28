#include "results/comparison.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace {

using namespace foretrace;
using results::Cell;
using results::ColumnKind;
using results::Table;

Table table(const std::string& way, std::vector<std::pair<std::int64_t, double>> times) {
  Table out{{{"program", ColumnKind::fixed},
             {"way", ColumnKind::fixed},
             {"n", ColumnKind::parameter},
             {"time", ColumnKind::quantity}},
            {}};
  for (const auto& [n, time] : times) out.rows.push_back({std::string("life"), way, n, time});
  return out;
}

TEST(Comparison, TellsRatiosAndErrors) {
  const auto result = compare(table("a", {{1, 2.0}, {2, 4.0}, {3, 1.0}}),
                              table("b", {{1, 3.0}, {2, 2.0}, {4, 1.0}}), {});
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
  Table other = table("b", {{1, 3.0}});
  other.rows[0][0] = std::string("tiles");
  EXPECT_EQ(compare(table("a", {{1, 2.0}}), other, {}).quantities[0].points[0].ratio, 1.5);
  // With several programs on one side they are told apart.
  other.rows.push_back({std::string("life"), std::string("b"), std::int64_t{1}, 8.0});
  EXPECT_EQ(compare(table("a", {{1, 2.0}}), other, {}).quantities[0].points[0].ratio, 4);
}

TEST(Comparison, OneSideMayHaveSeveral) {
  // One measurement, two machines predicted: each is set beside it.
  EXPECT_EQ(compare(table("a", {{1, 2.0}}), table("b", {{1, 3.0}, {1, 4.0}}), {})
                .quantities[0]
                .points.size(),
            2u);
  EXPECT_THROW(compare(table("a", {{1, 2.0}, {1, 2.5}}), table("b", {{1, 3.0}, {1, 4.0}}), {}),
               Error);
  EXPECT_THROW(compare(table("a", {{1, 2.0}}), table("b", {{2, 3.0}}), {}), Error);
  EXPECT_THROW(compare(table("a", {}), table("b", {{2, 3.0}}), {}), Error);
}

}  // namespace
