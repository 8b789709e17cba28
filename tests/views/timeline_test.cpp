#include "views/timeline/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../analysis/trace_builder.hpp"
#include "example_traces.hpp"
#include "views/timeline/page.hpp"

namespace foretrace {
namespace {

using machine::Cost;
using test::TraceBuilder;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const trace::Trace& trace, const views::TextTimelineOptions& options = {}) {
  analysis::RunEvents run(trace);
  return views::render_text_timeline(run, options);
}

Time us(std::int64_t n) {
  return Time::ns(n * 1000);
}

TEST(TextTimeline, OneRowPerRank) {
  // 40 columns: 3 for labels, a space, 36 for 360 us: 10 us each.
  TraceBuilder b(2);
  b.init(0);
  b.send(0, 1, 0, 8, us(100), us(20));  // computes to 100, sends to 120
  b.collective(0, "MPI_Barrier", Cost::barrier, 0, Time(), us(230),
               us(200));  // waits to 320, to 350
  b.finalize(0, us(10));
  b.init(1);
  b.recv(1, 0, 0, 8, Time(), us(130), us(120));  // waits to 120, receives to 130
  b.collective(1, "MPI_Barrier", Cost::barrier, 0, us(190), us(30));  // computes to 320, to 350
  b.finalize(1);
  // "All" up to 100 us: computing and waiting are equal, the first of the list
  // wins; then waiting before send and receive.
  EXPECT_EQ(text_of(b.trace(), {.width = 40}),
            R"(2 ranks, 360 us; a column is 10 us
    0 s                 200 us
    |-------------------|---------------
  0 ##########ss....................bbb#
  1 ............r###################bbb
All ##########...###################bbb#

# computing  . waiting  s send  r receive  b barrier
)");
}

// 36 columns of 10 us; a mark at the very end falls into the last one.
TEST(TextTimeline, ShowsMarks) {
  TraceBuilder b(2);
  b.init(0);
  b.mark(0, "iteration", 1, us(100));
  b.mark(0, "iteration", 2, us(105));
  b.finalize(0, us(155));
  b.init(1);
  b.mark(1, "done", 0, us(360));
  b.finalize(1);
  EXPECT_EQ(text_of(b.trace(), {.width = 40}),
            R"(2 ranks, 360 us; a column is 10 us
    0 s                 200 us
    |-------------------|---------------
  0 ####################################
  1 ####################################
All ####################################
  ^           ^         ^              ^

# computing
^ iteration (2), done (1)
)");
}

TEST(TextTimeline, FoldsRanksThatDoNotFit) {
  TraceBuilder b(5);
  for (int r = 0; r < 5; ++r) b.init(r), b.finalize(r, us(100));
  const std::string text = text_of(b.trace(), {.width = 60, .max_rows = 2});
  EXPECT_THAT(text, HasSubstr("\n0-2 ####"));
  EXPECT_THAT(text, HasSubstr("\n3-4 ####"));
  EXPECT_THAT(text, HasSubstr("\na row stands for 3 neighbouring ranks\n"));
}

TEST(TextTimeline, FitsTheWidthAndRepeats) {
  const trace::Trace trace = test::mandel_trace();
  const std::string text = text_of(trace, {.width = 100});
  std::size_t start = 0;
  for (std::size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
    EXPECT_LE(end - start, 100u) << text.substr(start, end - start);
  EXPECT_EQ(text, text_of(test::mandel_trace(), {.width = 100}));
}

TEST(TextTimeline, EmptyTrace) {
  TraceBuilder b(1);
  EXPECT_THAT(text_of(b.trace()), HasSubstr("1 rank, 0 s; a column is 0 s"));
}

TEST(HtmlTimeline, HoldsTheTraceAndNoAddress) {
  if (views::timeline_page().empty()) GTEST_SKIP() << "built with FORETRACE_WEB=OFF";
  const trace::Trace trace = test::mandel_trace();
  const std::string page = views::render_html_timeline(trace);
  EXPECT_THAT(page, HasSubstr("mandel 160 160"));
  EXPECT_THAT(page, HasSubstr("MPI_Allreduce"));
  EXPECT_THAT(page, Not(HasSubstr("@FORETRACE")));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
  EXPECT_EQ(page, views::render_html_timeline(test::mandel_trace()));
}

TEST(HtmlTimeline, NamesCannotLeaveTheirElement) {
  if (views::timeline_page().empty()) GTEST_SKIP() << "built with FORETRACE_WEB=OFF";
  TraceBuilder b(1);
  b.trace().info.program = "</script><script>alert(1)</script>";
  const std::string page = views::render_html_timeline(b.trace());
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>"));
}

TEST(HtmlTimeline, SeveralRunsHaveTheirNames) {
  if (views::timeline_page().empty()) GTEST_SKIP() << "built with FORETRACE_WEB=OFF";
  const trace::Trace trace = test::mandel_trace();
  const std::string page = views::render_html_runs(
      {views::encode_run("a \"b\" <c>", trace), views::encode_run("after", trace)});
  EXPECT_THAT(page, HasSubstr("data-name=\"a &quot;b&quot; &lt;c&gt;\""));
  EXPECT_THAT(page, HasSubstr("data-name=\"after\""));
  EXPECT_THAT(page, Not(HasSubstr("@FORETRACE")));
}

}  // namespace
}  // namespace foretrace
