// What a time can grow with: the performance model normal form (Calotoiu et al., SC'13),
// f = c0 + sum of c_k * product over parameters of x^i * log2(x)^j, and which shapes are tried.
//
// Private to src/scaling but for Factor and Shape, which a result names.
#pragma once

#include <string>
#include <vector>

namespace foretrace::scaling {

// x^exponent * log2(x)^logs of one parameter.
struct Factor {
  std::size_t parameter = 0;
  double exponent = 0;
  int logs = 0;

  bool operator==(const Factor&) const = default;
};

// A product of factors of different parameters; without any: 1.
using Shape = std::vector<Factor>;

double evaluate(const Shape& shape, const std::vector<double>& x);
// "p^1.5 * log2(n)"; "1" for none.
std::string format_shape(const Shape& shape, const std::vector<std::string>& names);

// Exponents and logarithms of Extra-P's search (its defaults for one parameter), and the falling
// ones of strong scaling: 1/x, its roots and its products with logarithms.
const std::vector<Factor>& single_factors();

}  // namespace foretrace::scaling
