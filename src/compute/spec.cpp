#include "compute/spec.hpp"

#include <charconv>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "base/time_text.hpp"

namespace foretrace::compute {
namespace {

constexpr std::string_view kCounts = "counts=";

std::optional<double> parse_scale(std::string_view text) {
  double scale = -1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, scale);
  if (error != std::errc() || stop != end || !(scale >= 0) || !std::isfinite(scale))
    return std::nullopt;
  return scale;
}

std::string number(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace

Spec parse_spec(std::string_view text, std::string_view option) {
  const auto refuse = [&](std::string_view why) {
    throw UsageError(std::string(option) + " " + std::string(text) + ": " + std::string(why));
  };
  const std::size_t colon = text.find(':');
  const std::string_view word = text.substr(0, colon);
  const bool has_rest = colon != std::string_view::npos;
  const std::string_view rest = has_rest ? text.substr(colon + 1) : std::string_view();
  Spec spec;
  if (word == "measured" || word == "recorded") {
    if (!has_rest) return spec;
    const auto scale = parse_scale(rest);
    if (!scale) refuse("use " + std::string(word) + ":SCALE with a SCALE of 0 or more");
    spec.scale = scale.value_or(1);
    return spec;
  }
  if (word == "counted") {
    spec.kind = Kind::counted;
    spec.counter = has_rest ? parse_counter(rest) : Counter::blocks;
    if (spec.counter == Counter::none) refuse("use counted:blocks or counted:instructions");
    return spec;
  }
  if (has_rest && (word == "table" || word == "replayed")) {
    spec.kind = word == "table" ? Kind::table : Kind::replayed;
    spec.file = rest;
    if (spec.file.empty()) refuse("names no file");
    return spec;
  }
  if (word == "annotated") {
    spec.kind = Kind::annotated;
    if (has_rest) spec.step = parse_seconds(rest);
    if (has_rest && !spec.step) refuse("use annotated:STEP with a STEP such as 0.5us");
    return spec;
  }
  if (text == "none") {
    spec.kind = Kind::none;
    return spec;
  }
  refuse(
      "use none, annotated[:STEP], counted[:blocks|instructions], measured[:SCALE] (or "
      "recorded[:SCALE]), table:FILE or replayed:RUN.ftr");
  return spec;
}

std::string format_spec(const Spec& spec) {
  switch (spec.kind) {
    case Kind::none:
      return "none";
    case Kind::annotated:
      return spec.step ? "annotated:" + number(*spec.step) + "s" : "annotated";
    case Kind::counted:
      return "counted:" + std::string(name_of(spec.counter));
    case Kind::measured:
      return spec.scale == 1 ? "measured" : "measured:" + number(spec.scale);
    case Kind::table:
      return "table:" + spec.file;
    case Kind::replayed:
      return "replayed:" + spec.file;
  }
  return {};
}

Counter parse_counter(std::string_view text) {
  return text == "blocks"         ? Counter::blocks
         : text == "instructions" ? Counter::instructions
                                  : Counter::none;
}

std::string_view name_of(Counter counter) {
  return counter == Counter::blocks         ? "blocks"
         : counter == Counter::instructions ? "instructions"
                                            : "none";
}

std::string counts_option(Counter counter) {
  return std::string(kCounts) + std::string(name_of(counter));
}

Counter counter_of(const trace::TraceInfo& info) {
  std::istringstream words(info.options);
  for (std::string word; words >> word;)
    if (word.starts_with(kCounts))
      return parse_counter(std::string_view(word).substr(kCounts.size()));
  return Counter::none;
}

double cost_of(Counter counter, const machine::ComputeCosts& costs) {
  const bool blocks = counter == Counter::blocks;
  const auto cost = blocks ? costs.block : costs.instruction;
  if (!cost) {
    const std::string key = blocks ? "block" : "instruction";
    throw Error("the machine model '" + costs.machine + "' does not say what a" +
                (blocks ? " " : "n ") + key + " takes: add " + key +
                " = \"1.2ns\" to its [compute] (docs/compute.md tells how to find it)");
  }
  return *cost;
}

}  // namespace foretrace::compute
