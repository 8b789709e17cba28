// A table of a page: text on the left, numbers on the right.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace foretrace::views {

class HtmlTable {
 public:
  // The first `text_columns` columns are text, and the last if `ends`.
  HtmlTable(const std::vector<std::string>& header, std::size_t text_columns, bool ends = false);
  void add(const std::vector<std::string>& cells) { row(cells, "td", {}); }
  // The same; the first cell leads to `address` unless that is empty.
  void add_linked(const std::vector<std::string>& cells, const std::string& address) {
    row(cells, "td", address);
  }
  std::string finish() const { return out_ + "</tbody></table></div>\n"; }

 private:
  void row(const std::vector<std::string>& cells, const char* tag, const std::string& address);

  std::string out_;
  std::size_t text_columns_;
  bool ends_;
  std::size_t columns_;
};

}  // namespace foretrace::views
