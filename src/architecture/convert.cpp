#include "architecture/convert.hpp"

#include <map>
#include <optional>

#include "architecture/numbers.hpp"

namespace foretrace::architecture {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += ' ';
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string speed_text(const machine::LinkSpeed& speed) {
  std::string text;
  if (speed.latency) text += "latency = \"" + std::to_string(speed.latency->count_ps()) + "ps\"\n";
  if (speed.bytes_per_second && *speed.bytes_per_second < 1e300)
    text += "bandwidth = \"" + format_number(*speed.bytes_per_second) + "B/s\"\n";
  return text;
}

const char* kind_of(machine::NodeKind kind) {
  return kind == machine::NodeKind::processor ? "processor"
         : kind == machine::NodeKind::bus     ? "bus"
                                              : "switch";
}

}  // namespace

std::string description_of(const machine::Topology& topology, const std::string& expression) {
  std::string text = "[architecture]\nname = " + quoted(topology.name()) + "\n\n";
  text += "[entity.cpu]\nbehaviour = \"processor\"\nparameters = { ranks = " +
          std::to_string(topology.ranks_per_node()) + " }\n\n[composite.machine]\n\n";
  if (!expression.empty()) {
    text += "[[composite.machine.part]]\nname = \"node\"\nkind = \"cpu\"\ntemplate = " +
            quoted(expression) + "\n";
    if (topology.links() > 0) text += speed_text(topology.speed(machine::LinkId(0)));
    return text;
  }
  std::map<machine::NodeKind, int> counts;
  for (int node = 0; node < topology.nodes(); ++node)
    ++counts[topology.kind(machine::NodeId(node))];
  std::vector<std::string> names;
  std::map<machine::NodeKind, int> seen;
  for (int node = 0; node < topology.nodes(); ++node) {
    const machine::NodeKind kind = topology.kind(machine::NodeId(node));
    const char* part = kind == machine::NodeKind::processor ? "node"
                       : kind == machine::NodeKind::bus     ? "bus"
                                                            : "switch";
    names.push_back(std::string(part) + "[" + std::to_string(seen[kind]++) + "]");
  }
  for (const auto& [kind, count] : counts) {
    const bool cpu = kind == machine::NodeKind::processor;
    text += "[[composite.machine.part]]\nname = \"" + std::string(cpu ? "node" : kind_of(kind)) +
            "\"\nkind = \"" + std::string(cpu ? "cpu" : kind_of(kind)) +
            "\"\ncount = " + std::to_string(count) + "\n\n";
  }
  const machine::TopologyGraph& graph = topology.graph();
  for (int link = 0; link < topology.links(); ++link) {
    const int a = graph.from(link);
    const int b = graph.to(link);
    const int back = graph.find(b, a);
    const machine::LinkSpeed& speed = topology.speed(machine::LinkId(link));
    // What leaves a bus is free, and no link of its own.
    const bool bus = graph.kind(a) == machine::NodeKind::bus;
    const bool same = back >= 0 && (bus || graph.kind(b) == machine::NodeKind::bus ||
                                    topology.speed(machine::LinkId(back)) == speed);
    if (same && (bus || (graph.kind(b) != machine::NodeKind::bus && a > b))) continue;
    text += "[[composite.machine.link]]\nfrom = \"" + names[static_cast<std::size_t>(a)] +
            ".net\"\nto = \"" + names[static_cast<std::size_t>(b)] + ".net\"\n" + speed_text(speed);
    if (!same) text += "one_way = true\n";
    text += "\n";
  }
  return text;
}

}  // namespace foretrace::architecture
