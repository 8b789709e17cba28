#include "capture/session/joins.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace foretrace::capture {
namespace {

Time ms(int count) {
  return Time::ns(1'000'000LL * count);
}

// Where one thread calls: its clock, which goes on by calls as well.
class Rank {
 public:
  // It computes, waits for others (`held`), and calls.
  trace::Event call(int compute, int took, int held = 0) {
    trace::Event event;
    event.compute = ms(compute + held);
    clock_ += ms(compute);
    joins_.begin(event, clock_);
    joins_.write(event);
    left_ = clock_ += ms(took);
    return event;
  }
  Position here() {
    Position at{clock_};
    at.behind = {joins_.behind(left_)};
    return at;
  }
  // It is let go on by one that is there.
  void wait_for(const Position& other) {
    const Time until = std::max(clock_, other.clock);
    joins_.note(other, clock_, until);
    clock_ = until;
  }
  // Both go on where they meet.
  void meet(const Position& other) { wait_for(after_both(here(), other)); }
  Time beyond(const Position& other) const { return joins_.beyond(other); }

 private:
  Joins joins_;
  Time clock_;
  Time left_;
};

// A thread that has computed since it was handed its work.
Position worked(Position since, int computed) {
  since.clock += ms(computed);
  return since;
}

// A thread has been handed its work after the first call.
class RecordedJoins : public testing::Test {
 protected:
  RecordedJoins() : handed(hand()) {}

  Rank rank;
  const Position handed;

 private:
  Position hand() {
    rank.call(0, 0);
    return rank.here();
  }
};

TEST_F(RecordedJoins, TheRankComesLast) {
  rank.call(1, 50);
  rank.meet(worked(handed, 20));
  const trace::Event event = rank.call(2, 0);
  EXPECT_EQ(event.join.back, 2u);
  EXPECT_EQ(event.join.after, ms(22));
  EXPECT_EQ(event.join.held, Time());
  EXPECT_EQ(event.second.back, 0u);
}

TEST_F(RecordedJoins, TheRankWaits) {
  rank.call(1, 5);
  rank.meet(worked(handed, 20));
  const trace::Event event = rank.call(2, 0, 14);
  EXPECT_EQ(event.join.back, 2u);
  EXPECT_EQ(event.join.after, ms(22));
  EXPECT_EQ(event.join.held, ms(14));
}

TEST_F(RecordedJoins, OfTwoThreadsThatBeganAtDifferentEvents) {
  rank.call(1, 50);
  const Position second = rank.here();
  rank.call(1, 5);
  // All meet: the two from 70 and 81, the rank from 57.
  rank.meet(after_both(worked(handed, 70), worked(second, 30)));
  const trace::Event event = rank.call(2, 0, 24);
  EXPECT_EQ(event.join.held, ms(24));
  const bool first_comes_first = event.join.back == 3;
  const trace::Join& of_first = first_comes_first ? event.join : event.second;
  const trace::Join& of_second = first_comes_first ? event.second : event.join;
  EXPECT_EQ(of_first.back, 3u);
  EXPECT_EQ(of_first.after, ms(72));
  EXPECT_EQ(of_second.back, 2u);
  EXPECT_EQ(of_second.after, ms(32));
}

TEST_F(RecordedJoins, WhoHasComputedAsLongNeverWaits) {
  rank.call(30, 5);
  rank.wait_for(worked(handed, 20));
  EXPECT_EQ(rank.call(2, 0).join.back, 0u);
}

TEST_F(RecordedJoins, BetweenTwoCallsAllIsComputation) {
  rank.meet(worked(handed, 20));
  const trace::Event event = rank.call(2, 0, 20);
  EXPECT_EQ(event.join.back, 0u);
  EXPECT_EQ(event.compute, ms(22));
}

TEST_F(RecordedJoins, TellsWhatNobodyWaitedFor) {
  rank.call(5, 50);
  EXPECT_EQ(rank.beyond(worked(handed, 20)), ms(15));
  EXPECT_EQ(rank.beyond(worked(handed, 4)), Time());
}

}  // namespace
}  // namespace foretrace::capture
