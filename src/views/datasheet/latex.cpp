#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <span>
#include <string_view>
#include <variant>

#include "views/datasheet/datasheet.hpp"
#include "views/datasheet/latex_plot.hpp"
#include "views/draw/markup.hpp"

namespace foretrace::views {
namespace {

// The date of printing and a random identifier would make each PDF another.
constexpr const char* kPreamble = R"(\documentclass[a4paper,10pt]{article}
\usepackage{iftex}
\ifpdftex
  \usepackage[T1]{fontenc}
  \IfFileExists{lmodern.sty}{\usepackage{lmodern}}{\usepackage{ae,aecompl}}
  \usepackage[utf8]{inputenc}
  \pdfinfoomitdate=1
  \pdftrailerid{}
  \pdfsuppressptexinfo=-1
\fi
\usepackage{textcomp}
\usepackage[margin=1.6cm,includefoot,footskip=16pt]{geometry}
\usepackage{longtable}
\usepackage{array}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\setlength{\LTleft}{0pt}
\setlength{\LTpre}{2pt}
\setlength{\LTpost}{8pt}
\setlength{\tabcolsep}{4pt}
\renewcommand{\arraystretch}{1.1}
\setcounter{secnumdepth}{0}
\emergencystretch=3em
\newcommand\hr{\hline\noalign{\vskip 1.5pt}}
\interlinepenalty=10000
)";

// A row that is wider than this in characters is set in smaller type, one that is
// wider still in the smallest.
constexpr std::size_t kSmallWidth = 82;
constexpr std::size_t kTinyWidth = 108;
constexpr std::size_t kParagraphCell = 48;
// So many characters of the smallest type fill a line.
constexpr double kLineOfTiny = 132;
constexpr std::size_t kMostRowsTogether = 14;
// So many characters of raw data fill half a line.
constexpr std::size_t kHalfOfSmall = 54;
// Rows of raw data that one above the other fill a page.
constexpr std::size_t kRowsOfColumn = 72;
constexpr std::size_t kCardsOfLine = 3;

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Of the cells and of what of the headers cannot be broken: their words, or all of them.
std::vector<std::size_t> column_widths(const SheetTable& table, bool break_headers) {
  std::vector<std::size_t> widths;
  for (const std::string& header : table.header) {
    std::size_t widest = break_headers ? 0 : width_of(header);
    for (const auto word : std::views::split(header, ' '))
      widest = std::max(widest, width_of(std::string_view(word.begin(), word.end())));
    for (const auto& row : table.rows)
      if (widths.size() < row.size()) widest = std::max(widest, width_of(row[widths.size()]));
    widths.push_back(widest);
  }
  return widths;
}

std::size_t row_width(const std::vector<std::size_t>& widths) {
  std::size_t all = 0;
  for (const std::size_t width : widths) all += 2 + width;
  return all;
}

// `width` characters to a line, where the words let it.
std::string in_lines(const std::string& text, std::size_t width) {
  std::string out;
  std::size_t line = 0;
  for (const auto range : std::views::split(text, ' ')) {
    const std::string_view word(range.begin(), range.end());
    if (line > 0) {
      const bool fits = line + 1 + width_of(word) <= width;
      out += fits ? " " : "\\\\";
      line = fits ? line + 1 : 0;
    }
    out += escape_latex(word);
    line += width_of(word);
  }
  return out;
}

// For a column `width` wide in a table `all` wide.
double share_of_line(std::size_t all, std::size_t width) {
  const double others = static_cast<double>(all - width) / kLineOfTiny;
  return std::clamp(1 - others, 0.25, 0.75);
}

struct LatexWriter {
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

  void operator()(const SheetWarning& warning) {
    out += "\n\\fbox{\\parbox{0.97\\linewidth}{\\textbf{Warning.} " + escape_latex(warning.text) +
           "}}\\par\\smallskip\n";
    after_heading = false;
  }

