#include "base/position.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace foretrace {
namespace {

Time ms(int count) {
  return Time::ns(1'000'000LL * count);
}

// At `clock`, and for so long behind an event that was left at `left`.
Position at(int clock, std::uint64_t event, int left) {
  Position position{ms(clock)};
  position.behind[0] = {.gap = event, .event = event, .left = ms(left)};
  return position;
}

// How long a position is behind the event.
Time behind(const Position& position, std::uint64_t event) {
  for (const Position::Behind& each : position.behind)
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
  EXPECT_EQ(both.behind[1].event, 0u);
}

TEST(Position, ALaterEventCoversOneThatIsNotFartherBehind) {
  const Position both = after_both(at(90, 2, 50), at(30, 1, 0));
  EXPECT_EQ(behind(both, 2), ms(40));
  EXPECT_EQ(behind(both, 1), Time::max());
}

TEST(Position, OfFourTheLeadingTheLastAndTheFarthestBehindStay) {
  const std::array<Position, 4> all{at(40, 4, 40), at(50, 3, 30), at(30, 2, 12), at(25, 1, 0)};
  std::array<std::size_t, 4> order{0, 1, 2, 3};
  do {
    Position four = all[order[0]];
    for (const std::size_t i : {order[1], order[2], order[3]}) four = after_both(four, all[i]);
    EXPECT_EQ(four.clock, ms(50));
    EXPECT_EQ(behind(four, 4), ms(0));
    EXPECT_EQ(behind(four, 3), ms(20));
    EXPECT_EQ(behind(four, 2), Time::max());
    EXPECT_EQ(behind(four, 1), ms(25));
    EXPECT_EQ(by_idle(four)[0].event, 3u);
  } while (std::ranges::next_permutation(order).found);
}

TEST(Position, NobodyKnowsWhereTheLastBegan) {
  const Position both = after_both(Position{ms(50)}, at(20, 1, 0));
  EXPECT_EQ(both.clock, ms(50));
  EXPECT_EQ(both.behind[0].event, 0u);
}

}  // namespace
}  // namespace foretrace
