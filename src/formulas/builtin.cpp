#include "formulas/builtin.hpp"

#include <cmath>

namespace foretrace::formulas {

const Builtin* find_builtin(std::string_view name) {
  static constexpr Builtin kBuiltins[] = {
      {"abs", [](double x) { return std::fabs(x); }, false},
      {"ceil", [](double x) { return std::ceil(x); }, true},
      {"cos", [](double x) { return std::cos(x); }, false},
      {"exp", [](double x) { return std::exp(x); }, false},
      {"floor", [](double x) { return std::floor(x); }, true},
      {"int", [](double x) { return std::trunc(x); }, true},
      {"log", [](double x) { return std::log(x); }, false},
      {"log10", [](double x) { return std::log10(x); }, false},
      {"real", [](double x) { return x; }, false},
      {"sgn", [](double x) { return x > 0   ? 1.0
                                    : x < 0 ? -1.0
                                            : 0.0; }, true},
      {"sin", [](double x) { return std::sin(x); }, false},
      {"sqrt", [](double x) { return std::sqrt(x); }, false},
      {"tan", [](double x) { return std::tan(x); }, false},
  };
  for (const Builtin& each : kBuiltins)
    if (each.name == name) return &each;
  return nullptr;
}

}  // namespace foretrace::formulas
