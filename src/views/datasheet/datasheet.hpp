// The data sheet of a machine model on paper: as text, HTML, LaTeX, and for
// gnuplot; and of several models, side by side.
//
// datasheet_document() and comparison_document() say once what stands on the
// sheet; the render functions only draw. The same input gives the same bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/datasheet.hpp"
#include "views/draw/plot.hpp"

namespace foretrace::views {

struct Heading {
  int level = 1;  // 1: part of the sheet, 2: a function
  std::string text;
  bool new_page = false;
};
struct Paragraph {
  std::string text;
};
// What speaks against trusting the sheet.
struct SheetWarning {
  std::string text;
};
// Cells that end in " *" are extrapolated.
struct SheetTable {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::size_t text_columns = 1;  // from the left; the others hold numbers
  bool raw = false;              // raw data: folded or left out where it would be in the way
  bool boxed = false;            // the figures to be seen first
};
// Time over sizes (x) and ranks (y), all axes logarithmic; on paper alone, where nobody can choose.
struct SurfacePoint {
  double x = 0, y = 0, z = 0;
};
struct SheetSurface {
  std::string title;
  std::string z_label;
  std::vector<std::vector<SurfacePoint>> rows;  // of one number of ranks each, equally long
  std::vector<SurfacePoint> points;             // measured
};
// Small plots, several to a line, each under its name and a sentence; on paper alone.
struct SheetCard {
  Plot plot;
  std::string text;
  std::string remark;  // beside the name
};
struct SheetGallery {
  Heading heading;
  Paragraph text;
  std::vector<PlotSeries> legend;  // of all cards, without points; empty: each has its own
  std::vector<SheetCard> cards;
};
// Where a page that can answer has a plot of any functions.
struct PlotOfAnything {};
using SheetBlock = std::variant<Heading, Paragraph, SheetWarning, SheetTable, Plot, SheetSurface,
                                SheetGallery, PlotOfAnything>;

// Text is UTF-8; beyond ASCII it uses x, +-, squared and micro signs.
struct SheetDocument {
  std::string title;
  std::vector<SheetBlock> blocks;
};

// brief: what fits some fifteen pages for a model of a hundred functions. full: also every
// interval's equation, residuals, bounds and raw data of each function.
enum class SheetExtent { brief, full };

// `digits`: significant digits of the coefficients in equations; 0: as many as
// their standard errors justify.
SheetDocument datasheet_document(const analysis::Datasheet& sheet, int digits, SheetExtent extent);
// Two sheets or more, made with the same ranks and sizes; ratios are to the first.
SheetDocument comparison_document(std::span<const analysis::Datasheet> sheets, int digits,
                                  SheetExtent extent);

// "60 + 0.7 × d", "(100 ± 10) + (6.0 ± 0.8) × p".
std::string format_equation(const machine::Equation& equation, int digits);

std::string render_text_datasheet(const SheetDocument& document);
// One self-contained page, whose plots answer where the build has a script for them; they are
// of `sheets`.
std::string render_html_datasheet(const SheetDocument& document,
                                  std::span<const analysis::Datasheet> sheets);
// What the script gets: the models, and the measured points, in seconds and bytes.
std::string datasheet_json(std::span<const analysis::Datasheet> sheets);
// For pdflatex or lualatex; what it draws are PDF operators, so that no package has to.
std::string render_latex_datasheet(const SheetDocument& document);
struct NamedText {
  std::string name;
  std::string text;
};
// functions.gp with t<function>(p,d), d in bytes, in seconds, and <function>.dat
// and <function>.gp for each function.
std::vector<NamedText> render_gnuplot_datasheet(const analysis::Datasheet& sheet);

}  // namespace foretrace::views
