#include "views/draw/html_table.hpp"

#include <fmt/format.h>

#include "views/draw/markup.hpp"

namespace foretrace::views {

HtmlTable::HtmlTable(const std::vector<std::string>& header, std::size_t text_columns, bool ends)
    : text_columns_(text_columns), ends_(ends), columns_(header.size()) {
  out_ = "<div class=\"wide\" tabindex=\"0\"><table>\n<thead>";
  row(header, "th", {});
  out_ += "</thead>\n<tbody>\n";
}

void HtmlTable::row(const std::vector<std::string>& cells, const char* tag,
                    const std::string& address) {
  out_ += "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool text = i < text_columns_ || (ends_ && i + 1 == columns_);
    std::string words = escape_html(cells[i]);
    if (i == 0 && !address.empty())
      words = "<a href=\"" + escape_html(address) + "\">" + words + "</a>";
    // An empty head is no head.
    const char* element = words.empty() ? "td" : tag;
    out_ += fmt::format("<{0}{1}>{2}</{0}>", element, text ? " class=\"t\"" : "", words);
  }
  out_ += "</tr>\n";
}

}  // namespace foretrace::views
