#include "formulas/sweep.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace {

using namespace foretrace;
using formulas::parse_axis;
using testing::ElementsAre;

TEST(SweepAxis, ReadsListsAndRanges) {
  EXPECT_EQ(parse_axis("p=1").name, "p");
  EXPECT_THAT(parse_axis("p=1,2,5").values, ElementsAre(1, 2, 5));
  EXPECT_THAT(parse_axis("p=1:4").values, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(parse_axis("x=0:1:0.25").values, ElementsAre(0, 0.25, 0.5, 0.75, 1));
  EXPECT_THAT(parse_axis("p=3..20").values, ElementsAre(3, 6, 12, 20));
  EXPECT_THAT(parse_axis("c=0.5us,1k").values, ElementsAre(0.5e-6, 1024));
}

TEST(SweepAxis, TakesBlanksAroundNamesAndValues) {
  EXPECT_EQ(parse_axis("p = 1, 2").name, "p");
  EXPECT_THAT(parse_axis("p = 1, 2").values, ElementsAre(1, 2));
  EXPECT_THAT(formulas::parse_at({"p=8", " d = 1k "}),
              ElementsAre(testing::Pair("p", 8), testing::Pair("d", 1024)));
  for (const char* text : {"p", " =1", "p=", "p= "})
    EXPECT_THROW(formulas::parse_at({text}), UsageError) << text;
  EXPECT_THROW(formulas::parse_at({"p=8", " p=9"}), UsageError);
}

TEST(SweepAxis, RefusesNonsense) {
  for (const char* text :
       {"p", "=1", "p=", "p=1,,2", "p=a", "p=0..4", "p=4:1", "p=1:2:0", "p=1:1e9", "p=1:2:3:4"})
    EXPECT_THROW(parse_axis(text), UsageError) << text;
}

TEST(Sweep, TakesEveryCombination) {
  const auto model = formulas::parse_model("total(p,n) = n/p + 1", "m");
  const auto sweep =
      formulas::sweep(model, nullptr, {}, {parse_axis("n=3,7"), parse_axis("p=1,2")});
  ASSERT_EQ(sweep.points.size(), 4u);
  EXPECT_THAT(sweep.points[1].values, ElementsAre(3, 2));
  EXPECT_DOUBLE_EQ(sweep.points[1].result.total.avg, 2.5);
  EXPECT_DOUBLE_EQ(*sweep.points[1].speedup, 4 / 2.5);  // T(1) = 3 + 1
  EXPECT_DOUBLE_EQ(*sweep.points[3].speedup, 8 / 4.5);
}

}  // namespace
