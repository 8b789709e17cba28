#include "views/watch/watch_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace foretrace {
namespace {

using analysis::Doing;
using analysis::RunningRank;
using nlohmann::json;
using views::watch_json;
using views::watch_line;
using views::WatchState;

// Rank 0 computes, 1 waits for 2, 3 and 4 for 2, 2 is in a receive; 0 has sent to 2.
WatchState example() {
  WatchState state;
  state.seconds = 1.25;
  for (int r = 0; r < 5; ++r) {
    RunningRank rank;
    rank.rank = WorldRank(r);
    rank.doing = r == 0 ? Doing::computing : Doing::calling;
    if (r > 0) rank.call = r == 2 ? "MPI_Recv" : "MPI_Barrier";
    if (r > 0) rank.place = "a\"b.c:3";
    if (r == 1 || r > 2) rank.waits_for = {WorldRank(2)};
    state.run.ranks.push_back(rank);
  }
  state.run.ranks[2].unread = {{WorldRank(0), 3}};
  state.run.messages = {{WorldRank(0), WorldRank(2), 3, Bytes(10)},
                        {WorldRank(1), WorldRank(2), 1, Bytes(20)}};
  state.run.functions = {{"MPI_Recv", 7, Time::ns(1'500'000'000)}};
  state.run.compute = Time::ns(250'000'000);
  return state;
}

TEST(WatchLine, TellsWhoWaitsForWhom) {
  EXPECT_EQ(
      watch_line(example()),
      "1.2 s: 1 computing (0), 3 in MPI_Barrier a\"b.c:3, 1 in MPI_Recv a\"b.c:3; ranks 1, 3, "
      "4 wait for rank 2");
}

TEST(WatchLine, NamesWhatIsStopped) {
  WatchState state = example();
  state.stopped[2] = 4711;
  EXPECT_EQ(watch_line(state),
            "1.2 s: 1 computing (0), 3 in MPI_Barrier a\"b.c:3; rank 2 is STOPPED (process 4711), "
            "ranks 1, 3, 4 wait for it, rank 0 has sent to it");
}

TEST(WatchLine, KnowsNothingAtFirst) {
  WatchState state;
  state.stopped[7] = 5;
  EXPECT_EQ(watch_line(state), "0.0 s: nothing is known yet; rank 7 is STOPPED (process 5)");
}

TEST(WatchJson, HoldsTheRanks) {
  WatchState state = example();
  state.stopped[2] = 4711;
  const json all = json::parse(watch_json(state));
  EXPECT_EQ(all["ranks"].size(), 5u);
  EXPECT_EQ(all["ranks"][1]["waits_for"], json::parse("[2]"));
  EXPECT_EQ(all["ranks"][2]["process"], 4711);
  EXPECT_EQ(all["ranks"][2]["unread"], json::parse("[[0,3]]"));
  EXPECT_EQ(all["ranks"][1]["place"], "a\"b.c:3");
  EXPECT_FALSE(all["ranks"][0].contains("process"));
  EXPECT_EQ(all["ended"], false);
  EXPECT_EQ(all["messages"], json::parse("[[1,2,1,20],[0,2,3,10]]"));  // most bytes first
  EXPECT_EQ(all["functions"], json::parse(R"([["MPI_Recv",7,1.5]])"));
  EXPECT_EQ(all["compute"], 0.25);
  EXPECT_EQ(all["clock"], "wall");
  EXPECT_EQ(all["picture"], "");
}

TEST(WatchJson, TellsSomeOfManyThatAreWaitedFor) {
  WatchState state = example();
  for (int other = 5; other < 400; ++other) state.run.ranks[0].waits_for.emplace_back(other);
  state.stopped[399] = 1;
  const json rank = json::parse(watch_json(state))["ranks"][0];
  EXPECT_EQ(rank["waits"], 395);
  EXPECT_EQ(rank["waits_for"].size(), 64u);
  EXPECT_EQ(rank["waits_for"][0], 399);
  EXPECT_EQ(rank["waits_for"][63], 67);
}

}  // namespace
}  // namespace foretrace
