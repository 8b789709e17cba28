#include "scaling/shapes.hpp"

#include <charconv>
#include <cmath>

namespace foretrace::scaling {
namespace {

std::vector<Factor> make_factors() {
  struct Choice {
    double exponent;
    int most_logs;
  };
  // Extra-P 4: doc/ and entities/terms; each with logarithms 0 to most_logs.
  static constexpr Choice kRising[] = {{1.0 / 4, 2}, {1.0 / 3, 2},  {1.0 / 2, 2}, {2.0 / 3, 2},
                                       {3.0 / 4, 2}, {4.0 / 5, 1},  {1, 2},       {5.0 / 4, 1},
                                       {4.0 / 3, 1}, {3.0 / 2, 2},  {5.0 / 3, 0}, {7.0 / 4, 0},
                                       {2, 2},       {9.0 / 4, 0},  {7.0 / 3, 0}, {5.0 / 2, 2},
                                       {8.0 / 3, 0}, {11.0 / 4, 0}, {3, 1}};
  std::vector<Factor> out{{0, 0, 1}, {0, 0, 2}};
  for (const Choice& each : kRising)
    for (int logs = 0; logs <= each.most_logs; ++logs) out.push_back({0, each.exponent, logs});
  for (const double exponent : {-1.0 / 2, -2.0 / 3, -1.0})
    for (int logs = 0; logs <= 1; ++logs) out.push_back({0, exponent, logs});
  out.push_back({0, -2, 0});  // soon over, as what saturates often is
  return out;
}

std::string number(double value) {
  for (const int below : {1, 2, 3, 4, 5})
    if (const double above = value * below; std::fabs(above - std::round(above)) < 1e-9) {
      const std::string top = std::to_string(static_cast<int>(std::round(above)));
      return below == 1 ? top : "(" + top + "/" + std::to_string(below) + ")";
    }
  return std::to_string(value);
}

}  // namespace

double evaluate(const Shape& shape, const std::vector<double>& x) {
  double value = 1;
  for (const Factor& factor : shape) {
    const double at = x[factor.parameter];
    if (factor.exponent != 0) value *= std::pow(at, factor.exponent);
    for (int i = 0; i < factor.logs; ++i) value *= std::log2(at);
  }
  return value;
}

std::string format_shape(const Shape& shape, const std::vector<std::string>& names) {
  std::string out;
  for (const Factor& factor : shape) {
    const std::string& name = names[factor.parameter];
    if (factor.exponent != 0)
      out += (out.empty() ? "" : " * ") + name +
             (factor.exponent == 1 ? "" : "^" + number(factor.exponent));
    if (factor.logs > 0)
      out += (out.empty() ? "" : " * ") + ("log2(" + name + ")") +
             (factor.logs == 1 ? "" : "^" + std::to_string(factor.logs));
  }
  return out.empty() ? "1" : out;
}

const std::vector<Factor>& single_factors() {
  static const std::vector<Factor> kFactors = make_factors();
  return kFactors;
}

}  // namespace foretrace::scaling
