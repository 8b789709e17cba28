#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "views/datasheet.hpp"
#include "views/markup.hpp"

namespace foretrace::views {
namespace {

// The date of printing and a random identifier would make each PDF another.
constexpr const char* kPreamble = R"(\documentclass[a4paper,10pt]{article}
\usepackage{iftex}
\ifpdftex
  \usepackage[T1]{fontenc}
  \usepackage[utf8]{inputenc}
  \pdfinfoomitdate=1
  \pdftrailerid{}
  \pdfsuppressptexinfo=-1
\fi
\usepackage{textcomp}
\usepackage[margin=2cm]{geometry}
\usepackage{longtable}
\usepackage{array}
\usepackage{pgfplots}
\pgfplotsset{compat=1.16}
\definecolor{c0}{HTML}{2F5FA8}
\definecolor{c1}{HTML}{B4500F}
\definecolor{c2}{HTML}{2B7A4B}
\definecolor{c3}{HTML}{8A3FA0}
\definecolor{c4}{HTML}{7A6A12}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\setlength{\LTleft}{0pt}
\setlength{\LTpre}{2pt}
\setlength{\LTpost}{8pt}
\setlength{\tabcolsep}{4pt}
\renewcommand{\arraystretch}{1.1}
\setcounter{secnumdepth}{0}
\emergencystretch=3em
\interlinepenalty=10000
\begin{document}
)";

constexpr int kColours = 5;
// A row that is wider than this in characters is set in smaller type, one that is
// wider still in the smallest.
constexpr std::size_t kSmallWidth = 82;
constexpr std::size_t kTinyWidth = 108;
constexpr std::size_t kParagraphCell = 48;
// So many characters of the smallest type fill a line.
constexpr double kLineOfTiny = 132;
constexpr std::size_t kMostRowsTogether = 24;

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<std::size_t> column_widths(const SheetTable& table) {
  std::vector<std::size_t> widths(table.header.size(), 0);
  const auto look = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i)
      widths[i] = std::max(widths[i], width_of(row[i]));
  };
  look(table.header);
  for (const auto& row : table.rows) look(row);
  return widths;
}

