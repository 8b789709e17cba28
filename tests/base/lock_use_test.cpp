#include "base/lock_use.hpp"

#include <gtest/gtest.h>

namespace foretrace {
namespace {

Time ms(double number) {
  return Time::from_seconds(number * 1e-3);
}

TEST(LockUse, GoesOnAtOnceWhereNobodyKeepsIt) {
  LockUse use;
  EXPECT_EQ(use.free_at(ms(3)), ms(3));
  EXPECT_EQ(use.add(ms(3), ms(10)), ms(13));
  EXPECT_EQ(use.free_at(ms(2)), ms(2));
  EXPECT_EQ(use.free_at(ms(3)), ms(13));
  EXPECT_EQ(use.free_at(ms(13)), ms(13));
}

TEST(LockUse, PutsOneUseAfterTheOther) {
  LockUse use;
  EXPECT_EQ(use.add(ms(0), ms(100)), ms(100));
  EXPECT_EQ(use.add(ms(0), ms(100)), ms(200));
  EXPECT_EQ(use.free_at(ms(50)), ms(200));
  EXPECT_EQ(use.add(ms(150), ms(10)), ms(210));
}

// Whoever began a little earlier than one that had it before.
TEST(LockUse, TakesWhatIsLeftBeforeAnother) {
  LockUse use;
  EXPECT_EQ(use.add(ms(1), ms(10)), ms(11));
  EXPECT_EQ(use.free_at(ms(0)), ms(0));
  EXPECT_EQ(use.add(ms(0), ms(0.5)), ms(0.5));
  EXPECT_EQ(use.add(ms(0.5), ms(10)), ms(20.5));
}

// Two that keep it for 1 ms and do without for 0.1: both have it for 20 ms in all, of which the
// first one leaves 0.9 to the other one. That does without for 1 ms.
TEST(LockUse, LosesNothingWhereOneIsFarAhead) {
  LockUse use;
  for (int i = 0; i < 10; ++i) use.add(ms(1.1 * i), ms(1));
  Time now;
  for (int i = 0; i < 10; ++i) now = use.add(now, ms(1)) + ms(0.1);
  EXPECT_EQ(now, ms(20 + 1));
}

// Of 1,000 uses of 1 in 10 ms, which do not fit in here one by one, another thread is held up by a
// tenth.
TEST(LockUse, SpreadsWhatIsTooMuch) {
  LockUse use;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(use.add(ms(10.0 * i), ms(1)), ms(10.0 * i + 1));
  const double half = use.add(ms(2000), ms(900)).seconds();
  EXPECT_NEAR(half, 3.0, 0.02);
  // 1,900 ms of 10,000 are used.
  EXPECT_NEAR(use.add(ms(0), ms(8099)).seconds(), 9.999, 0.02);
  EXPECT_NEAR(use.add(ms(0), ms(1000)).seconds(), 11, 0.02);
}

// Of a span that is half used, whoever comes before it takes first what is before it, and then
// half of each moment.
TEST(LockUse, TakesTheRestOfASpanThatIsPartlyUsed) {
  LockUse use;
  for (int i = 0; i < 1000; ++i) use.add(ms(10 + 0.01 * i), ms(0.005));
  EXPECT_NEAR(use.add(ms(0), ms(12)).seconds(), 0.014, 0.0005);
  LockUse other;
  for (int i = 0; i < 1000; ++i) other.add(ms(10 + 0.01 * i), ms(0.005));
  EXPECT_NEAR(other.add(ms(0), ms(14)).seconds(), 0.018, 0.0005);
}

// With less than a hundredth between them several uses are as one to whoever comes, whether they
// are few enough to be kept apart or not.
TEST(LockUse, IsNotFreeBetweenUsesThatFollowAtOnce) {
  LockUse use;
  for (int i = 0; i < 100; ++i) use.add(ms(i), ms(0.9999));
  EXPECT_EQ(use.free_at(ms(10)), ms(99.9999));
  LockUse other;
  other.add(ms(0), ms(5));
  other.add(ms(5.01), ms(5));
  other.add(ms(10.1), ms(5));
  EXPECT_EQ(other.free_at(ms(1)), ms(10.01));
}

}  // namespace
}  // namespace foretrace
