// A study's page: how points become lines over ranks, and what the page says of what is missing.
#include "views/results/page.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace {

using namespace foretrace;
using results::Cell;
using results::ColumnKind;
using results::Table;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<Cell> row(const std::string& way, const std::string& machine, std::int64_t ranks,
                      Cell n, Cell time, Cell compute = {}) {
  return {std::string("life"), way, machine, ranks, ranks, std::move(n), std::move(time),
          std::move(compute)};
}

Table table(std::vector<std::vector<Cell>> rows) {
  return {{{"program", ColumnKind::fixed},
           {"way", ColumnKind::fixed},
           {"machine", ColumnKind::fixed},
           {"ranks", ColumnKind::fixed},
           {"p", ColumnKind::parameter},
           {"n", ColumnKind::parameter},
           {"time", ColumnKind::quantity},
           {"phase_compute", ColumnKind::quantity}},
          std::move(rows)};
}

const std::int64_t kSmall = 16;
const std::int64_t kLarge = 32;

// 12 s on one rank, 8 on two, 4 on four: 1.5 and 3 times as fast, at 75 % both.
Table example() {
  return table({row("predict", "t3d", 1, kSmall, 12.0, 9.0),
                row("predict", "t3d", 2, kSmall, 8.0, 5.0),
                row("predict", "t3d", 4, kSmall, 4.0, 2.0), row("predict", "t3d", 1, kLarge, 50.0),
                row("measured", "", 2, kSmall, 10.0), row("measured", "", 4, kSmall, 8.0)});
}

TEST(Scaling, ComputesSpeedupAndEfficiency) {
  const results::Scaling scaling = results::scaling_of(example());
  ASSERT_EQ(scaling.groups.size(), 2u);
  EXPECT_THAT(scaling.phases, ElementsAre("compute"));
  EXPECT_TRUE(scaling.grown.empty());
  const auto& group = scaling.groups[0];
  EXPECT_THAT(group.of, ElementsAre(std::pair("program", "life"), std::pair("n", "16")));
  ASSERT_EQ(group.series.size(), 2u);
  // Measured from two ranks on: against those.
  const auto& measured = group.series[0];
  EXPECT_EQ(measured.way, "measured");
  EXPECT_THAT(measured.missing, ElementsAre(1));
  EXPECT_DOUBLE_EQ(measured.points[1].speedup, 1.25);
  EXPECT_DOUBLE_EQ(measured.points[1].efficiency, 0.625);
  const auto& predicted = group.series[1];
  ASSERT_EQ(predicted.points.size(), 3u);
  EXPECT_DOUBLE_EQ(predicted.points[0].speedup, 1);
  EXPECT_DOUBLE_EQ(predicted.points[1].speedup, 1.5);
  EXPECT_DOUBLE_EQ(predicted.points[1].efficiency, 0.75);
  EXPECT_DOUBLE_EQ(predicted.points[2].speedup, 3);
  EXPECT_DOUBLE_EQ(predicted.points[2].efficiency, 0.75);
  EXPECT_THAT(predicted.points[2].phases, ElementsAre(2.0));
}

TEST(Scaling, WhatDoesNotKnowAParameterStandsBesideAll) {
  const results::Scaling scaling = results::scaling_of(
      table({row("model", "t3d", 1, {}, 3.0), row("predict", "t3d", 1, kSmall, 12.0),
             row("predict", "t3d", 1, kLarge, 50.0)}));
  ASSERT_EQ(scaling.groups.size(), 2u);
  for (const auto& group : scaling.groups) EXPECT_EQ(group.series.size(), 2u);
}

TEST(Scaling, ProblemsThatGrowWithTheRanksHaveNoSpeedup) {
  const results::Scaling scaling = results::scaling_of(
      table({row("predict", "t3d", 1, kSmall, 12.0), row("predict", "t3d", 2, kLarge, 13.0)}));
  ASSERT_EQ(scaling.groups.size(), 1u);
  EXPECT_THAT(scaling.grown, ElementsAre("n"));
  EXPECT_EQ(scaling.groups[0].series[0].points.size(), 2u);
}

TEST(Scaling, TellsWhatItLeavesOutAndWhatWasRunAnew) {
  const results::Scaling scaling = results::scaling_of(
      table({row("predict", "t3d", 1, kSmall, 12.0), row("predict", "t3d", 1, kSmall, 11.0),
             row("predict", "t3d", 2, kSmall, {}), row("predict", "t3d", 0, kSmall, 1.0)}));
  EXPECT_EQ(scaling.left_out, 2u);
  EXPECT_EQ(scaling.replaced, 1u);
  ASSERT_EQ(scaling.groups.size(), 1u);
  ASSERT_EQ(scaling.groups[0].series[0].points.size(), 1u);
  EXPECT_EQ(scaling.groups[0].series[0].points[0].time, 11.0);
}

views::StudyPage page_of(Table points) {
  views::StudyPage page{"r", "", {}, std::move(points), {}};
  page.scaling = results::scaling_of(page.points);
  return page;
}

TEST(StudyPage, SaysWhatWasAskedRunAndMissing) {
  views::StudyPage page = page_of(example());
  page.account.studies = {{"s", "s.toml", "[ways.<predict>]\n", "2026-11-23T13:00:00Z"}};
  page.account.places = {
      {"here", "1.0", "{}", 7, "2026-11-23T13:00:00Z", "2026-11-23T13:00:09Z", 8}};
  page.account.launches = 7;
  page.account.failed = 1;
  page.account.unfinished = {{"life", "predict", "t3d", 8, 1, "foretrace predict", "</td> no"}};
  const std::string html = render_html_study(page);
  for (const char* part :
       {"[ways.&lt;predict&gt;]", "7 launches, 1 failed; 6 points", "&lt;/td&gt; no",
        "life, n = 16, measured: 1<", "measured, r = 2", "speed-up against", "efficiency against",
        "Time by phase", "compute: 9</title>", ">12 s</td>"})
    EXPECT_THAT(html, HasSubstr(part));
  for (const char* part : {"<script", "http:", "https:", "</td> no"})
    EXPECT_THAT(html, Not(HasSubstr(part)));
}

TEST(StudyPage, IsDrawnWithoutAnyPoint) {
  const std::string html = render_html_study(page_of(table({})));
  EXPECT_THAT(html, HasSubstr("There are no points."));
  EXPECT_THROW(render_gnuplot_study(page_of(table({})), "x"), UsageError);
}

TEST(StudyPage, GnuplotHasTheData) {
  const std::string script = render_gnuplot_study(page_of(example()), "it's");
  EXPECT_THAT(script, HasSubstr("$g0s1 << END\n1 12 12 12\n2 8 8 8\n4 4 4 4\nEND\n"));
  EXPECT_THAT(script, HasSubstr("set output 'it\"s.svg'"));
  EXPECT_THAT(script, HasSubstr("layout 1,1"));  // one point alone is not drawn
}

}  // namespace
