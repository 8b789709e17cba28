#include <fmt/format.h>

#include <utility>

#include "views/datasheet/datasheet.hpp"
#include "views/datasheet/script.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/page.hpp"

namespace foretrace::views {
namespace {

constexpr const char* kSheetStyle = R"(.beyond { color: var(--soft); font-style: italic; }
.warning { border-left: .3rem solid var(--c1); background: var(--row); padding: .5rem .8rem; max-width: 48rem; }
.warning::before { content: "Warning. "; font-weight: 600; color: var(--c1); }
.boxed { border: 2px solid var(--c0); border-radius: .4rem; padding: .2rem .8rem; width: fit-content;
  max-width: 100%; box-sizing: border-box; }
.boxed tr:last-child td { border-bottom: 0; }
.plot { display: block; width: 100%; max-width: 46rem; height: auto; margin: .8rem 0; }
caption span { display: inline-block; position: sticky; left: 0; white-space: normal;
  max-width: min(46rem, calc(100vw - 2rem)); }
@media print { .plot { break-inside: avoid; } }
@media (max-width: 34rem) { body { padding: .6rem .8rem 3rem; }
  .wide th:first-child, .wide td:first-child { position: sticky; left: 0; background: var(--paper); }
  .wide tr:nth-child(even) td:first-child { background: var(--row); }
  .boxed td:first-child, .boxed td.t:last-child { white-space: normal; } }
)";

struct HtmlWriter {
  std::string out;
  std::size_t headings = 0;
  std::string plots_of;  // the function whose plots are being written

  void end_plots() {
    if (!plots_of.empty()) out += "</div>\n";
    plots_of.clear();
  }
  void write(const SheetBlock& block) {
    if (!std::holds_alternative<Plot>(block)) end_plots();
    std::visit(*this, block);
  }

  void operator()(const Heading& heading) {
    const int level = heading.level + 1;
    out +=
        fmt::format("<h{0} id=\"s{1}\">{2}</h{0}>\n", level, headings++, escape_html(heading.text));
  }
  void operator()(const Paragraph& paragraph) {
    out += "<p>" + escape_html(paragraph.text) + "</p>\n";
  }
  void operator()(const SheetWarning& warning) {
    out += "<p class=\"warning\">" + escape_html(warning.text) + "</p>\n";
  }
  void operator()(const SheetTable& table) {
    if (table.raw) out += "<details><summary>" + escape_html(table.caption) + "</summary>\n";
    out += fmt::format("<div class=\"wide{}\"><table>\n", table.boxed ? " boxed" : "");
    if (!table.raw && !table.caption.empty())
      out += "<caption><span>" + escape_html(table.caption) + "</span></caption>\n";
    bool titled = false;
    for (const std::string& cell : table.header) titled = titled || !cell.empty();
    if (titled) {
      out += "<thead>";
      row(table, table.header, "th");
      out += "</thead>\n";
    }
    out += "<tbody>\n";
    for (const auto& each : table.rows) row(table, each, "td");
    out += "</tbody></table></div>\n";
    if (table.raw) out += "</details>\n";
  }
  void operator()(const Plot& plot) {
    if (plot.function != plots_of) {
      end_plots();
      plots_of = plot.function;
      out += "<div data-function=\"" + escape_html(plots_of) + "\">\n";
    }
    out += render_svg_plot(plot);
  }
  void operator()(const SheetSurface&) {}
  void operator()(const SheetGallery&) {}
  // The script fills and shows it.
  void operator()(const PlotOfAnything&) {
    out += "<div id=\"explorer\" hidden><h2>Plot</h2></div>\n";
  }

  void row(const SheetTable& table, const std::vector<std::string>& cells, const char* tag) {
    out += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const char* kind = i < table.text_columns     ? " class=\"t\""
                         : cells[i].ends_with(" *") ? " class=\"beyond\""
                                                    : "";
      out += fmt::format("<{0}{1}>{2}</{0}>", tag, kind, escape_html(cells[i]));
    }
    out += "</tr>\n";
  }
};

// The parts; a hundred functions are folded away.
std::string contents(const SheetDocument& document) {
  std::string parts;
  std::string functions;
  std::size_t number = 0;
  for (const SheetBlock& block : document.blocks)
    if (const auto* heading = std::get_if<Heading>(&block))
      (heading->level == 1 ? parts : functions) +=
          fmt::format("<a href=\"#s{}\">{}</a> ", number++, escape_html(heading->text));
  if (!functions.empty())
    functions = "<details><summary>Go to a function</summary>" + functions + "</details>";
  return "<nav>" + parts + functions + "</nav>\n";
}

// The build puts <style>...</style> before the script.
std::pair<std::string, std::string> style_and_script() {
  const std::string all(datasheet_script());
  const std::string begin = "<style>";
  const std::size_t end = all.find("</style>");
  if (!all.starts_with(begin) || end == std::string::npos) return {};
  return {all.substr(begin.size(), end - begin.size()), all.substr(all.find('<', end + 1))};
}

}  // namespace

std::string render_html_datasheet(const SheetDocument& document,
                                  std::span<const analysis::Datasheet> sheets) {
  const auto [style, script] = style_and_script();
  HtmlWriter writer;
  writer.out = begin_page(document.title, kSheetStyle + std::string(svg_plot_style()) + style) +
               contents(document);
  for (const SheetBlock& block : document.blocks) writer.write(block);
  writer.end_plots();
  if (!script.empty())
    writer.out += "<script type=\"application/json\" id=\"sheet-data\">" + datasheet_json(sheets) +
                  "</script>\n" + script;
  return writer.out + end_page();
}

}  // namespace foretrace::views
