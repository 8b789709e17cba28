#include "views/architecture/traffic_report.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "views/draw/json_text.hpp"
#include "views/draw/markup.hpp"
#include "views/draw/text_table.hpp"

namespace foretrace::views {
namespace {

using architecture::TrafficPoint;

std::string bandwidth(const TrafficReport& report, double flits) {
  const double rate = flits * report.flit_bytes / report.cycle_seconds;
  return rate >= 1e9 ? fmt::format("{:.3g} GB/s", rate / 1e9)
                     : fmt::format("{:.3g} MB/s", rate / 1e6);
}

// Whether there is a latency to show.
bool is_shown(const TrafficPoint& point) {
  return point.stable && point.packets > 0;
}

}  // namespace

std::string render_text_traffic(const TrafficReport& report) {
  std::string text =
      fmt::format("{}: {} terminal{}, {} switch{}, {} traffic, packets of {} flit{}\n", report.name,
                  report.terminals, report.terminals == 1 ? "" : "s", report.routers,
                  report.routers == 1 ? "" : "es", report.pattern, report.packet_flits,
                  report.packet_flits == 1 ? "" : "s");
  text += fmt::format("  a cycle is {:.6g} ns, a flit {:.6g} bytes: 1 flit a cycle is {}\n",
                      report.cycle_seconds * 1e9, report.flit_bytes, bandwidth(report, 1));
  text += fmt::format("  without load  {:.2f} cycles\n", report.curve.zero_load);
  if (report.curve.saturation)
    text += fmt::format(
        "  saturation    {:.3f} flits a cycle and terminal ({}): three times that latency\n",
        *report.curve.saturation, bandwidth(report, *report.curve.saturation));
  else
    text += "  saturation    not up to 1 flit a cycle and terminal\n";
  text += fmt::format("  throughput    {:.3f} when 1 is offered\n\n", report.curve.throughput);
  TextTable table({Align::right, Align::right, Align::right, Align::right, Align::right,
                   Align::right, Align::left});
  table.add({"offered", "accepted", "latency", "+-", "longest", "hops", ""});
  for (const TrafficPoint& point : report.curve.points) {
    if (point.stable && point.packets == 0)
      table.add({fmt::format("{:.4f}", point.offered), fmt::format("{:.4f}", point.accepted), "-",
                 "-", "-", "-", "no packets"});
    else if (point.stable)
      table.add({fmt::format("{:.4f}", point.offered), fmt::format("{:.4f}", point.accepted),
                 fmt::format("{:.2f}", point.latency),
                 point.error ? fmt::format("{:.2f}", *point.error) : "-",
                 fmt::format("{}", point.most), fmt::format("{:.3f}", point.hops), ""});
    else
      table.add({fmt::format("{:.4f}", point.offered), fmt::format("{:.4f}", point.accepted), "-",
                 "-", "-", "-", "saturated"});
  }
  text += table.render(2);
  if (!report.hottest.empty()) {
    text += "\n  fullest links at the highest load that is stable (flits a cycle)\n";
    TextTable links({Align::right, Align::left});
    for (const auto& [name, load] : report.hottest) links.add({fmt::format("{:.3f}", load), name});
    text += links.render(4);
  }
  return text;
}

std::string render_json_traffic(const TrafficReport& report) {
  nlohmann::ordered_json all;
  all["architecture"] = report.name;
  all["pattern"] = report.pattern;
  all["terminals"] = report.terminals;
  all["switches"] = report.routers;
  all["packet_flits"] = report.packet_flits;
  all["cycle"] = report.cycle_seconds;
  all["flit_bytes"] = report.flit_bytes;
  all["zero_load"] = report.curve.zero_load;
  all["saturation"] = report.curve.saturation ? nlohmann::ordered_json(*report.curve.saturation)
                                              : nlohmann::ordered_json(nullptr);
  all["throughput"] = report.curve.throughput;
  auto& points = all["points"] = nlohmann::ordered_json::array();
  for (const TrafficPoint& point : report.curve.points) {
    nlohmann::ordered_json one;
    one["offered"] = point.offered;
    one["created"] = point.created;
    one["accepted"] = point.accepted;
    one["stable"] = point.stable;
    if (is_shown(point)) {
      one["latency"] = point.latency;
      if (point.error) one["latency_error"] = *point.error;
      one["network_latency"] = point.network_latency;
      one["longest"] = point.most;
      one["hops"] = point.hops;
      one["packets"] = point.packets;
    }
    points.push_back(std::move(one));
  }
  auto& links = all["hottest_links"] = nlohmann::ordered_json::array();
  for (const auto& [name, load] : report.hottest) links.push_back({{"link", name}, {"load", load}});
  return json_text(all);
}

std::string render_svg_traffic(const TrafficReport& report) {
  constexpr double kLeft = 60, kTop = 40, kWidth = 520, kHeight = 300;
  const double most_load =
      std::max(0.01, report.curve.points.empty() ? 1.0 : report.curve.points.back().offered * 1.05);
  double most_latency = 3 * report.curve.zero_load;
  for (const TrafficPoint& point : report.curve.points)
    if (is_shown(point)) most_latency = std::max(most_latency, point.latency);
  most_latency = std::min(most_latency * 1.05, 8 * std::max(1.0, report.curve.zero_load));
  const auto x = [&](double load) { return kLeft + kWidth * load / most_load; };
  const auto y = [&](double latency) {
    return kTop + kHeight * (1 - std::min(1.0, latency / most_latency));
  };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"620\" height=\"400\" viewBox=\"0 0 620 "
      "400\" "
      "font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n<title>{0}, {1} traffic</title>\n"
      "<rect width=\"620\" height=\"400\" fill=\"white\"/>\n"
      "<text x=\"60\" y=\"22\" font-size=\"14\">{0}: {1} traffic</text>\n",
      escape_html(report.name), escape_html(report.pattern));
  for (int i = 0; i <= 5; ++i) {
    const double load = most_load * i / 5;
    const double latency = most_latency * i / 5;
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#ddd\"/>"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4:.2f}</text>\n"
        "<line x1=\"{5}\" y1=\"{6:.1f}\" x2=\"{7}\" y2=\"{6:.1f}\" stroke=\"#ddd\"/>"
        "<text x=\"{8}\" y=\"{9:.1f}\" text-anchor=\"end\">{10:.0f}</text>\n",
        x(load), kTop, kTop + kHeight, kTop + kHeight + 16, load, kLeft, y(latency), kLeft + kWidth,
        kLeft - 6, y(latency) + 4, latency);
  }
  svg +=
      "<text x=\"320\" y=\"382\" text-anchor=\"middle\">offered, flits a cycle and "
      "terminal</text>\n"
      "<text x=\"16\" y=\"190\" transform=\"rotate(-90 16 190)\" text-anchor=\"middle\">latency, "
      "cycles</text>\n";
  if (report.curve.saturation)
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#b33\" "
        "stroke-dasharray=\"4 3\"/><text x=\"{0:.1f}\" y=\"{3}\" fill=\"#b33\" "
        "text-anchor=\"end\">saturation {4:.3f}</text>\n",
        x(*report.curve.saturation), kTop, kTop + kHeight, kTop + 12, *report.curve.saturation);
  std::string line;
  for (const TrafficPoint& point : report.curve.points) {
    if (!is_shown(point)) continue;
    line +=
        fmt::format("{}{:.1f},{:.1f}", line.empty() ? "" : " ", x(point.offered), y(point.latency));
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"#1668a8\"/>\n",
                       x(point.offered), y(point.latency));
  }
  svg += "<polyline fill=\"none\" stroke=\"#1668a8\" stroke-width=\"2\" points=\"" + line +
         "\"/>\n</svg>\n";
  return svg;
}

}  // namespace foretrace::views