// Within two decades pgfplots would write powers such as 10^0.5.
std::string short_axis_ticks(double low, double high) {
  if (high / low > 100) return "";
  static constexpr double kWide[] = {1, 2, 5};
  static constexpr double kNarrow[] = {1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::span<const double> leads =
      high / low > 5 ? std::span<const double>(kWide) : std::span<const double>(kNarrow);
  std::string values;
  for (int e = static_cast<int>(std::floor(std::log10(low))); std::pow(10, e) <= high; ++e)
    for (const double lead : leads)
      if (const double at = lead * std::pow(10, e); at >= low && at <= high)
        values += fmt::format("{}{:g}", values.empty() ? "" : ",", at);
  if (values.empty()) return "";
  return fmt::format(" ytick={{{0}}}, yticklabels={{{0}}},", values);
}

// For a column `width` wide in a table `all` wide.
double share_of_line(std::size_t all, std::size_t width) {
  const double others = static_cast<double>(all - width) / kLineOfTiny;
  return std::clamp(1 - others, 0.25, 0.75);
}

struct Writer {
  std::string out;
  bool after_heading = false;  // what explains a heading's table stays with it

  void operator()(const Heading& heading) {
    if (heading.new_page && !after_heading) out += "\n\\clearpage\n";
    out += fmt::format("\n\\{}{{{}}}\n", heading.level == 1 ? "section" : "subsection",
                       escape_latex(heading.text));
    after_heading = true;
  }
  void operator()(const Paragraph& paragraph) {
    out += "\n" + escape_latex(paragraph.text) + (after_heading ? "\\par\\nobreak\n\n" : "\n\n");
    after_heading = false;
  }

  void operator()(const SheetTable& table) {
    if (table.rows.empty()) return;
    const std::vector<std::size_t> widths = column_widths(table);
    std::size_t all = 0;
    for (const std::size_t width : widths) all += 2 + width;
    // What is too wide breaks the lines of its widest column of words.
    std::size_t broken = widths.size();
    for (std::size_t i = 0; i < std::min(table.text_columns, widths.size()); ++i)
      if (widths[i] > kParagraphCell && (broken == widths.size() || widths[i] > widths[broken]))
        broken = i;
    if (all <= kTinyWidth) broken = widths.size();
    std::string columns;
    for (std::size_t i = 0; i < widths.size(); ++i)
      columns += i == broken
                     ? fmt::format(R"(>{{\raggedright\arraybackslash}}p{{{:.2f}\linewidth}})",
                                   share_of_line(all, widths[i]))
                 : i < table.text_columns ? std::string("l")
                                          : std::string("r");
    const char* size = all > kTinyWidth || table.raw ? "\\scriptsize"
                       : all > kSmallWidth           ? "\\footnotesize"
                                                     : "\\small";
    // A short table stays on one page, with its caption.
    const bool whole = table.rows.size() <= kMostRowsTogether;
    if (whole) out += "\n\\medskip\n\\begin{minipage}{\\linewidth}\n";
    if (!table.caption.empty())
      out +=
          fmt::format("\n{{\\small\\itshape {}\\par\\nopagebreak}}\n", escape_latex(table.caption));
    const char* kind = whole ? "tabular" : "longtable";
    out += fmt::format("{{{}\n\\begin{{{}}}{{@{{}}{}@{{}}}}\n\\hline\n", size, kind, columns);
    if (std::ranges::any_of(table.header, [](const auto& cell) { return !cell.empty(); })) {
      row(table.header, "\\textbf{", "}");
      out += whole ? "\\hline\n" : "\\hline\n\\endhead\n";
    }
    for (const auto& each : table.rows) row(each, "", "");
    out += fmt::format("\\hline\n\\end{{{}}}}}\n", kind);
    if (whole) out += "\\end{minipage}\\par\n";
  }

  void row(const std::vector<std::string>& cells, const char* before, const char* after) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      // Braces: a cell may begin with a bracket, which \\ would take for its own.
      out += fmt::format("{}{}{{{}}}{}", i > 0 ? " & " : "", before, escape_latex(cells[i]), after);
    out += " \\\\\n";
  }

  void operator()(const PlotOfAnything&) {}

  void operator()(const SheetSurface& surface) {
    const auto positive = [](const auto& points) {
      return std::ranges::all_of(points, [](const SurfacePoint& p) { return p.z > 0; });
    };
    // A time of zero has no place on a logarithmic axis.
    if (!std::ranges::all_of(surface.rows, positive) || !positive(surface.points)) return;
    out += fmt::format(
        "\n\\begin{{tikzpicture}}\n\\begin{{axis}}[width=0.86\\linewidth, height=7.2cm, "
        "view={{-40}}{{28}}, xmode=log, log basis x=2, ymode=log, log basis y=2, zmode=log, "
        "title={{{}}}, xlabel=bytes, ylabel=ranks, zlabel={{{}}}, title style={{font=\\small}}, "
        "label style={{font=\\small}}, tick label style={{font=\\footnotesize}}, grid=major, "
        "grid style={{gray!25}}, colormap={{c}}{{color=(c0!25) color=(c0)}}]\n"
        "\\addplot3[surf, mesh/ordering=x varies, mesh/cols={}, opacity=0.85, "
        "faceted color=c0!70!black, line width=0.2pt] coordinates {{\n",
        escape_latex(surface.title), escape_latex(surface.z_label), surface.rows.front().size());
    for (const auto& row : surface.rows) coordinates(row);
    out += "};\n";
    if (!surface.points.empty()) {
      out += "\\addplot3[only marks, mark=*, mark size=0.7pt, c1] coordinates {\n";
      coordinates(surface.points);
      out += "};\n";
    }
    out += "\\end{axis}\n\\end{tikzpicture}\n\n";
  }

  void coordinates(const std::vector<SurfacePoint>& points) {
    for (const SurfacePoint& p : points)
      out += fmt::format("({:.6g},{:.6g},{:.6g}) ", p.x, p.y, p.z);
    out += "\n";
  }

  void operator()(const SheetPlot& plot) {
    double floor = INFINITY;
    double ceiling = 0;
    for (const PlotSeries& series : plot.series)
      for (const auto& piece : series.pieces)
        for (const PlotPoint& p : piece)
          for (const double y : {p.y, p.low})
            if (y > 0) floor = std::min(floor, y);
    for (const PlotSeries& series : plot.series)
      for (const auto& piece : series.pieces)
        for (const PlotPoint& p : piece) ceiling = std::max(ceiling, p.high);
    if (plot.log_y && !std::isfinite(floor)) {
      out += "\nThe time is zero everywhere.\n\n";
      return;
    }
    // Zero has no place on a logarithmic axis.
    const auto at = [&](double y) { return plot.log_y ? std::max(y, floor / 2) : y; };
    const std::string ticks = plot.log_y ? short_axis_ticks(floor, ceiling) : "";
    out += fmt::format(
        "\n\\begin{{tikzpicture}}\n\\begin{{axis}}[width=0.78\\linewidth, height={}, xmode=log, "
        "log basis x=2,{} title={{{}}}, xlabel={{{}}}, ylabel={{{}}}, title "
        "style={{font=\\small}}, "
        "label style={{font=\\small}}, tick label style={{font=\\footnotesize}}, grid=major, "
        "grid style={{gray!25}}, legend pos=outer north east, legend cell align=left, "
        "legend style={{font=\\footnotesize, draw=none}}]\n",
        plot.log_y ? "5.2cm" : "4.2cm", plot.log_y ? " ymode=log," + ticks : "",
        escape_latex(plot.title), escape_latex(plot.x_label), escape_latex(plot.y_label));
    for (const PlotSeries& series : plot.series)
      if (series.marks)
        marks(series, at);
      else
        line(series, at);
    out += "\\end{axis}\n\\end{tikzpicture}\n\n";
  }

  template <class At>
  void line(const PlotSeries& series, At at) {
    const int colour = series.colour % kColours;
    bool named = false;
    for (const auto& piece : series.pieces) {
      if (std::ranges::any_of(piece,
                              [](const PlotPoint& p) { return p.low != p.y || p.high != p.y; })) {
        out += fmt::format(
            "\\addplot[forget plot, draw=none, fill=c{}, fill opacity=0.18] coordinates {{",
            colour);
        for (const PlotPoint& p : piece) out += fmt::format("({:.6g},{:.6g})", p.x, at(p.high));
        for (auto p = piece.rbegin(); p != piece.rend(); ++p)
          out += fmt::format("({:.6g},{:.6g})", p->x, at(p->low));
        out += "} -- cycle;\n";
      }
      out += fmt::format("\\addplot[{}c{}, thick] coordinates {{", named ? "forget plot, " : "",
                         colour);
      for (const PlotPoint& p : piece) out += fmt::format("({:.6g},{:.6g})", p.x, at(p.y));
      out += "};\n";
      if (!named) out += "\\addlegendentry{" + escape_latex(series.label) + "}\n";
      named = true;
    }
  }

  template <class At>
  void marks(const PlotSeries& series, At at) {
    out += fmt::format(
        "\\addplot[c{}, only marks, mark=*, mark size=0.9pt, error bars/.cd, y dir=both, y "
        "explicit, "
        "error mark=none] coordinates {{\n",
        series.colour % kColours);
    for (const auto& piece : series.pieces)
      for (const PlotPoint& p : piece)
        out += fmt::format("({:.6g},{:.6g}) += (0,{:.3g}) -= (0,{:.3g})\n", p.x, at(p.y),
                           at(p.high) - at(p.y), at(p.y) - at(p.low));
    out += "};\n\\addlegendentry{" + escape_latex(series.label) + "}\n";
  }
};

// A plot stays on the page of the tables right before it.
bool leads_to_plot(const std::vector<SheetBlock>& blocks, std::size_t at) {
  while (at < blocks.size() && std::holds_alternative<SheetTable>(blocks[at])) {
    ++at;
    if (at < blocks.size() && std::holds_alternative<SheetPlot>(blocks[at])) return true;
  }
  return false;
}

}  // namespace

std::string render_latex_datasheet(const SheetDocument& document) {
  Writer writer;
  writer.out = kPreamble;
  writer.out += "{\\LARGE\\bfseries " + escape_latex(document.title) + "\\par}\n";
  const std::vector<SheetBlock>& blocks = document.blocks;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::visit(writer, blocks[i]);
    if (leads_to_plot(blocks, i)) writer.out += "\\nobreak\n";
  }
  return writer.out + "\\end{document}\n";
}

}  // namespace foretrace::views
