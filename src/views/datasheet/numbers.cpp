#include "views/datasheet/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "views/datasheet/datasheet.hpp"
#include "views/draw/units.hpp"

namespace foretrace::views {
namespace {

constexpr int kMostDigits = 17;
// Of a coefficient, whatever its error; times have four.
constexpr int kMostShown = 6;
constexpr double kLeastQ = 1e-6;   // smaller ones say nothing more
constexpr double kMostTime = 9e6;  // seconds; beyond that with an exponent

// The power of ten of the first digit once rounded to `significant` digits: 2 for 999.7 and 3.
int exponent_of(double value, int significant) {
  const std::string text = fmt::format("{:.{}e}", value, significant - 1);
  return std::stoi(text.substr(text.find('e') + 1));
}

std::string term(const machine::Coefficient& c, std::string_view factor, int digits, bool first) {
  const RoundedCoefficient rounded = round_coefficient(c, digits);
  std::string out;
  if (!rounded.error.empty())
    out = fmt::format("{}({} ± {})", first ? "" : " + ", rounded.value, rounded.error);
  else if (!first && rounded.value.front() == '-')
    out = " - " + rounded.value.substr(1);
  else
    out = (first ? "" : " + ") + rounded.value;
  for (std::size_t at = 0; at < factor.size();) {
    // "ln p d" is ln p times d, "ceil log2 p d" the next whole number from log2 p on times d.
    std::size_t from = at;
    for (std::string_view function : {"ln ", "ceil log2 "})
      if (factor.substr(at).starts_with(function)) from = at + function.size();
    const std::size_t end = std::min(factor.find(' ', from), factor.size());
    const std::string_view one = factor.substr(at, end - at);
    out += " × " + (one == "p^2" ? std::string("p²") : std::string(one));
    at = end + 1;
  }
  return out;
}

// "" for the constant.
std::string_view factor_name(machine::Factor factor) {
  return factor == machine::Factor::one ? std::string_view() : name_of(factor);
}

}  // namespace

std::string format_digits(double value, int significant) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{}", value == 0 ? 0.0 : value);
  const int digits = std::clamp(significant, 1, kMostDigits);
  const int exponent = exponent_of(value, digits);
  if (exponent < -4 || exponent >= 7) return fmt::format("{:.{}e}", value, digits - 1);
  const int places = digits - 1 - exponent;
  if (places >= 0) return fmt::format("{:.{}f}", value, places);
  // The rounded digits, and zeros up to the point.
  return fmt::format("{:.0f}", std::stod(fmt::format("{:.{}e}", value, digits - 1)));
}

std::string format_plain(double value) {
  return fmt::format("{:.{}g}", value == 0 ? 0.0 : value, kMostShown);
}

RoundedCoefficient round_coefficient(const machine::Coefficient& c, int digits) {
  RoundedCoefficient out;
  if (digits > 0) {
    out.value = format_digits(c.value, digits);
    if (c.error != 0) out.error = format_digits(c.error, digits);
    return out;
  }
  // An error that lies beyond what is shown is none that anybody could see.
  const bool unseen =
      c.value != 0 &&
      std::abs(c.error) < 0.5 * std::pow(10, exponent_of(c.value, 1) - kMostShown + 1);
  if (c.error == 0 || unseen) {
    out.value = format_plain(c.value);
    return out;
  }
  const int of_error = fmt::format("{:.0e}", c.error).front() == '1' ? 2 : 1;
  const int last_place = exponent_of(c.error, of_error) - of_error + 1;
  out.error = format_digits(c.error, of_error);
  const int first_place = c.value == 0 ? last_place : exponent_of(c.value, 1);
  out.value = format_digits(c.value, first_place - last_place + 1);
  // 0.0001000 ± 0.0000010, not ± 1.0e-06: both to the same place.
  const std::size_t point = out.value.find('.');
  if (out.value.find('e') == std::string::npos && point != std::string::npos &&
      out.error.find('e') != std::string::npos)
    out.error = fmt::format("{:.{}f}", c.error, out.value.size() - point - 1);
  // Likewise 0.0000 ± 0.0010 for a value that is nothing beside its error.
  const std::size_t point_of_error = out.error.find('.');
  if (out.value.find('e') != std::string::npos && point_of_error != std::string::npos &&
      out.error.find('e') == std::string::npos)
    out.value = fmt::format("{:.{}f}", c.value, out.error.size() - point_of_error - 1);
  return out;
}

std::string format_seconds(double seconds) {
  if (seconds > kMostTime) return format_digits(seconds, 4) + " s";
  return format_picoseconds(seconds * 1e12);
}

std::string format_rate(double bytes_per_second) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}};
  for (const auto& [unit, name] : kUnits)
    if (bytes_per_second >= unit) return format_digits(bytes_per_second / unit, 3) + " " + name;
  return format_digits(bytes_per_second, 3) + " B/s";
}

std::string time_cell(const analysis::SheetTime& time) {
  return format_seconds(time.avg) + (time.beyond ? " *" : "");
}

std::string q_cell(const machine::Regime& regime) {
  if (!regime.q) return "-";
  return 0 < *regime.q && *regime.q < kLeastQ ? fmt::format("< {:g}", kLeastQ)
                                              : fmt::format("{:.2g}", *regime.q);
}

std::string title_of(const machine::MachineModel& model) {
  return model.name.empty() ? "a machine without a name" : model.name;
}

std::string unit_name(const machine::MachineModel& model) {
  if (model.time_unit == 1) return "s";
  if (model.time_unit == 1e-3) return "ms";
  if (model.time_unit == 1e-6) return "us";
  if (model.time_unit == 1e-9) return "ns";
  return fmt::format("{} s", model.time_unit);
}

std::string data_unit(const machine::MachineModel& model) {
  return model.element.count == 1 ? "bytes"
                                  : fmt::format("elements of {} bytes", model.element.count);
}

std::string equation_cell(const machine::Function& function, const machine::Regime& regime,
                          int digits) {
  const std::string equation = format_equation(regime.equation, digits);
  return function.corrections.empty() ? equation : "m × (" + equation + ")";
}

std::string format_interval(const machine::Regime& regime) {
  if (regime.to.count == UINT64_MAX)
    return regime.from.count == 0 ? "all sizes" : fmt::format("{} B and more", regime.from.count);
  if (regime.from == regime.to) return fmt::format("{} B", regime.from.count);
  return fmt::format("{} to {} B", regime.from.count, regime.to.count);
}

std::string format_equation(const machine::Equation& equation, int digits) {
  std::string out;
  for (const machine::TermSum& sum : equation.sums()) {
    std::string one;
    for (const machine::Term& each : sum.terms)
      one += term(each.coefficient, factor_name(each.factor), digits, one.empty());
    if (sum.ranks == machine::RankSet::others) out += "; else ";
    out += one.empty() ? "0" : one;
    if (sum.ranks == machine::RankSet::powers_of_two) out += " where p is a power of two";
  }
  return out;
}

}  // namespace foretrace::views
