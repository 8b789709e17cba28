// Ranks that are not there from the beginning: others start them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "reacting_source.hpp"

namespace foretrace::sim {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using trace::EventKind;

// Ranks from `first` on are started one by one, by calls of this name.
class StartingSource : public ReactingSource {
 public:
  StartingSource(int ranks, int first) : ReactingSource(ranks), first_(first), next_(first) {}
  void spawn(int rank, Time at) { add(rank, EventKind::call, "MPI_Comm_spawn", at); }
  bool starts(WorldRank rank) const override { return rank.value < first_; }
  std::vector<WorldRank> take_started() override { return std::exchange(begun_, {}); }
  void completed(WorldRank rank, const Operation& operation, const Interval& interval,
                 const Outcome& outcome) override {
    ReactingSource::completed(rank, operation, interval, outcome);
    if (rank.value == 0 && operation.kind == EventKind::init) next_ = first_;
    if (name(operation.name) == "MPI_Comm_spawn") begun_.emplace_back(next_++);
  }

 private:
  int first_;
  int next_;
  std::vector<WorldRank> begun_;
};

TEST(StartedRanks, BeginWhenTheCallLeaves) {
  StartingSource p(3, 1);
  p.add(0, EventKind::init, "MPI_Init");
  p.spawn(0, us(100));
  p.spawn(0, us(300));
  p.recv(0, 2);
  p.recv(0, 1);
  p.send(1, 0, 800, us(50)).payload = 1;
  p.send(2, 0, 800, us(70)).payload = 2;
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.of(1, 0).interval.enter, r.leave(0, 1) + us(50));
  EXPECT_EQ(r.of(2, 0).interval.enter, r.leave(0, 2) + us(70));
  EXPECT_EQ(r.of(0, 3).payload, 2u);
  EXPECT_EQ(r.of(0, 4).payload, 1u);
  EXPECT_THAT(r.result.ranks, SizeIs(3));
  EXPECT_THAT(r.result.notes, IsEmpty());
}

TEST(StartedRanks, ThatNobodyStartsTakeNoPart) {
  StartingSource p(3, 1);
  p.add(0, EventKind::init, "MPI_Init");
  p.spawn(0, us(100));
  p.send(0, 1, 800);
  p.send(0, 1, 800);
  p.recv(1, 0);
  p.recv(2, 0);
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_THAT(r.told[2], IsEmpty());
  EXPECT_THAT(r.result.ranks, SizeIs(2));
  EXPECT_THAT(r.result.notes, IsEmpty());
  EXPECT_EQ(r.result.left_message_count, 1u);
}

}  // namespace
}  // namespace foretrace::sim
