#include "cli/simulate/sweep.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "base/shown_text.hpp"
#include "machine/loggps.hpp"

namespace foretrace::cli {
namespace {

struct ParameterRow {
  SweepParameter parameter;
  std::string_view name;
};

constexpr std::array kParameters{ParameterRow{SweepParameter::latency, "latency"},
                                 ParameterRow{SweepParameter::bandwidth, "bandwidth"},
                                 ParameterRow{SweepParameter::overhead, "overhead"},
                                 ParameterRow{SweepParameter::compute, "compute"},
                                 ParameterRow{SweepParameter::threshold, "S"}};

constexpr double kNone = std::numeric_limits<double>::infinity();
// Further from 1 is a slip of the pen, and times would overflow.
constexpr double kLeastFactor = 1e-9;
constexpr double kMostFactor = 1e9;
constexpr int kMostValues = 10000;
constexpr std::size_t kMostPoints = 100000;

std::string_view name_of(SweepParameter parameter) {
  return std::ranges::find(kParameters, parameter, &ParameterRow::parameter)->name;
}

bool is_size(SweepParameter parameter) {
  return parameter == SweepParameter::threshold;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The double next to `value` written with 12 digits: a range's middle is 1 and
// not 1 and a bit.
double rounded(double value) {
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, 11).ptr;
  std::from_chars(buffer, end, value);
  return value;
}

class SweepReader {
 public:
  explicit SweepReader(std::string_view text) : text_(text) {}

  Sweep read() {
    const std::size_t equals = text_.find('=');
    const std::string_view name = text_.substr(0, equals);
    const auto row = std::ranges::find(kParameters, name, &ParameterRow::name);
    if (row == kParameters.end() || equals == text_.npos)
      fail(
          "expected NAME=VALUES with latency, bandwidth, overhead, compute or S, for example "
          "latency=x0.1,x1,x10");
    sweep_.parameter = row->parameter;
    for (std::string_view item : split(text_.substr(equals + 1), ',')) read_item(item);
    return sweep_;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw UsageError("--sweep '" + shown(text_) + "': " + message);
  }

  void read_item(std::string_view item) {
    while (item.starts_with(' ')) item.remove_prefix(1);
    const auto parts = split(item, ':');
    if (parts.size() == 1)
      put(value_in(item));
    else if (parts.size() == 3)
      put_range(parts[0], parts[1], true, parts[2]);
    else if (parts.size() == 4 && (parts[2] == "log" || parts[2] == "lin"))
      put_range(parts[0], parts[1], parts[2] == "log", parts[3]);
    else
      fail("a range is FROM:TO:N, FROM:TO:log:N or FROM:TO:lin:N, found '" + shown(item) + "'");
  }

  void put(double value) {
    if (sweep_.values.size() >= kMostValues)
      fail("more than " + std::to_string(kMostValues) + " values");
    sweep_.values.push_back(value);
  }

  void put_range(std::string_view from_text, std::string_view to_text, bool ratios,
                 std::string_view count_text) {
    const double from = value_in(from_text);
    const double to = value_in(to_text);
    if (std::isinf(from) || std::isinf(to)) fail("a range cannot begin or end at none");
    if (ratios && (from == 0 || to == 0))
      fail("equal ratios cannot begin or end at 0; write FROM:TO:lin:N");
    int count = 0;
    const auto [end, error] =
        std::from_chars(count_text.data(), count_text.data() + count_text.size(), count);
    if (error != std::errc() || end != count_text.data() + count_text.size() || count < 2 ||
        count > kMostValues)
      fail("the number of values must be a whole number from 2 to " + std::to_string(kMostValues) +
           ", found '" + shown(count_text) + "'");
    for (int i = 0; i < count; ++i) {
      const double share = static_cast<double>(i) / (count - 1);
      const double value = i == 0           ? from
                           : i == count - 1 ? to
                           : ratios         ? from * std::pow(to / from, share)
                                            : from + (to - from) * share;
      put(is_size(sweep_.parameter) ? std::round(value) : rounded(value));
    }
  }

  double value_in(std::string_view text) const {
    return is_size(sweep_.parameter) ? size_in(text) : factor_in(text);
  }

