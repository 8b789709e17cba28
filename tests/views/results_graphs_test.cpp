// Surfaces and distributions as pictures, scripts and pages.
#include "views/results/graphs.hpp"

#include <gmock/gmock.h>

#include "views/results/surface.hpp"

namespace {

using namespace foretrace;
using testing::HasSubstr;
using testing::Not;

results::Surface surface() {
  return {{{"program", "a<b"}, {"n", "3"}},        "time", "ranks", "m", {1, 2, 4}, {8, 16},
          {8.0, 4.0, std::nullopt, 16.0, 8.0, 4.0}};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(Graphs, ASurfaceHasACellForFourNeighboursAndADotForEachPoint) {
  const views::Picture picture = views::draw_surface(surface(), "a<b", "time in s");
  const std::string svg = views::render_svg_file(picture);
  EXPECT_EQ(count(svg, "<polygon"), 1u);
  EXPECT_EQ(count(svg, "<circle"), 5u);
  EXPECT_THAT(svg, HasSubstr("ranks 2, m 16: 8</title>"));
  EXPECT_THAT(svg, HasSubstr("a&lt;b"));
  // The least of all points lies at the bottom, the most at the top.
  EXPECT_THAT(svg, HasSubstr("data-p=\"1 1 0\"><title>ranks 4, m 16: 4<"));
  EXPECT_THAT(svg, HasSubstr("data-p=\"0 1 1\"><title>ranks 1, m 16: 16<"));
}

TEST(Graphs, AFlatSurfaceIsDrawn) {
  results::Surface flat = surface();
  flat.values.assign(6, 1.0);
  const std::string svg = views::render_svg_picture(views::draw_surface(flat, "", ""));
  EXPECT_EQ(count(svg, "<polygon"), 2u);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

// What a reader of PDF needs: each object at the place that the table tells.
TEST(Graphs, PdfHasItsObjectsWhereItSays) {
  const std::string pdf = views::render_pdf(views::draw_surfaces({surface()}));
  const std::size_t table = pdf.rfind("xref\n0 ");
  ASSERT_EQ(std::stoul(pdf.substr(pdf.rfind("startxref\n") + 10)), pdf.find("\nxref\n") + 1);
  std::size_t entry = pdf.find("65535 f \n", table - 10) + 9;
  for (int object = 1; object <= 8; ++object, entry += 20)
    EXPECT_EQ(
        pdf.compare(std::stoul(pdf.substr(entry, 10)), 8, std::to_string(object) + " 0 obj\n"), 0)
        << object;
  EXPECT_THAT(pdf, HasSubstr("/Count 2"));
  EXPECT_THAT(pdf, HasSubstr("(a<b, n = 3: time) Tj"));
}

TEST(Graphs, GnuplotHasTheDataAndItsHoles) {
  const std::string script = views::render_gnuplot_surfaces({surface()}, "x");
  EXPECT_THAT(script,
              HasSubstr("$g0 << END\n1 8 8\n2 8 4\n4 8 NaN\n\n1 16 16\n2 16 8\n4 16 4\n\nEND\n"));
  EXPECT_THAT(script, HasSubstr("set output 'x.svg'"));
}

TEST(Graphs, ADistributionHasABoxAndAllLaunches) {
  const results::Spread spread{{{"way", "measured"}}, "time", {{2, {1, 2, 3, 4, 5}, 2, 3, 4}}};
  const std::string svg = views::render_svg_picture(views::draw_spreads({spread}).front());
  EXPECT_EQ(count(svg, "<circle"), 5u);
  EXPECT_THAT(svg, HasSubstr("2: median 3, middle half 2 to 4, 5 launches"));
  EXPECT_THAT(views::render_gnuplot_spreads({spread}, "x"),
              HasSubstr("2 1\n2 2\n2 3\n2 4\n2 5\nEND\n"));
}

TEST(Graphs, APageOfARatioNeedsNothingElse) {
  const std::string html = views::render_html_ratio("b / a", "<figures>", {surface()});
  EXPECT_THAT(html, HasSubstr("&lt;figures&gt;"));
  EXPECT_THAT(html, HasSubstr("svg.turns"));
  for (const char* part : {"http:", "https:", "src="}) EXPECT_THAT(html, Not(HasSubstr(part)));
}

}  // namespace
