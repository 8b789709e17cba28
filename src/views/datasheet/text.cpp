#include <algorithm>

#include "views/datasheet/datasheet.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/text_table.hpp"

namespace foretrace::views {
namespace {

constexpr std::size_t kLineWidth = 100;

std::string wrapped(const std::string& text) {
  std::string out;
  std::size_t column = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (column > 0 && column + 1 + word.size() > kLineWidth) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

struct TextWriter {
  std::string out;

  void operator()(const Heading& heading) {
    const std::string text = plain_text(heading.text);
    out += "\n" + text + "\n" + std::string(text.size(), heading.level == 1 ? '=' : '-') + "\n";
  }
  void operator()(const Paragraph& paragraph) { out += "\n" + wrapped(plain_text(paragraph.text)); }
  void operator()(const SheetWarning& warning) {
    out += "\n" + wrapped("WARNING: " + plain_text(warning.text));
  }
  void operator()(const SheetTable& table) {
    if (table.raw) return;
    std::vector<Align> columns(table.header.size(), Align::right);
    for (std::size_t i = 0; i < std::min(columns.size(), table.text_columns); ++i)
      columns[i] = Align::left;
    TextTable lines(columns);
    const auto add = [&](const std::vector<std::string>& row) {
      std::vector<std::string> cells;
      for (const std::string& cell : row) cells.push_back(plain_text(cell));
      lines.add(cells);
    };
    bool titled = false;
    for (const std::string& cell : table.header) titled = titled || !cell.empty();
    if (titled) add(table.header);
    for (const auto& row : table.rows) add(row);
    out += "\n";
    if (!table.caption.empty()) out += wrapped(plain_text(table.caption));
    out += lines.render(2);
  }
  // A terminal has no room for curves; the times stand in the tables.
  void operator()(const Plot&) {}
  void operator()(const SheetSurface&) {}
  void operator()(const SheetGallery&) {}
  void operator()(const PlotOfAnything&) {}
};

}  // namespace

std::string render_text_datasheet(const SheetDocument& document) {
  TextWriter writer;
  const std::string title = plain_text(document.title);
  writer.out = title + "\n" + std::string(title.size(), '#') + "\n";
  for (const SheetBlock& block : document.blocks) std::visit(writer, block);
  return writer.out;
}

}  // namespace foretrace::views
