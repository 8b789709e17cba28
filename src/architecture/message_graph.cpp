#include <algorithm>
#include <limits>
#include <map>

#include "architecture/message_network.hpp"
#include "base/error.hpp"

namespace foretrace::architecture {
namespace {

using machine::NodeKind;

bool passes_messages(const FlatEntity& entity) {
  const std::string_view name = entity.behaviour_name();
  return entity.is_bus() || name == "processor" || name == "switch" || name == "omega-element" ||
         name == "nic" || name == "memory" || name == "cache";
}

// The template that is all of the network, so that its own routes are.
const TemplateUse* only_template(const FlatArchitecture& architecture) {
  if (architecture.templates.size() != 1) return nullptr;
  const TemplateUse& use = architecture.templates.front();
  const auto single = [](const std::pair<int, int>& part) { return part.second == part.first + 1; };
  const bool whole =
      use.elements.size() + use.switches.size() == architecture.entities.size() &&
      std::ranges::all_of(use.elements, single) && std::ranges::all_of(use.switches, single) &&
      std::ranges::all_of(use.elements, [&](const auto& part) {
        return architecture.entities[static_cast<std::size_t>(part.first)].behaviour_name() ==
               "processor";
      });
  return whole ? &use : nullptr;
}

}  // namespace

MessageGraph message_graph(const FlatArchitecture& architecture) {
  MessageGraph made;
  const std::size_t count = architecture.entities.size();
  std::vector<int> node(count, -1);
  std::vector<NodeKind> others;
  std::vector<std::string> names;
  machine::TopologySpec spec;
  spec.name = architecture.name;
  for (const bool processors : {true, false})
    for (std::size_t e = 0; e < count; ++e) {
      const FlatEntity& entity = architecture.entities[e];
      if (!passes_messages(entity))
        throw Error(entity.where.text() + ": '" + entity.path + "' is a " +
                    std::string(entity.behaviour_name()) +
                    ", which no message passes; take processors, switches, buses, NICs, caches and "
                    "memories");
      const bool processor = entity.behaviour_name() == "processor";
      if (processor != processors) continue;
      node[e] = static_cast<int>(made.entity_of.size());
      made.entity_of.push_back(static_cast<int>(e));
      names.push_back(entity.path);
      if (processor) {
        made.ranks.push_back(static_cast<int>(entity.parameters->number("ranks")));
        spec.ranks_per_node = std::max(spec.ranks_per_node, made.ranks.back());
      } else {
        others.push_back(entity.is_bus() ? NodeKind::bus : NodeKind::switch_);
      }
    }
  const int processors = static_cast<int>(count - others.size());
  if (processors == 0)
    throw Error(architecture.file + ": has no processors; a program needs at least one");
  const TemplateUse* whole = only_template(architecture);
  if (whole) spec.shape = whole->shape;

  std::vector<machine::LinkSpeed> speeds(1);
  std::map<std::pair<std::int64_t, double>, int> known;
  std::map<std::pair<int, int>, std::pair<int, int>> links;  // ends: speed, parallel
  const auto add = [&](int from, int to, const FlatLink& link) {
    machine::LinkSpeed speed = link.speed;
    // What leaves a bus is free: its links in hold what it takes. Where stations collide, how far
    // each is from the middle counts.
    const FlatEntity& sender = architecture.entities[static_cast<std::size_t>(from)];
    if (sender.is_bus())
      speed = {sender.collides() ? speed.latency : Time(), std::numeric_limits<double>::infinity()};
    const std::pair<std::int64_t, double> key{speed.latency ? speed.latency->count_ps() : -1,
                                              speed.bytes_per_second.value_or(-1)};
    const auto [entry, is_new] = known.emplace(key, static_cast<int>(speeds.size()));
    if (is_new) speeds.push_back(speed);
    const auto [found, first] = links.try_emplace(
        {node[static_cast<std::size_t>(from)], node[static_cast<std::size_t>(to)]}, entry->second,
        0);
    if (!first && found->second.first != entry->second)
      throw Error(link.where.text() + ": there is another link between '" +
                  architecture.entities[static_cast<std::size_t>(from)].path + "' and '" +
                  architecture.entities[static_cast<std::size_t>(to)].path +
                  "' with another speed; make them equal");
    ++found->second.second;
  };
  for (const FlatLink& link : architecture.links) {
    const auto bus = [&](int entity) {
      return architecture.entities[static_cast<std::size_t>(entity)].is_bus();
    };
    if (bus(link.from.entity) && bus(link.to.entity))
      throw Error(link.where.text() + ": two buses need a switch between them");
    add(link.from.entity, link.to.entity, link);
    if (!link.one_way) add(link.to.entity, link.from.entity, link);
  }
  std::vector<machine::GraphLink> graph_links;
  for (const auto& [ends, link] : links) {
    graph_links.push_back({ends.first, ends.second, link.first});
    made.parallel.push_back(link.second);
  }
  machine::TopologyGraph graph(processors, std::move(others), graph_links);
  made.topology = std::make_unique<machine::Topology>(std::move(spec), std::move(graph),
                                                      std::move(speeds), std::move(names));
  return made;
}

}  // namespace foretrace::architecture
