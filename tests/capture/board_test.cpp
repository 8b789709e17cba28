// What ranks tell each other through shared memory: here several boards of one name stand for them.
#include "capture/host/board.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

namespace foretrace::capture {
namespace {

std::string name_of_test(const char* what) {
  return "/foretrace-test-" + std::to_string(::getpid()) + what;
}

class BoardTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string name = name_of_test("board");
    ASSERT_TRUE(first_.make(name, 2));
    ASSERT_TRUE(second_.open(name, 2, 1));
    Board::remove(name);
  }

  Board first_, second_;
};

TEST_F(BoardTest, TellsOfEachCollectiveInTurn) {
  Board::Meeting& a = *first_.meeting(7, 2);
  Board::Meeting& b = *second_.meeting(7, 2);
  for (std::int64_t round = 1; round <= 5; ++round) {
    a.tell(0, {round, 80, 3});
    EXPECT_FALSE(a.told(1));
    b.tell(1, {-round, 16, 4});
    ASSERT_TRUE(a.told(1));
    EXPECT_EQ(a.told(1)->start_ps, -round);
    EXPECT_EQ(a.told(1)->bytes, 16U);
    EXPECT_EQ(a.told(1)->function, 4U);
    EXPECT_EQ(b.told(0)->start_ps, round);
  }
}

// The first one is at the next collective before the second has read what it told of this one.
TEST_F(BoardTest, WhoIsOneAheadTakesNothingAway) {
  Board::Meeting& a = *first_.meeting(7, 2);
  Board::Meeting& b = *second_.meeting(7, 2);
  b.tell(1, {1, 0, 0});
  a.tell(0, {10, 0, 0});
  a.tell(0, {20, 0, 0});
  EXPECT_EQ(b.told(0)->start_ps, 10);
  EXPECT_FALSE(a.told(1));
  b.tell(1, {2, 0, 0});
  EXPECT_EQ(b.told(0)->start_ps, 20);
}

TEST_F(BoardTest, CommunicatorsDoNotMeet) {
  first_.meeting(0, 2)->tell(0, {1, 0, 0});
  second_.meeting(1, 2)->tell(1, {2, 0, 0});
  second_.meeting(0, 2)->tell(1, {3, 0, 0});
  EXPECT_FALSE(second_.meeting(1, 2)->told(0));
  EXPECT_EQ(second_.meeting(0, 2)->told(0)->start_ps, 1);
}

TEST_F(BoardTest, AllFindNoRoomForTheSame) {
  std::uint64_t key = 1;
  while (first_.meeting(key, 2)) ++key;
  EXPECT_GT(key, 100U);
  EXPECT_FALSE(second_.meeting(key, 2));
  EXPECT_TRUE(second_.meeting(key - 1, 2));
  EXPECT_FALSE(second_.meeting(1, Board::kMostMembers + 1));
}

TEST_F(BoardTest, LettersComeInOrderUntilThereIsNoRoom) {
  std::uint64_t sent = 0;
  while (first_.send(1, {sent + 1})) ++sent;
  EXPECT_GT(sent, 8U);
  int from = -1;
  Board::Letter letter{};
  EXPECT_FALSE(first_.receive(from, letter));
  for (std::uint64_t i = 1; i <= 5; ++i) {
    ASSERT_TRUE(second_.receive(from, letter));
    EXPECT_EQ(from, 0);
    EXPECT_EQ(letter[0], i);
  }
  EXPECT_TRUE(first_.send(1, {++sent}));
  EXPECT_TRUE(second_.send(1, {77}));
  std::uint64_t last = 0;
  std::uint64_t own = 0;
  while (second_.receive(from, letter)) (from == 0 ? last : own) = letter[0];
  EXPECT_EQ(last, sent);
  EXPECT_EQ(own, 77U);
}

TEST_F(BoardTest, ShowsHowFarTheOthersAre) {
  std::array<std::int64_t, 2> left_behind{-1, -1};
  EXPECT_EQ(first_.others(left_behind).least, 0) << "the other one begins there";
  second_.show(70);
  first_.show(30);
  EXPECT_EQ(first_.others(left_behind).least, 70);
  EXPECT_EQ(second_.others(left_behind).least, 30);
  EXPECT_EQ(first_.others(left_behind).waiting, 0U);
  second_.show(Board::kWaits);
  const Board::Others waits = first_.others(left_behind);
  EXPECT_EQ(waits.least, Board::kWaits);
  EXPECT_NE(waits.waiting, 0U);
  second_.show(Board::kWaits);
  EXPECT_EQ(first_.others(left_behind).waiting, waits.waiting) << "it waits still";
  second_.show(80);
  second_.show(Board::kWaits);
  EXPECT_NE(first_.others(left_behind).waiting, waits.waiting) << "it waits again";
}

TEST_F(BoardTest, WhoIsLeftBehindIsNotAskedForUntilItGoesOn) {
  std::array<std::int64_t, 2> left_behind{-1, -1};
  second_.show(70);
  first_.leave_behind(70, left_behind);
  EXPECT_EQ(first_.others(left_behind).least, Board::kWaits);
  second_.show(71);
  EXPECT_EQ(first_.others(left_behind).least, 71);
}

TEST(Board, CannotBeOpenedWhereThereIsNone) {
  Board board;
  EXPECT_FALSE(board.open(name_of_test("none"), 2, 1));
  EXPECT_FALSE(board.meeting(1, 2));
}

}  // namespace
}  // namespace foretrace::capture
