// TextTable: rows of cells printed with aligned columns.
//
// Columns are as wide as their widest cell, two spaces apart, numbers to the
// right. Knows nothing of what it prints, so that a cell may hold anything.
#pragma once

#include <string>
#include <vector>

namespace foretrace::views {

enum class Align { left, right };
// So that a row of columns reads as it looks.
inline constexpr Align L = Align::left;
inline constexpr Align R = Align::right;

class TextTable {
 public:
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  // One cell per column; missing ones are empty. Each is one line: see escape_text().
  void add(std::vector<std::string> cells);

  // Each line starts with `indent` spaces, ends without trailing spaces.
  std::string render(int indent) const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace foretrace::views
