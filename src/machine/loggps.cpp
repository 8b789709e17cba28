#include "machine/loggps.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/error.hpp"
#include "base/shown_text.hpp"
#include "base/size_text.hpp"
#include "machine/pair.hpp"
#include "machine/timing.hpp"
#include "topology/shape.hpp"

namespace foretrace::machine {
namespace {

// A day is no overhead, and sums of such would overflow.
constexpr double kMostSeconds = 86400;
// Stands for "no S" among the given parameters: no message is that long.
constexpr Bytes kNever{UINT64_MAX};

// A decimal number, its exponent moved by `shift`: "0.08" and -9 are the double
// next to 8e-11, which a multiplication would not always give.
std::optional<double> parse_decimal(std::string_view text, int shift) {
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  int exponent = 0;
  if (mark < text.size()) {
    std::string_view digits = text.substr(mark + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error != std::errc() || end != digits.data() + digits.size() || std::abs(exponent) > 1000)
      return std::nullopt;
  }
  const std::string whole =
      std::string(text.substr(0, mark)) + "e" + std::to_string(exponent + shift);
  double value = 0;
  const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), value);
  if (error != std::errc() || end != whole.data() + whole.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

// "500ns" in seconds, >= 0; a bare 0 needs no unit.
std::optional<double> parse_seconds(std::string_view text) {
  struct Unit {
    std::string_view name;
    int exponent;
  };
  static constexpr std::array kUnits{Unit{"ps", -12}, Unit{"ns", -9}, Unit{"us", -6},
                                     Unit{"µs", -6},  Unit{"μs", -6}, Unit{"ms", -3},
                                     Unit{"s", 0}};
  if (text == "0") return 0;
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    const auto value = parse_decimal(text.substr(0, text.size() - unit.name.size()), unit.exponent);
    if (!value || std::signbit(*value) || *value > kMostSeconds) return std::nullopt;
    return value;
  }
  return std::nullopt;
}

std::optional<double> parse_seconds_per_byte(std::string_view text) {
  if (const auto rate = parse_bandwidth(text)) return 1 / *rate;
  if (text.ends_with("/B")) text.remove_suffix(2);
  return parse_seconds(text);
}

std::optional<Bytes> parse_threshold(std::string_view text) {
  if (text == "none") return kNever;
  const auto size = parse_size(text);
  if (!size || *size > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  return Bytes(*size);
}

// The list as it is read.
struct Given {
  LogGPS values;
  std::optional<double> overhead;  // o
};

// Nothing if the key is unknown, or where its value goes.
std::optional<double>* time_of(std::string_view key, Given& given) {
  LogGPS& values = given.values;
  if (key == "L") return &values.latency;
  if (key == "o") return &given.overhead;
  if (key == "os" || key == "o_s") return &values.overhead_send;
  if (key == "or" || key == "o_r") return &values.overhead_recv;
  if (key == "g") return &values.gap;
  if (key == "G") return &values.gap_per_byte;
  return nullptr;
}

class ListReader {
 public:
  ListReader(std::string_view text, std::string_view option, bool may_add)
      : text_(text), option_(option), may_add_(may_add) {}

  Settings read() {
    std::string_view rest = text_;
    while (true) {
      const std::size_t comma = rest.find(',');
      read_item(rest.substr(0, comma));
      if (comma == rest.npos) break;
      rest.remove_prefix(comma + 1);
    }
    for (Given* given : {&given_, &added_}) {
      LogGPS& values = given->values;
      if (!values.overhead_send) values.overhead_send = given->overhead;
      if (!values.overhead_recv) values.overhead_recv = given->overhead;
    }
    return {given_.values, added_.values};
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw UsageError(std::string(option_) + " '" + shown(text_) + "': " + message);
  }

  template <class Value>
  void put(std::string_view key, std::optional<Value>& place, std::optional<Value> value,
           std::string_view value_text, std::string_view expected) {
    if (place) fail(std::string(key) + " is there twice; give it once");
    if (!value)
      fail(std::string(key) + " must be " + std::string(expected) + ", found '" +
           shown(value_text) + "'");
    place = value;
  }

  void read_item(std::string_view item) {
    while (item.starts_with(' ')) item.remove_prefix(1);
    const std::size_t equals = item.find('=');
    if (equals == item.npos)
      fail("expected NAME=VALUE, found '" + shown(item) +
           "'; write for example L=2us,o=500ns,g=100ns,G=0.08ns,S=65536");
    const std::string_view key = item.substr(0, equals);
    std::string_view value = item.substr(equals + 1);
    const bool adds = may_add_ && key != "S" && value.starts_with('+');
    if (adds) value.remove_prefix(1);
    Given& given = adds ? added_ : given_;
    if (key == "S") {
      put(key, given_.values.sync_threshold, parse_threshold(value), value,
          "a size such as 65536 or 64KiB, or none");
    } else if (key == "G") {
      put(key, given.values.gap_per_byte, parse_seconds_per_byte(value), value,
          "a time per byte such as 0.08ns, or a rate such as 12.5GB/s");
    } else if (std::optional<double>* place = time_of(key, given)) {
      put(key, *place, parse_seconds(value), value, "a time such as 500ns");
    } else {
      fail("unknown parameter '" + shown(key) + "'; known: L, o, os, or, g, G, S");
    }
  }

  std::string_view text_;
  std::string_view option_;
  bool may_add_;
  Given given_;
  Given added_;
};

}  // namespace

LogGPS parse_loggps(std::string_view text, std::string_view option) {
  return text.empty() ? LogGPS() : ListReader(text, option, false).read().values;
}

Settings parse_settings(std::string_view text, std::string_view option) {
  return text.empty() ? Settings() : ListReader(text, option, true).read();
}

LogGPSTimes plus(LogGPSTimes times, const LogGPS& added) {
  const auto more = [](const std::optional<double>& value) {
    return Time::from_seconds(value.value_or(0));
  };
  times.latency += more(added.latency);
  times.overhead_send += more(added.overhead_send);
  times.overhead_recv += more(added.overhead_recv);
  times.gap += more(added.gap);
  times.gap_per_byte += added.gap_per_byte.value_or(0);
  return times;
}

LogGPS merge(const LogGPS& under, const LogGPS& over) {
  LogGPS merged = under;
  for (auto field : {&LogGPS::latency, &LogGPS::overhead_send, &LogGPS::overhead_recv, &LogGPS::gap,
                     &LogGPS::gap_per_byte})
    if (over.*field) merged.*field = over.*field;
  if (over.sync_threshold) merged.sync_threshold = over.sync_threshold;
  if (over.attended_from) merged.attended_from = over.attended_from;
  return merged;
}

LogGPSTimes loggps_times(const MachineModel& model, const LogGPS& given, Bound bound) {
  const LogGPS values = merge(model.loggps, given);
  const Timing timing(model, bound);
  const auto cost = [&timing](Cost what, std::uint64_t bytes) {
    return timing.cost(what, kPair, Bytes(bytes));
  };
  LogGPSTimes times;
  const auto derive = [&times, &model](const char* name, Cost from) {
    times.derived.emplace_back(name);
    if (!charged_function(model, name_of(from)).function) times.unknown.emplace_back(name);
  };
  const auto choose = [&derive](const char* name, const std::optional<double>& value, Cost from,
                                Time other) {
    if (value) return Time::from_seconds(*value);
    derive(name, from);
    return other;
  };
  times.overhead_send = choose("o_s", values.overhead_send, Cost::send, cost(Cost::send, 1));
  times.overhead_recv = choose("o_r", values.overhead_recv, Cost::recvmin, cost(Cost::recvmin, 1));
  const Time rest = cost(Cost::recv, 1) - times.overhead_send - times.overhead_recv;
  times.latency = choose("L", values.latency, Cost::recv, std::max(Time(), rest));
  times.gap = choose("g", values.gap, Cost::recv, Time());
  if (values.gap_per_byte) {
    times.gap_per_byte = *values.gap_per_byte;
  } else {
    derive("G", Cost::recv);
    const Time grown = cost(Cost::recv, 65536) - cost(Cost::recv, 1);
    times.gap_per_byte = std::max(0.0, static_cast<double>(grown.count_ps()) / 65535 * 1e-12);
  }
  if (values.sync_threshold != kNever) times.sync_threshold = values.sync_threshold;
  return times;
}

InnerTimes inner_times(const MachineModel& model, Bound bound) {
  InnerTimes times;
  for (const auto& [path, own] : model.paths)
    times.emplace(path, loggps_times(on_path(model, path), {}, bound));
  return times;
}

}  // namespace foretrace::machine
