#include "machine/choice_order.hpp"

#include <gtest/gtest.h>

#include "microseconds.hpp"

namespace foretrace::machine {
namespace {

TEST(ChoiceOrder, CountsWhatLayThereWhileLaterOnesWereTaken) {
  ChoiceOrder order;
  order.take(2, us(30));
  order.finish(3, true);
  order.take(1, us(10));  // 20 us before that
  order.finish(3, true);
  order.take(3, us(25));
  order.finish(3, true);
  EXPECT_EQ(order.passed_over().messages, 2U);
  EXPECT_EQ(order.passed_over().lay, us(25));
}

TEST(ChoiceOrder, KnowsWhatWasNotPostedThen) {
  ChoiceOrder order;
  order.take(1, us(30));
  order.finish(2, true);
  order.take(3, us(10));  // its message came before, but nobody had posted a receive
  order.finish(4, false);
  EXPECT_EQ(order.passed_over().messages, 0U);
  order.take(4, us(12));
  order.finish(5, true);
  order.take(2, us(29));  // the first choice
  order.finish(5, true);
  order.take(5, us(11));  // the one before
  order.finish(5, true);
  EXPECT_EQ(order.passed_over().messages, 2U);
  EXPECT_EQ(order.passed_over().lay, us(1) + us(18));
}

// Calls that name what they wait for choose nothing; those of one call come together.
TEST(ChoiceOrder, LeavesOthersOut) {
  ChoiceOrder order;
  order.take(1, us(30));
  order.finish(4, false);
  order.take(2, us(10));
  order.take(3, us(40));
  order.finish(4, true);
  EXPECT_EQ(order.passed_over().messages, 0U);
  order.take(4, us(40));
  order.finish(4, true);
  EXPECT_EQ(order.passed_over().messages, 0U);
}

TEST(ChoiceOrder, IsToldFromAHundredthOn) {
  EXPECT_TRUE(is_told({1, us(1)}, us(100)));
  EXPECT_FALSE(is_told({1, us(1)}, us(101)));
  EXPECT_FALSE(is_told({0, Time()}, Time()));
}

}  // namespace
}  // namespace foretrace::machine
