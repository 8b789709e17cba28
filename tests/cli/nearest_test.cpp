#include "cli/words/nearest.hpp"

#include <gtest/gtest.h>

namespace foretrace::cli {
namespace {

const std::vector<std::string> kWords{"record", "report", "regions", "simulate", "timeline"};

TEST(Nearest, ForgivesALetterInThree) {
  EXPECT_EQ(nearest("recrod", kWords), "record");       // swapped
  EXPECT_EQ(nearest("raport", kWords), "report");       // another
  EXPECT_EQ(nearest("simulatee", kWords), "simulate");  // one too many
  EXPECT_EQ(nearest("Timelne", kWords), "timeline");    // one too few
  EXPECT_EQ(nearest("sim", kWords), "simulate");        // the start
  EXPECT_EQ(nearest("record", kWords), "record");
}

TEST(Nearest, GuessesNothingFarAway) {
  EXPECT_EQ(nearest("frobnicate", kWords), "");
  EXPECT_EQ(nearest("x", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
  EXPECT_EQ(nearest("re", kWords), "");
  EXPECT_EQ(nearest(std::string(10'000, 'a'), kWords), "");
}

TEST(Nearest, Sentence) {
  EXPECT_EQ(did_you_mean("raport", kWords), "; did you mean 'report'?");
  EXPECT_EQ(did_you_mean("xyz", kWords), "");
}

}  // namespace
}  // namespace foretrace::cli