  // Two columns of rows, as many pages as there need to be, so that a function's points do not
  // fill a sheaf of paper.
  void raw_table(const SheetTable& table) {
    std::size_t width = 0;  // of a row; headers break their lines
    for (std::size_t c = 0; c < table.header.size(); ++c) {
      std::size_t widest = 0;
      for (const auto& each : table.rows) widest = std::max(widest, width_of(each[c]));
      width += widest;
    }
    const char* size = width > kHalfOfSmall ? "\\tiny" : "\\scriptsize";
    for (std::size_t from = 0; from < table.rows.size(); from += 2 * kRowsOfColumn) {
      const std::size_t count = std::min(2 * kRowsOfColumn, table.rows.size() - from);
      const std::size_t half = (count + 1) / 2;
      out += fmt::format(
          "\n\\medskip\n\\begin{{minipage}}{{\\linewidth}}\n\n{{\\small\\itshape {}{}}}"
          "\\par\\smallskip\n{{{}\\renewcommand{{\\arraystretch}}{{1}}"
          "\\setlength{{\\tabcolsep}}{{2.5pt}}\n",
          escape_latex(table.caption), from > 0 ? " (continued)" : "", size);
      const std::span<const std::vector<std::string>> rows(&table.rows[from], count);
      raw_column(table, rows.first(half));
      out += "\\hfill\n";
      raw_column(table, rows.subspan(half));
      out += "}\n\\end{minipage}\\par\n";
    }
  }
  void raw_column(const SheetTable& table, std::span<const std::vector<std::string>> rows) {
    if (rows.empty()) return;
    out += fmt::format("\\begin{{tabular}}[t]{{@{{}}{}@{{}}}}\n\\hr\n",
                       std::string(table.header.size(), 'r'));
    header(table.header, std::vector<std::size_t>(table.header.size(), 0), 0);
    out += "\\hr\n";
    for (const auto& each : rows) row(each);
    out += "\\hr\n\\end{tabular}";
  }

  // Narrow enough for a line: the figures to be seen first.
  void boxed_table(const SheetTable& table) {
    out += "\n\\fbox{\\begin{tabular}{";
    for (std::size_t i = 0; i < table.header.size(); ++i) out += i < table.text_columns ? 'l' : 'r';
    out += "}\n";
    if (std::ranges::any_of(table.header, [](const auto& cell) { return !cell.empty(); }))
      header(table.header, column_widths(table, true), table.text_columns);
    for (const auto& each : table.rows) row(each);
    out += "\\end{tabular}}\\par\\smallskip\n";
    after_heading = false;
  }

  void operator()(const SheetTable& table) {
    if (table.rows.empty()) return;
    if (table.raw) {
      raw_table(table);
      return;
    }
    if (table.boxed) {
      boxed_table(table);
      return;
    }
    std::vector<std::size_t> widths = column_widths(table, false);
    if (row_width(widths) > kSmallWidth) widths = column_widths(table, true);
    const std::size_t all = row_width(widths);
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
    const char* size = all > kTinyWidth && broken == widths.size() ? "\\tiny"
                       : all > kTinyWidth                          ? "\\scriptsize"
                       : all > kSmallWidth                         ? "\\footnotesize"
                                                                   : "\\small";
    // A short table stays on one page, with its caption.
    const bool whole = table.rows.size() <= kMostRowsTogether;
    if (whole) out += "\n\\medskip\n\\begin{minipage}{\\linewidth}\n";
    if (!table.caption.empty())
      out +=
          fmt::format("\n{{\\small\\itshape {}\\par\\nopagebreak}}\n", escape_latex(table.caption));
    const char* kind = whole ? "tabular" : "longtable";
    out += fmt::format("{{{}\n\\begin{{{}}}{{@{{}}{}@{{}}}}\n\\hr\n", size, kind, columns);
    if (std::ranges::any_of(table.header, [](const auto& cell) { return !cell.empty(); })) {
      header(table.header, widths, table.text_columns);
      out += whole ? "\\hr\n" : "\\hr\n\\endhead\n";
    }
    for (const auto& each : table.rows) row(each);
    out += fmt::format("\\hr\n\\end{{{}}}}}\n", kind);
    if (whole) out += "\\end{minipage}\\par\n";
  }

