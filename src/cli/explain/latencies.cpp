#include "cli/explain/latencies.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "explain/edits.hpp"
#include "explain/lanes.hpp"
#include "topology/shape.hpp"
#include "views/draw/json_text.hpp"
#include "views/draw/text_table.hpp"
#include "views/draw/units.hpp"

namespace foretrace::cli {
namespace {

constexpr std::size_t kUsualCount = 20;
constexpr std::size_t kMostCount = 1000;
// Where more calls would have to be simulated, the notes of one simulation must do.
constexpr std::uint64_t kMostCalls = 2'000'000;

[[noreturn]] void refuse(const std::string& text) {
  throw UsageError("--latencies " + text +
                   ": expected FROM..TO or FROM..TO:COUNT with FROM above 0, as 1us..100us:20");
}

Time time_at(const Simulation& simulation, const explain::Run& run, Time latency) {
  const explain::Edits none;
  explain::EditedSource source(simulation.open_shared(), run, none);
  sim::NullSink nothing;
  Replay replay;
  replay.settled = true;
  if (simulation.network() == sim::NetworkKind::datasheet) {
    replay.added.latency = latency;
  } else {
    replay.loggps = simulation.loggps();
    replay.loggps->latency = latency;
  }
  return simulation.run(source, nothing, replay).time;
}

// "+4.2 %"
std::string change_text(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * share);
  return text;
}

}  // namespace

std::vector<Time> parse_latencies(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) refuse(text);
  const std::size_t colon = text.find(':', dots);
  std::size_t count = kUsualCount;
  if (colon != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, count);
    if (error != std::errc() || rest != end || count < 2 || count > kMostCount) refuse(text);
  }
  const auto from = machine::parse_latency(text.substr(0, dots));
  const auto to = machine::parse_latency(
      text.substr(dots + 2, colon == std::string::npos ? colon : colon - dots - 2));
  if (!from || !to || *from <= Time() || *to <= *from) refuse(text);
  std::vector<Time> latencies;
  const double ratio = to->seconds() / from->seconds();
  for (std::size_t i = 0; i < count; ++i)
    latencies.push_back(
        Time::from_seconds(from->seconds() * std::pow(ratio, static_cast<double>(i) /
                                                                 static_cast<double>(count - 1))));
  latencies.front() = *from;
  latencies.back() = *to;
  return latencies;
}

LatencyCurve find_latency_curve(const Simulation& simulation, const explain::Run& run,
                                const std::vector<Time>& latencies) {
  LatencyCurve curve;
  curve.added = simulation.network() == sim::NetworkKind::datasheet;
  if (!curve.added && simulation.network() != sim::NetworkKind::loggps)
    throw UsageError(
        "--latencies is for --network loggps and datasheet; see simulate --sweep "
        "latency=0.1,1,10");
  curve.latencies = latencies;
  std::uint64_t calls = 0;
  for (const auto& all : run.calls) calls += all.size();
  const Time as_is = curve.added ? Time() : simulation.loggps().latency;
  curve.simulated = calls * latencies.size() <= kMostCalls || as_is == Time();
  if (curve.simulated) {
    for (const Time latency : latencies) curve.times.push_back(time_at(simulation, run, latency));
    return curve;
  }
  curve.times = explain::times_at_latencies(run, as_is, latencies);
  for (const std::size_t end : {std::size_t{0}, latencies.size() - 1}) {
    const double exact = time_at(simulation, run, latencies[end]).seconds();
    curve.deviation =
        std::max(curve.deviation, std::abs(curve.times[end].seconds() - exact) / exact);
  }
  return curve;
}

std::string render_latency_curve(const LatencyCurve& curve, bool json) {
  using nlohmann::ordered_json;
  if (json) {
    ordered_json points = ordered_json::array();
    for (std::size_t i = 0; i < curve.times.size(); ++i)
      points.push_back({{"latency", views::to_seconds(curve.latencies[i])},
                        {"time", views::to_seconds(curve.times[i])}});
    ordered_json object = {{"latencies", points}, {"simulated", curve.simulated}};
    if (curve.added) object["added"] = true;
    if (!curve.simulated) object["deviation"] = curve.deviation;
    return views::json_text(object);
  }
  constexpr views::Align R = views::Align::right;
  views::TextTable table({R, R, R, R});
  table.add({"L", "run time", "", "slope"});
  const double first = curve.times.front().seconds();
  for (std::size_t i = 0; i < curve.times.size(); ++i) {
    std::string slope;
    if (i > 0)
      slope = views::format_ratio((curve.times[i] - curve.times[i - 1]).seconds() /
                                  (curve.latencies[i] - curve.latencies[i - 1]).seconds());
    table.add({views::format_time(curve.latencies[i]), views::format_time(curve.times[i]),
               first > 0 ? change_text(curve.times[i].seconds() / first - 1) : std::string(),
               slope});
  }
  std::string text = curve.added ? "Run time over a latency that is added to each message\n"
                                 : "Run time over the latency L of messages\n";
  text += table.render(2);
  if (!curve.simulated)
    text +=
        "  from one simulation, ports taking their messages in its order; the ends simulated "
        "differ "
        "by up to " +
        views::format_percent(curve.deviation) + "\n";
  return text;
}

}  // namespace foretrace::cli
