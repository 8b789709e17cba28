// Several runs against several: text, JSON and page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../analysis/trace_builder.hpp"
#include "base/error.hpp"
#include "views/report/comparison.hpp"

namespace foretrace {
namespace {

using analysis::compare_groups;
using analysis::CompareLevel;
using analysis::RunGroup;
using machine::Cost;
using nlohmann::json;
using test::TraceBuilder;
using testing::HasSubstr;
using testing::Not;

// A measured run of `ranks`: computation in the phase "solve", a barrier. Milliseconds.
trace::Trace run_of(std::int64_t compute, std::int64_t barrier, int ranks = 1) {
  TraceBuilder b(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    b.init(rank);
    b.phase_begin(rank, "solve");
    b.phase_end(rank, "solve", Time::ns(compute * 1000000));
    b.collective(rank, "MPI_Barrier", Cost::barrier, 0, Time(), Time::ns(barrier * 1000000));
    b.finalize(rank);
  }
  b.trace().info.clock = trace::Clock::wall;
  b.trace().info.origin = "record";
  return b.trace();
}

RunGroup group(const char* name, const std::vector<trace::Trace>& traces) {
  RunGroup runs;
  for (const trace::Trace& trace : traces)
    runs.push_back(analysis::group_run(std::string(name) + std::to_string(runs.size()), trace));
  return runs;
}

// A: 10, 12 and 14 ms, B: 20 and 22. Means 12 and 21, deviations 2 and sqrt(2). The errors of the
// means squared are 4/3 and 1, so Satterthwaite's degrees are (7/3)^2 / ((4/3)^2 / 2 + 1) = 2.8824,
// where t is 3.2572 and the difference lies within 9 -+ 4.9755.
analysis::GroupComparison example(CompareLevel level = CompareLevel::states) {
  return compare_groups(group("a", {run_of(9, 1), run_of(11, 1), run_of(13, 1)}),
                        group("b", {run_of(19, 1), run_of(21, 1)}), level);
}

TEST(GroupComparison, MeansAndWhereTheyLie) {
  const json object = json::parse(views::render_json_groups(example(), CompareLevel::phases));
  const json& time = object["time"];
  EXPECT_DOUBLE_EQ(time["t1"], 0.012);
  EXPECT_DOUBLE_EQ(time["t2"], 0.021);
  EXPECT_DOUBLE_EQ(time["difference"], 0.009);
  EXPECT_NEAR(time["difference_interval"][0], 0.009 - 0.0049755, 1e-6);
  EXPECT_NEAR(time["difference_interval"][1], 0.009 + 0.0049755, 1e-6);
  EXPECT_DOUBLE_EQ(time["ratio"], 1.75);
  EXPECT_GT(time["ratio_interval"][0], 1);
  EXPECT_EQ(time["t1_runs"], json({0.010, 0.012, 0.014}));
  EXPECT_EQ(object["a"].size(), 3u);
  EXPECT_EQ(object["b"][1]["file"], "b1");
  ASSERT_EQ(object["phases"].size(), 1u);
  EXPECT_EQ(object["phases"][0]["phase"], "solve");
  EXPECT_DOUBLE_EQ(object["phases"][0]["t2"], 0.020);
}

TEST(GroupComparison, TextSaysWhatIsCertain) {
  const std::string text = views::render_text_groups(example(), CompareLevel::states);
  EXPECT_THAT(text, HasSubstr("A (t1)  3 runs: record, wall clock\n"
                              "B (t2)  2 runs: record, wall clock\n"));
  EXPECT_THAT(text, HasSubstr("time         12 ms  2 ms  21 ms  1.414 ms  +9 ms  +4.0"));
  // The barrier is the same in all.
  EXPECT_THAT(text, HasSubstr("MPI_Barrier   1 ms   0 s   1 ms       0 s    0 s        0 s        "
                              "0 s      1      1      1\n"));
  EXPECT_THAT(text, HasSubstr("1 of 2 differences leave zero out"));
  EXPECT_THAT(views::render_text_groups(example(CompareLevel::ranks), CompareLevel::ranks),
              HasSubstr("   0  COMPUTE"));
}

TEST(GroupComparison, APredictionIsExactAndOneMeasurementIsNot) {
  trace::Trace predicted = run_of(15, 1);
  predicted.info.clock = trace::Clock::virtual_;
  const auto exact = compare_groups(group("a", {run_of(9, 1), run_of(11, 1), run_of(13, 1)}),
                                    group("b", {predicted}));
  EXPECT_TRUE(exact.time.intervals.difference);
  const auto single = compare_groups(group("a", {run_of(9, 1), run_of(11, 1), run_of(13, 1)}),
                                     group("b", {run_of(15, 1)}));
  EXPECT_FALSE(single.time.intervals.difference);
  EXPECT_THAT(views::render_text_groups(single, CompareLevel::states),
              HasSubstr("note: B is one measurement, which tells nothing of its scatter"));
  const json object = json::parse(views::render_json_groups(single, CompareLevel::states));
  EXPECT_EQ(object["time"]["difference_interval"], nullptr);
  EXPECT_EQ(object["time"]["ratio_interval"], nullptr);
}

// What a recording by the CPU clock does not know is not zero.
TEST(GroupComparison, CallsOfARecordingAreNotKnown) {
  trace::Trace recorded = run_of(9, 0);
  recorded.info.clock = trace::Clock::cpu;
  const auto both = compare_groups(group("a", {recorded, recorded}), group("b", {run_of(9, 1)}));
  const json rows = json::parse(views::render_json_groups(both, CompareLevel::states))["states"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1]["state"], "MPI_Barrier");
  EXPECT_EQ(rows[1]["t1"], nullptr);
  EXPECT_EQ(rows[1]["t2"], 0.001);
  EXPECT_EQ(rows[1]["difference"], nullptr);
  EXPECT_THAT(views::render_html_comparison(both, ""), HasSubstr("not known"));
}

TEST(GroupComparison, ASideIsOfOneKind) {
  EXPECT_THROW(
      compare_groups(group("a", {run_of(1, 1), run_of(1, 1, 2)}), group("b", {run_of(1, 1)})),
      Error);
  trace::Trace predicted = run_of(1, 1);
  predicted.info.clock = trace::Clock::virtual_;
  EXPECT_THROW(compare_groups(group("a", {run_of(1, 1)}), group("b", {run_of(1, 1), predicted})),
               Error);
}

TEST(ComparisonPage, ShowsBothSidesAndLeadsToTheTimeLines) {
  const std::string page = views::render_html_comparison(example(), "x-timeline.html");
  EXPECT_THAT(page, HasSubstr("B takes <b>1.75 times</b> as long as A: 21 ms instead of 12 ms"));
  for (const char* title : {"Program", "Phases", "States"})
    EXPECT_THAT(page, HasSubstr("<h2>" + std::string(title) + "</h2>"));
  EXPECT_THAT(page, HasSubstr("x-timeline.html#find=phase%3D%22solve%22"));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_EQ(page, views::render_html_comparison(example(), "x-timeline.html"));
  const std::string alone = views::render_html_comparison(example(), "");
  EXPECT_THAT(alone, Not(HasSubstr("href")));
}

// 10 and 14 against 11 and 15 ms: nobody can say.
TEST(ComparisonPage, DoesNotClaimWhatIsNotCertain) {
  const auto both = compare_groups(group("a", {run_of(9, 1), run_of(13, 1)}),
                                   group("b", {run_of(10, 1), run_of(14, 1)}));
  EXPECT_THAT(views::render_html_comparison(both, ""), HasSubstr("<b>not known</b>"));
}

TEST(ComparisonPage, NamesAreNoMarkup) {
  TraceBuilder b(1);
  b.trace().info.program = "<script>alert(1)</script>";
  b.init(0);
  b.phase_begin(0, "a\"<b>");
  b.phase_end(0, "a\"<b>", Time::ns(5));
  b.finalize(0);
  const std::string page = views::render_html_comparison(
      compare_groups(group("<a>", {b.trace()}), group("b", {b.trace()})), "x.html");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("a&quot;&lt;b&gt;"));
  EXPECT_THAT(page, HasSubstr("B takes as long as A"));
}

}  // namespace
}  // namespace foretrace
