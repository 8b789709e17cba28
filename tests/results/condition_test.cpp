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

}  // namespace
