#include "measure/core/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace foretrace::measure {
namespace {

using testing::ElementsAre;

TEST(MessageSizes, EvenInTheLogarithmWithBothEnds) {
  // 2^0, 2^0.5, ..., rounded; 1 and 1.41 fall together.
  EXPECT_THAT(message_sizes(16, 2), ElementsAre(1, 2, 3, 4, 6, 8, 11, 16));
  EXPECT_THAT(message_sizes(10, 2), ElementsAre(1, 2, 3, 4, 6, 8, 10));
  EXPECT_THAT(message_sizes(1, 4), ElementsAre(1));
}

TEST(MessageSizes, OneStepStillHasOthersThanPowersOfTwo) {
  // 2^0, 2^1.5, 2^2, 2^3.5, 2^4, 2^5.5, 2^6
  EXPECT_THAT(message_sizes(64, 1), ElementsAre(1, 3, 4, 11, 16, 45, 64));
}

TEST(RankCounts, PowersOfTwoAndAll) {
  EXPECT_THAT(rank_counts(2, false), ElementsAre(2));
  EXPECT_THAT(rank_counts(3, false), ElementsAre(2, 3));
  EXPECT_THAT(rank_counts(12, false), ElementsAre(2, 4, 8, 12));
  EXPECT_THAT(rank_counts(16, false), ElementsAre(2, 4, 8, 16));
  EXPECT_THAT(rank_counts(2, true), ElementsAre(2));
  EXPECT_THAT(rank_counts(3, true), ElementsAre(2, 3));
  EXPECT_THAT(rank_counts(4, true), ElementsAre(2, 3, 4));
  EXPECT_THAT(rank_counts(12, true), ElementsAre(2, 3, 4, 6, 8, 12));
  EXPECT_THAT(rank_counts(20, true), ElementsAre(2, 3, 4, 6, 8, 12, 16, 20));
}

TEST(ProgramOptions, ReadsAll) {
  const ProgramOptions options =
      parse_program_options({"--output", "x.csv", "--launch", "3", "--seed", "9", "--quick",
                             "--max-bytes", "100", "--seconds", "11", "--start", "barrier",
                             "--buffers", "cold", "--thresholds", "256,4040", "--progress", "p"});
  EXPECT_EQ(options.output, "x.csv");
  EXPECT_EQ(options.launch, 3);
  EXPECT_EQ(options.seed, 9u);
  EXPECT_EQ(options.max_bytes, 100u);
  EXPECT_TRUE(options.max_bytes_given);
  EXPECT_EQ(options.long_bytes, 0u);
  EXPECT_EQ(options.progress, "p");
  EXPECT_EQ(options.effort.seconds, 11);
  EXPECT_TRUE(options.start_by_barrier);
  EXPECT_TRUE(options.cold);
  EXPECT_THAT(options.thresholds.value(), ElementsAre(256, 4040));
  EXPECT_LT(options.effort.rounds, Effort{}.rounds);
}

TEST(ProgramOptions, LongMessagesIfNobodyLimitsThem) {
  const ProgramOptions options = parse_program_options({"--output", "x"});
  EXPECT_GT(options.long_bytes, options.max_bytes);
}

TEST(ProgramOptions, NoThresholdsAndNotLookedForDiffer) {
  EXPECT_FALSE(parse_program_options({"--output", "x"}).thresholds);
  EXPECT_THAT(parse_program_options({"--output", "x", "--thresholds", "none"}).thresholds.value(),
              ElementsAre());
}

TEST(ProgramOptions, RefusesWhatItDoesNotUnderstand) {
  EXPECT_THROW(parse_program_options({}), UsageError);
  EXPECT_THROW(parse_program_options({"--output"}), UsageError);
  EXPECT_THROW(parse_program_options({"--output", "x", "--launch", "0"}), UsageError);
  EXPECT_THROW(parse_program_options({"--output", "x", "--launch", "2x"}), UsageError);
  EXPECT_THROW(parse_program_options({"--output", "x", "--max-bytes", "-1"}), UsageError);
  EXPECT_THROW(parse_program_options({"--output", "x", "--fast"}), UsageError);
  EXPECT_THROW(parse_program_options({"--output", "x", "--start", "gun"}), UsageError);
  EXPECT_THROW(parse_program_options({"--output", "x", "--buffers", "tepid"}), UsageError);
  EXPECT_THROW(parse_program_options({"--output", "x", "--thresholds", "1,,2"}), UsageError);
  EXPECT_THROW(parse_program_options({"--output", "x", "--thresholds", ""}), UsageError);
}

}  // namespace
}  // namespace foretrace::measure
