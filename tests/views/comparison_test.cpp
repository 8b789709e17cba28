#include "views/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

program         t1    t2  t2/t1
time         10 ms  7 ms    0.7
serial time  10 ms  5 ms    0.5

rank  state           t1    t2  t2/t1  event
   0  COMPUTE      10 ms  5 ms    0.5      1
   0  MPI_Barrier    0 s  2 ms    inf      1
)");
}

TEST(TextComparison, RanksAndStates) {
  EXPECT_THAT(text(run(10, 4), run(5, 4), CompareLevel::ranks),
              HasSubstr("rank  state           t1    t2  t2/t1\n"
                        "   0  COMPUTE      10 ms  5 ms    0.5\n"
                        "   0  MPI_Barrier   4 ms  4 ms      1\n"));
  EXPECT_THAT(text(run(10, 4), run(5, 4), CompareLevel::states),
              HasSubstr("state           t1    t2  t2/t1\n"
                        "COMPUTE      10 ms  5 ms    0.5\n"
                        "MPI_Barrier   4 ms  4 ms      1\n"));
}

TEST(TextComparison, SaysWhereTheProgramsDiffer) {
  TraceBuilder other(1);
  other.init(0);
  EXPECT_EQ(text(run(1, 1), other, CompareLevel::states)
                .find("note: the programs differ, first at rank 0, event 1: A has MPI_Barrier, B "
                      "has no more events\nnote: the totals are those of different calls\n"),
            0u);
}

TEST(JsonComparison, InfinityIsNull) {
  const json result = object(run(10, 0), run(5, 2), CompareLevel::events);
  EXPECT_EQ(result["time"], json({{"t1", 0.01}, {"t2", 0.007}, {"ratio", 0.7}}));
  EXPECT_EQ(result["same_structure"], true);
  EXPECT_EQ(result["difference"], nullptr);
  ASSERT_EQ(result["events"].size(), 2u);
  EXPECT_EQ(result["events"][1], json({{"rank", 0},
                                       {"state", "MPI_Barrier"},
                                       {"event", 1},
                                       {"t1", 0.0},
                                       {"t2", 0.002},
                                       {"ratio", nullptr}}));
}

TEST(JsonComparison, Difference) {
  TraceBuilder other(2);
  const json result = object(run(1, 1), other, CompareLevel::states);
  EXPECT_EQ(result["same_structure"], false);
  EXPECT_EQ(result["difference"],
            json({{"rank", nullptr}, {"event", nullptr}, {"a", "1 ranks"}, {"b", "2 ranks"}}));
  EXPECT_EQ(result["states"][0]["state"], "COMPUTE");
}

}  // namespace
}  // namespace foretrace
