#include "base/position.hpp"

#include <gtest/gtest.h>

namespace foretrace {
namespace {

Time ms(int count) {
  return Time::ns(1'000'000LL * count);
}

// At `clock`, and for so long behind an event that was left at `left`.
Position at(int clock, std::uint64_t event, int left) {
  Position position{ms(clock)};
  position.behind = {.gap = event, .event = event, .left = ms(left)};
  return position;
}

// How long a position is behind the event.
Time behind(const Position& position, std::uint64_t event) {
  for (const Position::Behind& each : {position.behind, position.other})
    if (each.event == event) return position.clock - each.idle - each.left;
  return Time::max();
}

TEST(Position, KeepsWhatBothAreBehind) {
  for (const Position& both :
       {after_both(at(50, 2, 50), at(20, 1, 0)), after_both(at(20, 1, 0), at(50, 2, 50))}) {
    EXPECT_EQ(both.clock, ms(50));
    EXPECT_EQ(behind(both, 2), ms(0));
    EXPECT_EQ(behind(both, 1), ms(20));
    // It goes on from there, and so do both.
    Position later = both;
    later.clock += ms(3);
    EXPECT_EQ(behind(later, 1), ms(23));
    EXPECT_EQ(behind(after_both(later, at(60, 2, 50)), 1), ms(23));
  }
}

TEST(Position, OfOneBeginIsTheLaterOne) {
  const Position both = after_both(at(30, 1, 0), at(20, 1, 0));
  EXPECT_EQ(behind(both, 1), ms(30));
  EXPECT_EQ(both.other.event, 0u);
}

TEST(Position, ALaterEventCoversOneThatIsNotFartherBehind) {
  const Position both = after_both(at(90, 2, 50), at(30, 1, 0));
  EXPECT_EQ(behind(both, 2), ms(40));
  EXPECT_EQ(behind(both, 1), Time::max());
}

TEST(Position, OfThreeTheLastAndTheFarthestBehindStay) {
  const Position two = after_both(at(50, 3, 50), at(30, 2, 10));
  const Position three = after_both(two, at(25, 1, 0));
  EXPECT_EQ(behind(three, 3), ms(0));
  EXPECT_EQ(behind(three, 1), ms(25));
  EXPECT_EQ(behind(three, 2), Time::max());
}

TEST(Position, NobodyKnowsWhereTheLastBegan) {
  const Position both = after_both(Position{ms(50)}, at(20, 1, 0));
  EXPECT_EQ(both.clock, ms(50));
  EXPECT_EQ(both.behind.event, 0u);
}

}  // namespace
}  // namespace foretrace