  // Lines of headers are at most as wide as their columns.
  void header(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
              std::size_t text_columns) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      out += fmt::format("{}\\textbf{{\\shortstack[{}]{{{}}}}}", i > 0 ? " & " : "",
                         i < text_columns ? 'l' : 'r', in_lines(cells[i], widths[i]));
    out += " \\\\\n";
  }
  void row(const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      // Braces: a cell may begin with a bracket, which \\ would take for its own.
      out += fmt::format("{}{{{}}}", i > 0 ? " & " : "", escape_latex(cells[i]));
    out += " \\\\\n";
  }

  void operator()(const PlotOfAnything&) {}

  void operator()(const SheetGallery& gallery) {
    (*this)(gallery.heading);
    (*this)(gallery.text);
    if (!gallery.legend.empty()) out += "\n" + latex_legend(gallery.legend) + "\\par\\medskip\n";
    for (std::size_t i = 0; i < gallery.cards.size(); ++i) {
      out += (i % kCardsOfLine == 0 ? "\n\\noindent " : "\\hfill ") +
             card(gallery.cards[i], gallery.legend.empty());
      const bool last = i + 1 == gallery.cards.size();
      // What is missing of the last line, so that it stands below the others.
      for (std::size_t n = i + 1; last && n % kCardsOfLine != 0; ++n)
        out += fmt::format("\\hfill\\hspace*{{{}bp}}", kCardWidth);
      if (last || (i + 1) % kCardsOfLine == 0) out += "\\par\\smallskip\n";
    }
    after_heading = false;
  }
  static std::string card(const SheetCard& card, bool own_legend) {
    std::string out = fmt::format(
        "\\begin{{minipage}}[t]{{{}bp}}\\textbf{{\\footnotesize {}}}\\hfill{{\\tiny {}}}\\par\n",
        kCardWidth, escape_latex(card.plot.title), escape_latex(card.remark));
    if (!card.text.empty())
      out += "{\\fontsize{5.5}{6}\\selectfont\\raggedright " + escape_latex(card.text) + "\\par}\n";
    return out + latex_card_plot(card.plot, own_legend) + "\\end{minipage}%\n";
  }

  void operator()(const Plot& plot) { draw({{&plot}}); }
  void operator()(const SheetSurface& surface) { draw({{&surface}}); }

  using Drawn = std::variant<const Plot*, const SheetSurface*>;
  // Side by side.
  void draw(const std::vector<Drawn>& drawn) {
    const PlotWidth width = drawn.size() > 1 ? PlotWidth::half : PlotWidth::whole;
    out += "\n\\medskip\n";
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      if (i > 0) out += "\\hfill\n";
      if (const auto* plot = std::get_if<const Plot*>(&drawn[i]))
        out += latex_plot(**plot, width);
      else
        out += latex_surface(*std::get<const SheetSurface*>(drawn[i]), width);
    }
    out += "\n\n";
  }
};

// The plots and surfaces that follow each other from `at` on.
std::vector<LatexWriter::Drawn> drawn_from(const std::vector<SheetBlock>& blocks, std::size_t at) {
  std::vector<LatexWriter::Drawn> drawn;
  for (; at < blocks.size(); ++at)
    if (const auto* plot = std::get_if<Plot>(&blocks[at]))
      drawn.emplace_back(plot);
    else if (const auto* surface = std::get_if<SheetSurface>(&blocks[at]))
      drawn.emplace_back(surface);
    else
      break;
  return drawn;
}

}  // namespace

std::string render_latex_datasheet(const SheetDocument& document) {
  LatexWriter writer;
  writer.out = kPreamble + std::string(latex_plot_preamble()) + "\\begin{document}\n";
  writer.out += "{\\LARGE\\bfseries " + escape_latex(document.title) + "\\par}\n";
  const std::vector<SheetBlock>& blocks = document.blocks;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    // Two of them share a line.
    if (std::vector<LatexWriter::Drawn> drawn = drawn_from(blocks, i); drawn.size() > 1) {
      drawn.resize(2);
      writer.draw(drawn);
      ++i;
      continue;
    }
    std::visit(writer, blocks[i]);
  }
  return writer.out + "\\end{document}\n";
}

}  // namespace foretrace::views
