#include "views/report/html_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../analysis/trace_builder.hpp"
#include "example_traces.hpp"

namespace foretrace {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string page_of(const trace::Trace& trace, const std::string& timeline) {
  return views::render_html_report(analysis::profile_trace(trace), analysis::traffic_of(trace),
                                   timeline);
}

TEST(HtmlReport, HoldsTheRunAndNoAddress) {
  const std::string page = page_of(test::mandel_trace(), "");
  for (const char* title : {"Ranks", "Phases", "Who waits for whom", "Balance", "Functions",
                            "Messages between ranks", "Durations"})
    EXPECT_THAT(page, HasSubstr("<h2>" + std::string(title) + "</h2>"));
  EXPECT_THAT(page, HasSubstr("690.6 ms"));
  EXPECT_THAT(page, HasSubstr("1 to 0: 1 messages"));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, Not(HasSubstr("href")));
  EXPECT_EQ(page, page_of(test::mandel_trace(), ""));
}

TEST(HtmlReport, TablesLeadToTheTimeLine) {
  const std::string page = page_of(test::mandel_trace(), "run-timeline.html");
  EXPECT_THAT(page, HasSubstr("<a href=\"run-timeline.html\">"));
  EXPECT_THAT(page, HasSubstr("run-timeline.html#find=call%3DMPI_Allreduce"));
  EXPECT_THAT(page, HasSubstr("#find=phase%3D%22collect%22"));
}

TEST(HtmlReport, NamesAreNoMarkup) {
  test::TraceBuilder b(1);
  b.trace().info.program = "<script>alert(1)</script>";
  b.init(0);
  b.phase_begin(0, "a\"<b>");
  b.phase_end(0, "a\"<b>", Time::ns(5));
  b.finalize(0);
  const std::string page = page_of(b.trace(), "x\".html");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<b>\"")));
  EXPECT_THAT(page, HasSubstr("a&quot;&lt;b&gt;"));
}

TEST(HtmlReport, AnEmptyTrace) {
  test::TraceBuilder b(1);
  EXPECT_THAT(page_of(b.trace(), ""), HasSubstr("on 1 rank"));
}

}  // namespace
}  // namespace foretrace
