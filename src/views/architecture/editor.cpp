#include "views/architecture/editor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "views/architecture/editor_page.hpp"
#include "views/draw/json_text.hpp"
#include "views/draw/markup.hpp"

namespace foretrace::views {
namespace {

using architecture::ParameterType;
using Json = nlohmann::ordered_json;

constexpr int kMostPorts = 1 << 20;

Json json_of(const std::vector<architecture::PortSpec>& ports) {
  Json all = Json::array();
  constexpr const char* kDirections[] = {"both", "in", "out"};
  for (const architecture::PortSpec& port : ports)
    all.push_back({{"name", port.name},
                   {"direction", kDirections[static_cast<std::size_t>(port.direction)]},
                   {"most", port.most}});
  return all;
}

Json json_of(const std::vector<architecture::ParameterSpec>& parameters) {
  Json all = Json::array();
  for (const architecture::ParameterSpec& spec : parameters) {
    const bool is_number = spec.type == ParameterType::integer ||
                           spec.type == ParameterType::real || spec.type == ParameterType::array;
    all.push_back({{"name", spec.name},
                   {"type", architecture::name_of(spec.type)},
                   {"usual", spec.usual},
                   {"choices", spec.choices},
                   {"help", spec.help},
                   {"quoted", !is_number}});
  }
  return all;
}

Json kind(const std::string& name, const char* what, Json ports, Json parameters,
          std::vector<std::string> levels, const std::string& help) {
  return {{"name", name},
          {"what", what},
          {"ports", std::move(ports)},
          {"parameters", std::move(parameters)},
          {"levels", std::move(levels)},
          {"help", help}};
}

Json behaviours() {
  Json all = Json::array();
  for (const architecture::BehaviourSpec& one : architecture::built_in_behaviours())
    all.push_back(kind(one.name, "behaviour", json_of(one.ports), json_of(one.parameters),
                       one.levels, one.help));
  return all;
}

Json kinds_of(const architecture::Description& description) {
  Json all = Json::array();
  const auto& built_in = architecture::built_in_behaviours();
  for (const auto& [name, entity] : description.entities) {
    const auto own =
        std::ranges::find(built_in, entity.behaviour, &architecture::BehaviourSpec::name);
    if (own != built_in.end())
      all.push_back(kind(name, "entity", json_of(own->ports), json_of(own->parameters), own->levels,
                         own->help));
    else
      all.push_back(kind(name, "entity", json_of(entity.ports), json_of(entity.parameters),
                         {"detail"}, "a plug-in"));
  }
  for (const auto& [name, composite] : description.composites) {
    std::vector<architecture::PortSpec> ports;
    for (const architecture::OuterPort& port : composite.ports)
      ports.push_back({port.name, 0, kMostPorts});
    std::vector<std::string> levels{"inside"};
    for (const architecture::CompositeLevel& level : composite.levels) levels.push_back(level.name);
    all.push_back(kind(name, "composite", json_of(ports), json_of(composite.parameters), levels,
                       "a box of parts"));
  }
  return all;
}

}  // namespace

std::string render_html_editor() {
  std::string page(editor_page());
  constexpr std::string_view kPlace = "@BEHAVIOURS@";
  if (const std::size_t at = page.find(kPlace); at != std::string::npos)
    page.replace(at, kPlace.size(), escape_script(behaviours().dump()));
  return page;
}

std::string editor_state_json(const std::string& file, const std::string& text) {
  return json_text({{"file", file}, {"text", text}});
}

std::string editor_fault_json(const std::string& file, const std::string& message,
                              const architecture::Description* description) {
  int line = 0;
  if (message.starts_with(file + ":")) {
    const char* begin = message.data() + file.size() + 1;
    std::from_chars(begin, message.data() + message.size(), line);
  }
  Json all = {{"fault", {{"message", message}, {"line", line}}}};
  if (description) all["kinds"] = kinds_of(*description);
  return json_text(all);
}

std::string editor_machine_json(const architecture::Description& description,
                                const architecture::FlatArchitecture& flat) {
  Json entities = Json::array();
  for (const architecture::FlatEntity& one : flat.entities)
    entities.push_back({one.path, one.behaviour_name(), one.x, one.y, one.level});
  Json links = Json::array();
  for (const architecture::FlatLink& one : flat.links)
    links.push_back({one.from.entity, one.to.entity});
  Json all;
  all["kinds"] = kinds_of(description);
  all["flat"] = {{"entities", std::move(entities)}, {"links", std::move(links)}};
  return json_text(all);
}

std::string editor_traffic_json(const architecture::FlatFabric& made,
                                const architecture::TrafficPoint& point) {
  struct Load {
    std::string from, to;
    double load;
  };
  std::vector<Load> loads;
  for (std::size_t r = 0; r < point.link_load.size(); ++r)
    for (std::size_t p = 0; p < point.link_load[r].size(); ++p) {
      const int to = made.fabric.ports[r][p].out.router;
      if (to < 0) continue;
      loads.push_back({made.fabric.names[r], made.fabric.names[static_cast<std::size_t>(to)],
                       point.link_load[r][p]});
    }
  Json all;
  all["summary"] =
      point.packets == 0 ? "no packets"
      : point.stable
          ? fmt::format("{:.4f} flits a cycle and terminal arrive, after {:.2f} cycles",
                        point.accepted, point.latency)
          : fmt::format("saturated: {:.4f} flits a cycle and terminal are offered, {:.4f} arrive",
                        point.offered, point.accepted);
  Json& links = all["loads"] = Json::array();
  for (const Load& one : loads) links.push_back({one.from, one.to, one.load});
  std::ranges::stable_sort(loads, std::greater<>(), &Load::load);
  loads.resize(std::min<std::size_t>(8, loads.size()));
  Json& rows = all["rows"] = Json::array();
  rows.push_back({"fullest links", "flits a cycle"});
  for (const Load& one : loads)
    rows.push_back({one.from + " -> " + one.to, fmt::format("{:.3f}", one.load)});
  return json_text(all);
}

std::string editor_queues_json(const architecture::EntityRunResult& result) {
  Json all;
  all["summary"] =
      fmt::format("{:.9g} s, {} events", static_cast<double>(result.end) * 1e-12, result.events) +
      (result.failure.empty() ? "" : "; the run ended there: " + result.failure);
  all["loads"] = Json::array();
  Json& rows = all["rows"] = Json::array();
  rows.push_back({"entity", "received", "sent", "inside", "most", "busy", "stay"});
  for (const architecture::EntityReport& one : result.entities)
    rows.push_back({one.path, std::to_string(one.received), std::to_string(one.sent),
                    fmt::format("{:.4f}", one.in_system), std::to_string(one.most_in_system),
                    fmt::format("{:.1f}%", one.utilisation * 100),
                    fmt::format("{:.6g} s", one.stay)});
  return json_text(all);
}

}  // namespace foretrace::views
