// gnuplot's own functions, those that a model of times can use.
//
// Private to src/formulas.
#pragma once

#include <string_view>

namespace foretrace::formulas {

struct Builtin {
  std::string_view name;
  double (*compute)(double);
  bool whole;  // its result is an integer to gnuplot
};

// nullptr: gnuplot has another function or none of that name.
const Builtin* find_builtin(std::string_view name);

}  // namespace foretrace::formulas
