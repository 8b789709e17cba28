// ModelFile: an analytical model of a program, as FILE.model says it (docs/model.md):
// variables and functions in gnuplot's syntax (Howell's thesis, section 4.1).
//
// Between the text and evaluate.hpp; computes nothing.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formulas/expression.hpp"

namespace foretrace::formulas {

struct Definition {
  std::string name;
  bool is_function = false;
  std::vector<std::string> arguments;  // of a function
  Node body;
  int line = 1;
};

struct ModelFile {
  std::string file;
  std::map<std::string, Definition, std::less<>> definitions;  // the last one of each name
  std::vector<std::string> order;                              // names, as they first come

  // nullptr: it has none of that name.
  const Definition* find(std::string_view name) const;
};

// The definition of the whole time: total, or else ttotal. Throws Error where there is none.
const Definition& total_of(const ModelFile& model);

// The names that someone may give a value: arguments of the total, the file's variables, and
// names that the file uses without defining them. Sorted.
std::vector<std::string> parameters_of(const ModelFile& model);

// Throws Error "FILE:LINE: ...". Lines that only draw (set, plot, splot, unset, pause,
// reset, load, call, print, replot) are passed over.
ModelFile read_model_file(const std::string& path);
ModelFile parse_model(std::string_view text, const std::string& file);

}  // namespace foretrace::formulas
