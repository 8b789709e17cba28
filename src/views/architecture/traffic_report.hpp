// What `foretrace traffic` tells: a curve of latency over load, as a table, JSON and a picture.
#pragma once

#include <string>
#include <vector>

#include "architecture/traffic.hpp"

namespace foretrace::views {

struct TrafficReport {
  std::string name;
  std::string pattern;
  int terminals = 0;
  int routers = 0;
  int packet_flits = 1;
  double cycle_seconds = 1e-9;
  double flit_bytes = 16;
  architecture::TrafficCurve curve;
  // The hottest links at the highest stable load: "a -> b" and flits a cycle.
  std::vector<std::pair<std::string, double>> hottest;
};

std::string render_text_traffic(const TrafficReport& report);
std::string render_json_traffic(const TrafficReport& report);
std::string render_svg_traffic(const TrafficReport& report);

}  // namespace foretrace::views