  double factor_in(std::string_view text) const {
    const std::string_view digits = text.starts_with('x') ? text.substr(1) : text;
    double value = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool may_be_zero = sweep_.parameter != SweepParameter::bandwidth;
    if (error != std::errc() || end != digits.data() + digits.size() ||
        !((value >= kLeastFactor && value <= kMostFactor) || (value == 0 && may_be_zero)))
      fail(std::string(name_of(sweep_.parameter)) +
           " takes factors such as x0.5, from 1e-9 to 1e9" + (may_be_zero ? " or 0" : "") +
           ", found '" + shown(text) + "'");
    return value + 0.0;  // not -0
  }

  double size_in(std::string_view text) const {
    if (text == "none") return kNone;
    try {
      const auto size = machine::parse_loggps("S=" + std::string(text)).sync_threshold;
      return static_cast<double>(size->count);
    } catch (const UsageError&) {
      fail("S takes sizes such as 4096 or 64KiB, and none, found '" + shown(text) + "'");
    }
  }

  std::string_view text_;
  Sweep sweep_;
};

std::string number(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

}  // namespace

std::string parameter_name(SweepParameter parameter) {
  return std::string(name_of(parameter));
}

Sweep parse_sweep(std::string_view text) {
  return SweepReader(text).read();
}

std::vector<Sweep> parse_sweeps(const std::vector<std::string>& texts) {
  std::vector<Sweep> sweeps;
  for (const std::string& text : texts) {
    sweeps.push_back(parse_sweep(text));
    const SweepParameter parameter = sweeps.back().parameter;
    if (std::ranges::count(sweeps, parameter, &Sweep::parameter) > 1)
      throw UsageError("--sweep " + std::string(name_of(parameter)) +
                       " is there twice; list all its values in one");
  }
  return sweeps;
}

void check_sweeps(const std::vector<Sweep>& sweeps, const SweepUse& use) {
  for (const Sweep& sweep : sweeps) {
    const std::string name(name_of(sweep.parameter));
    const bool of_network = sweep.parameter == SweepParameter::latency ||
                            sweep.parameter == SweepParameter::bandwidth ||
                            sweep.parameter == SweepParameter::overhead;
    if (of_network && use.equations_alone)
      throw UsageError("--sweep " + name +
                       " changes nothing with the equations alone; choose --network loggps, "
                       "hops, bus, flow or packet");
    if (sweep.parameter == SweepParameter::compute && !use.computes)
      throw UsageError("--sweep compute changes nothing with --compute none");
  }
}

std::string describe(const SweepPoint& point) {
  if (point.parameters.empty()) return "the machine as it is";
  std::string out;
  for (std::size_t i = 0; i < point.parameters.size(); ++i) {
    const double value = point.values[i];
    out += (i == 0 ? "" : ", ") + std::string(name_of(point.parameters[i])) + " ";
    out += !is_size(point.parameters[i]) ? "x" + number(value)
           : std::isinf(value)           ? "none"
                                         : std::to_string(static_cast<std::uint64_t>(value));
  }
  return out;
}

MachineFactors factors_of(const SweepPoint& point) {
  MachineFactors factors;
  for (std::size_t i = 0; i < point.parameters.size(); ++i) {
    const double value = point.values[i];
    switch (point.parameters[i]) {
      case SweepParameter::latency:
        factors.latency = value;
        break;
      case SweepParameter::bandwidth:
        factors.bandwidth = value;
        break;
      case SweepParameter::overhead:
        factors.overhead = value;
        break;
      case SweepParameter::compute:
        factors.compute = value;
        break;
      case SweepParameter::threshold:
        // No message is as long as that.
        factors.sync_threshold =
            Bytes(std::isinf(value) ? UINT64_MAX : static_cast<std::uint64_t>(value));
        break;
    }
  }
  return factors;
}

std::vector<SweepPoint> grid_of(const std::vector<Sweep>& sweeps) {
  std::vector<SweepPoint> points(1);
  for (const Sweep& sweep : sweeps) {
    if (points.size() * sweep.values.size() > kMostPoints)
      throw UsageError("the sweeps have more than " + std::to_string(kMostPoints) +
                       " combinations; give fewer values");
    std::vector<SweepPoint> longer;
    longer.reserve(points.size() * sweep.values.size());
    for (const SweepPoint& point : points)
      for (const double value : sweep.values) {
        longer.push_back(point);
        longer.back().parameters.push_back(sweep.parameter);
        longer.back().values.push_back(value);
      }
    points = std::move(longer);
  }
  return points;
}

}  // namespace foretrace::cli
