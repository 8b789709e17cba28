#include "results/condition.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace {

using namespace foretrace;
using results::Cell;
using results::Condition;

bool holds(const std::string& text, const std::vector<Cell>& values) {
  return Condition(text, {"p", "n", "machine"}, "where").holds(values);
}

TEST(Condition, IsSql) {
  const std::vector<Cell> values{std::int64_t{8}, 0.5, std::string("t3d")};
  EXPECT_TRUE(holds("p >= 8 and machine = 't3d'", values));
  EXPECT_TRUE(holds("machine = \"t3d\"", values));
  EXPECT_TRUE(holds("p * n = 4 -- a comment", values));
  EXPECT_FALSE(holds("p < 8 or machine like 'x%'", values));
  EXPECT_FALSE(holds("n is null", values));
}

TEST(Condition, RefusesAnythingElse) {
  for (const char* text : {"q > 1", "p >", "1); DROP TABLE x; --", "", "p) , (1"})
    EXPECT_THROW(Condition(text, {"p"}, "where"), UsageError) << text;
}

// What is wrong, for somebody who never heard of SQLite.
TEST(Condition, SaysWhatIsWrong) {
  const auto message = [](const char* text) -> std::string {
    try {
      Condition(text, {"p", "machine"}, "where");
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing is wrong";
  };
  EXPECT_EQ(message("q > 1"),
            "where: there is no column 'q'; these are: p machine (a text stands in quotes: 'q')");
  EXPECT_EQ(message("p > > 1"),
            "where: '>' is not expected there; conditions are written as: ranks >= 8 and machine = "
            "'cray-t3d'");
  EXPECT_EQ(message("p >"), "where: something is missing at its end, or a bracket is too many");
  EXPECT_EQ(message("machine = 'x"), "where: a quote ' has no end");
  EXPECT_EQ(message("ranks_of(p) > 1"), "where: there is no function 'ranks_of'");
}

}  // namespace
