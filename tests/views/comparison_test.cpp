#include "views/report/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "../analysis/trace_builder.hpp"

namespace foretrace {
namespace {

using analysis::compare_traces;
using analysis::CompareLevel;
using machine::Cost;
using nlohmann::json;
using test::TraceBuilder;
using testing::HasSubstr;
using testing::Not;

// One rank: computation, barrier, finalize. Milliseconds.
TraceBuilder run(std::int64_t compute, std::int64_t barrier) {
  TraceBuilder b(1);
  b.init(0);
  b.collective(0, "MPI_Barrier", Cost::barrier, 0, Time::ns(compute * 1000000),
               Time::ns(barrier * 1000000));
  b.finalize(0);
  return b;
}

std::string text(TraceBuilder a, TraceBuilder b, CompareLevel level) {
  return views::render_text_comparison(compare_traces(a.trace(), b.trace(), level), level);
}

json object(TraceBuilder a, TraceBuilder b, CompareLevel level) {
  return json::parse(
      views::render_json_comparison(compare_traces(a.trace(), b.trace(), level), level));
}

TEST(TextComparison, Events) {
  EXPECT_EQ(text(run(10, 0), run(5, 2), CompareLevel::events), R"(A (t1)  predict, virtual clock
B (t2)  predict, virtual clock

program         t1    t2  t2-t1  t2/t1
time         10 ms  7 ms  -3 ms    0.7
of rank          0     0
serial time  10 ms  5 ms  -5 ms    0.5
wait time      0 s   0 s    0 s      1

rank  state           t1    t2  t2-t1  t2/t1  event
   0  COMPUTE      10 ms  5 ms  -5 ms    0.5      1
   0  MPI_Barrier    0 s  2 ms  +2 ms    inf      1
)");
}

// Calls of a recording by the CPU clock took a time that nobody knows, which is not zero.
TEST(TextComparison, CallsOfARecordingAreNotKnown) {
  TraceBuilder recorded = run(5, 0);
  recorded.trace().info.clock = trace::Clock::cpu;
  EXPECT_THAT(text(run(10, 4), recorded, CompareLevel::states),
              HasSubstr("COMPUTE      10 ms  5 ms  -5 ms    0.5           0  -5 ms\n"
                        "MPI_Barrier   4 ms     -      -      -\n"));
  const json states = object(run(10, 4), recorded, CompareLevel::states)["states"];
  const auto barrier =
      std::ranges::find(states, "MPI_Barrier", [](const json& row) { return row["state"]; });
  ASSERT_NE(barrier, states.end());
  EXPECT_EQ((*barrier)["t1"], 0.004);
  for (const char* key : {"t2", "difference", "ratio", "rank", "of_rank"})
    EXPECT_TRUE((*barrier)[key].is_null()) << key;
}

// The greatest difference first, with the rank that has most of it; what takes
// no time in either is not shown.
TEST(TextComparison, RanksAndStates) {
  EXPECT_THAT(text(run(10, 4), run(5, 20), CompareLevel::ranks),
              HasSubstr("rank  state           t1     t2   t2-t1  t2/t1\n"
                        "   0  MPI_Barrier   4 ms  20 ms  +16 ms      5\n"
                        "   0  COMPUTE      10 ms   5 ms   -5 ms    0.5\n"));
  TraceBuilder a(2);
  TraceBuilder b(2);
  for (int rank : {0, 1}) {
    for (TraceBuilder* t : {&a, &b}) {
      t->init(rank);
      t->add(rank, trace::EventKind::call, "MPI_Comm_rank", Time(), Time());
    }
    a.finalize(rank, Time::ns(4000000));
    b.finalize(rank, Time::ns(rank == 0 ? 5000000 : 1000000));
  }
  EXPECT_THAT(text(a, b, CompareLevel::states), HasSubstr("time         4 ms  5 ms  +1 ms   1.25\n"
                                                          "of rank         0     0\n"));
  EXPECT_THAT(text(a, b, CompareLevel::states),
              HasSubstr("state      t1    t2  t2-t1  t2/t1  most: rank  t2-t1\n"
                        "COMPUTE  8 ms  6 ms  -2 ms   0.75           1  -3 ms\n"));
  EXPECT_THAT(text(a, b, CompareLevel::states), Not(HasSubstr("MPI_Comm_rank")));
}

// Counters and a trace: by function, no events, no waits.
TEST(Comparison, Phases) {
  // Rank 1 is slow in A's phase; B has it evenly, and a phase of its own.
  TraceBuilder a(2);
  TraceBuilder b(2);
  for (int rank = 0; rank < 2; ++rank) {
    a.init(rank);
    a.phase_begin(rank, "solve");
    a.phase_end(rank, "solve", Time::ns(rank == 1 ? 9000 : 5000));
    a.finalize(rank);
    b.init(rank);
    b.phase_begin(rank, "solve");
    b.phase_end(rank, "solve", Time::ns(6000));
    b.phase_begin(rank, "write");
    b.phase_end(rank, "write", Time::ns(1000));
    b.finalize(rank);
  }
  const json rows = object(a, b, CompareLevel::phases)["phases"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["phase"], "solve");
  EXPECT_DOUBLE_EQ(rows[0]["t1"], 9e-6);  // the maximum over the ranks
  EXPECT_DOUBLE_EQ(rows[0]["t2"], 6e-6);
  EXPECT_EQ(rows[0]["rank"], 1);
  EXPECT_DOUBLE_EQ(rows[0]["of_rank"], -3e-6);
  EXPECT_EQ(rows[1]["phase"], "write");
  EXPECT_EQ(rows[1]["ratio"], nullptr);
  EXPECT_THAT(text(a, b, CompareLevel::phases),
              HasSubstr("solve  9 us  6 us  -3 us  0.6667           1  -3 us"));
  EXPECT_THAT(text(run(1, 1), run(1, 1), CompareLevel::phases),
              HasSubstr("neither run has phases"));
}

TEST(TextComparison, AProfileBesideATrace) {
  analysis::CallProfile profile;
  profile.program = "halo";
  profile.ranks = 1;
  profile.functions.emplace_back().name = "MPI_Barrier";
  analysis::RankTotal& rank = profile.per_rank.emplace_back();
  rank.rank = WorldRank(0);
  rank.time = Time::ns(9000000);
  rank.application = Time::ns(6000000);
  rank.functions["MPI_Barrier"] = Time::ns(3000000);
  const auto both =
      analysis::compare_runs(analysis::run_times(profile), analysis::run_times(run(10, 2).trace()));
  EXPECT_EQ(views::render_text_comparison(both, CompareLevel::states),
            R"(note: a profile knows no single calls: whether both runs made the same is not known
A (t1)  profile, wall clock
B (t2)  predict, virtual clock

program           t1     t2  t2-t1  t2/t1
time            9 ms  12 ms  +3 ms  1.333
of rank            0      0
serial time     6 ms  10 ms  +4 ms  1.667
wait time    unknown    0 s

state          t1     t2  t2-t1   t2/t1  most: rank  t2-t1
COMPUTE      6 ms  10 ms  +4 ms   1.667           0  +4 ms
MPI_Barrier  3 ms   2 ms  -1 ms  0.6667           0  -1 ms
)");
  const json object = json::parse(views::render_json_comparison(both, CompareLevel::states));
  EXPECT_EQ(object["same_structure"], nullptr);
  EXPECT_EQ(object["wait"]["t1"], nullptr);
  EXPECT_EQ(object["wait"]["t2"], 0.0);
}

TEST(TextComparison, SaysWhereTheProgramsDiffer) {
  TraceBuilder other(1);
  other.init(0);
  EXPECT_EQ(text(run(1, 1), other, CompareLevel::states)
                .find("note: the programs differ, first at rank 0, event 1: A has MPI_Barrier, B "
                      "has no more events\nnote: the totals are those of different calls\n"),
            0u);
}

TEST(TextComparison, SaysThatTheRanksDiffer) {
  TraceBuilder other(2);
  other.init(0);
  other.init(1);
  EXPECT_EQ(text(run(1, 1), other, CompareLevel::states)
                .find("note: the programs differ: A has 1 rank, B has 2 ranks\n"),
            0u);
}

TEST(JsonComparison, InfinityIsNull) {
  const json result = object(run(10, 0), run(5, 2), CompareLevel::events);
  EXPECT_EQ(result["time"],
            json({{"t1", 0.01}, {"t2", 0.007}, {"difference", -0.003}, {"ratio", 0.7}}));
  EXPECT_EQ(result["same_structure"], true);
  EXPECT_EQ(result["difference"], nullptr);
  ASSERT_EQ(result["events"].size(), 2u);
  EXPECT_EQ(result["events"][1], json({{"rank", 0},
                                       {"state", "MPI_Barrier"},
                                       {"event", 1},
                                       {"t1", 0.0},
                                       {"t2", 0.002},
                                       {"difference", 0.002},
                                       {"ratio", nullptr}}));
}

TEST(JsonComparison, Difference) {
  TraceBuilder other(2);
  const json result = object(run(1, 1), other, CompareLevel::states);
  EXPECT_EQ(result["same_structure"], false);
  EXPECT_EQ(result["difference"],
            json({{"rank", nullptr}, {"event", nullptr}, {"a", "1 rank"}, {"b", "2 ranks"}}));
  EXPECT_EQ(result["states"][0]["state"], "COMPUTE");
}

}  // namespace
}  // namespace foretrace
