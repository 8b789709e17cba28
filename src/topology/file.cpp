#include "topology/file.hpp"

#include <limits>
#include <map>
#include <tuple>

#include "base/size_text.hpp"
#include "base/whole_file.hpp"
#include "topology/builders.hpp"
#include "topology/toml.hpp"

namespace foretrace::machine {
namespace {

std::optional<std::int64_t> whole_number(const TableReader& reader, std::string_view key,
                                         std::int64_t least, std::int64_t most) {
  const toml::node* node = reader.raw().get(key);
  if (!node) return std::nullopt;
  const auto value = node->value_exact<std::int64_t>();
  if (!value || *value < least || *value > most)
    reader.fail(node, "'" + std::string(key) + "' must be a whole number from " +
                          std::to_string(least) + " to " + std::to_string(most));
  return value;
}

std::optional<std::uint64_t> bytes_at(const TableReader& reader, std::string_view key) {
  const toml::node* node = reader.raw().get(key);
  if (!node) return std::nullopt;
  if (node->is_string()) {
    if (const auto bytes = parse_size(*node->value_exact<std::string>())) return *bytes;
  } else if (const auto bytes = node->value_exact<std::int64_t>(); bytes && *bytes >= 0) {
    return static_cast<std::uint64_t>(*bytes);
  }
  reader.fail(node,
              "'" + std::string(key) + "' must be bytes, 0 or more, or a text such as \"64KiB\"");
}

// A number (seconds, bytes per second) or a text with a unit.
LinkSpeed read_speed(const TableReader& reader, std::string_view latency_key,
                     std::string_view bandwidth_key, std::string_view burst_key = {}) {
  LinkSpeed speed;
  if (const toml::node* node = reader.raw().get(latency_key)) {
    if (node->is_string())
      speed.latency = parse_latency(*node->value_exact<std::string>());
    else if (const auto seconds = node->value<double>();
             node->is_number() && *seconds >= 0 && *seconds <= 86400)
      speed.latency = Time::from_seconds(*seconds);
    if (!speed.latency)
      reader.fail(node, "'" + std::string(latency_key) +
                            "' must be seconds, 0 or more, or a text such as \"1us\"");
  }
  if (const toml::node* node = reader.raw().get(bandwidth_key)) {
    if (node->is_string())
      speed.bytes_per_second = parse_bandwidth(*node->value_exact<std::string>());
    else if (const auto rate = node->value<double>();
             node->is_number() && *rate > 0 && std::isfinite(*rate))
      speed.bytes_per_second = rate;
    if (!speed.bytes_per_second)
      reader.fail(node, "'" + std::string(bandwidth_key) +
                            "' must be bytes per second, above 0, or a text such as \"1GB/s\"");
  }
  if (!burst_key.empty()) speed.burst = bytes_at(reader, burst_key);
  return speed;
}

// Nodes and links one by one, as they come from the file.
class GraphReader {
 public:
  GraphReader(const TableReader& root, const TableReader& topology, const TopologySpec& spec)
      : root_(root), topology_(topology), speeds_{spec.link} {
    speed_numbers_.emplace(key_of(spec.link), 0);
  }

  Topology read(TopologySpec spec) {
    const toml::array* nodes = root_.array("node");
    const toml::array* lists = topology_.array("incidence");
    if (nodes && lists)
      topology_.fail(lists, "give either 'incidence' or [[node]] tables, not both");
    if (!nodes && !lists)
      topology_.fail(nullptr, "needs 'kind' and 'parameters', or 'incidence', or [[node]] tables");
    if (lists)
      read_incidence(*lists);
    else
      read_nodes(*nodes);
    if (const toml::array* links = root_.array("link"))
      for (const toml::node& node : *links) read_link(node, lists != nullptr);
    return build(std::move(spec));
  }

 private:
  using SpeedKey = std::tuple<std::int64_t, double, std::int64_t>;
  struct FileLink {
    int speed = 0;
    bool from_table = false;  // a [[link]], not only an incidence list
  };

  static SpeedKey key_of(const LinkSpeed& speed) {
    return {speed.latency ? speed.latency->count_ps() : -1, speed.bytes_per_second.value_or(-1),
            speed.burst ? static_cast<std::int64_t>(*speed.burst) : -1};
  }

  int speed_number(const LinkSpeed& speed) {
    const auto [entry, is_new] =
        speed_numbers_.emplace(key_of(speed), static_cast<int>(speeds_.size()));
    if (is_new) speeds_.push_back(speed);
    return entry->second;
  }

  void read_incidence(const toml::array& lists) {
    const auto switches =
        static_cast<std::size_t>(whole_number(topology_, "switches", 0, kMaxNodes).value_or(0));
    if (lists.size() > static_cast<std::size_t>(kMaxNodes))
      topology_.fail(&lists, "'incidence' has more than " + std::to_string(kMaxNodes) + " lists");
    if (lists.size() <= switches)
      topology_.fail(&lists,
                     "'incidence' needs a list for each processor and, after them, for "
                     "each of the " +
                         std::to_string(switches) + " switches");
    processors_ = static_cast<int>(lists.size() - switches);
    others_.assign(switches, NodeKind::switch_);
    for (std::size_t from = 0; from < lists.size(); ++from) {
      const toml::array* list = lists[from].as_array();
      if (!list)
        topology_.fail(&lists[from], "list " + std::to_string(from) +
                                         " of 'incidence' must be an array of node numbers");
      for (const toml::node& entry : *list) {
        const int to = node_number(topology_, entry, "incidence");
        add_link(topology_, entry, static_cast<int>(from), to, {});
      }
    }
  }

  void read_nodes(const toml::array& nodes) {
    if (topology_.raw().get("switches"))
      topology_.fail(topology_.raw().get("switches"),
                     "'switches' goes with 'incidence'; here give the node kind = \"switch\"");
    std::vector<std::pair<std::string, NodeKind>> found;
    for (const toml::node& node : nodes) {
      if (!node.is_table()) root_.fail(&node, "'node' must be an array of tables");
      const TableReader reader(*node.as_table(), root_.file(), "[[node]]");
      reader.allow_only({"name", "kind"});
      const auto name = reader.text("name");
      if (!name || name->empty()) reader.fail(nullptr, "needs a 'name'");
      const std::string kind = reader.text("kind").value_or("processor");
      if (kind != "processor" && kind != "switch" && kind != "bus")
        reader.fail(reader.raw().get("kind"), R"('kind' must be "processor", "switch" or "bus")");
      if (!numbers_.emplace(*name, 0).second)
        reader.fail(reader.raw().get("name"), "the node '" + *name + "' is there twice");
      found.emplace_back(*name, kind == "switch" ? NodeKind::switch_
                                : kind == "bus"  ? NodeKind::bus
                                                 : NodeKind::processor);
    }
    for (const bool processors : {true, false})
      for (const auto& [name, kind] : found) {
        if ((kind == NodeKind::processor) != processors) continue;
        numbers_[name] = static_cast<int>(names_.size());
        names_.push_back(name);
        if (processors)
          ++processors_;
        else
          others_.push_back(kind);
      }
    if (processors_ == 0) topology_.fail(nullptr, "has no node of kind \"processor\"");
  }

  void read_link(const toml::node& node, bool has_lists) {
    if (!node.is_table()) root_.fail(&node, "'link' must be an array of tables");
    const TableReader reader(*node.as_table(), root_.file(), "[[link]]");
    reader.allow_only({"from", "to", "latency", "bandwidth", "burst", "both_ways"});
    const auto end = [&](std::string_view key) {
      const toml::node* entry = reader.raw().get(key);
      if (!entry) reader.fail(nullptr, "needs '" + std::string(key) + "'");
      return node_number(reader, *entry, key);
    };
    const int from = end("from");
    const int to = end("to");
    bool both_ways = false;
    if (const toml::node* entry = reader.raw().get("both_ways")) {
      if (!entry->is_boolean()) reader.fail(entry, "'both_ways' must be true or false");
      both_ways = *entry->value_exact<bool>();
    }
    LinkSpeed speed = read_speed(reader, "latency", "bandwidth", "burst");
    if (!speed.latency) speed.latency = speeds_.front().latency;
    if (!speed.bytes_per_second) speed.bytes_per_second = speeds_.front().bytes_per_second;
    if (!speed.burst) speed.burst = speeds_.front().burst;
    const auto put = [&](int a, int b) {
      if (has_lists)
        set_speed(reader, node, a, b, speed);
      else
        add_link(reader, node, a, b, FileLink{speed_number(speed), true});
    };
    put(from, to);
    if (both_ways) put(to, from);
  }

  int node_number(const TableReader& reader, const toml::node& entry, std::string_view key) const {
    const int nodes = processors_ + static_cast<int>(others_.size());
    if (const auto text = entry.value_exact<std::string>()) {
      const auto found = numbers_.find(*text);
      if (found == numbers_.end())
        reader.fail(&entry, "'" + std::string(key) + "' names '" + *text +
                                "', which is no node; add a [[node]] with that name");
      return found->second;
    }
    const auto number = entry.value_exact<std::int64_t>();
    if (!number || *number < 0 || *number >= nodes)
      reader.fail(&entry, "'" + std::string(key) + "' must hold node numbers from 0 to " +
                              std::to_string(nodes - 1) + (names_.empty() ? "" : " or names"));
    return static_cast<int>(*number);
  }

  std::string shown(int node) const {
    return names_.empty() ? std::to_string(node)
                          : "'" + names_[static_cast<std::size_t>(node)] + "'";
  }

  NodeKind kind(int node) const {
    return node < processors_ ? NodeKind::processor
                              : others_[static_cast<std::size_t>(node - processors_)];
  }

  void add_link(const TableReader& reader, const toml::node& where, int from, int to,
                FileLink link) {
    if (from == to) reader.fail(&where, "node " + shown(from) + " has a link to itself; remove it");
    if (kind(from) == NodeKind::bus && kind(to) == NodeKind::bus)
      reader.fail(&where, "two buses need a switch between them");
    if (!links_.emplace(std::pair(from, to), link).second)
      reader.fail(&where, "the link from " + shown(from) + " to " + shown(to) +
                              " is there twice; remove one");
    if (static_cast<std::int64_t>(links_.size()) > kMaxLinks)
      reader.fail(&where, "more than " + std::to_string(kMaxLinks) + " links");
  }

  void set_speed(const TableReader& reader, const toml::node& where, int from, int to,
                 const LinkSpeed& speed) {
    const auto found = links_.find({from, to});
    if (found == links_.end())
      reader.fail(&where, "'incidence' has no link from " + shown(from) + " to " + shown(to) +
                              "; add it there");
    if (found->second.from_table)
      reader.fail(&where, "the link from " + shown(from) + " to " + shown(to) +
                              " is there twice; remove one");
    found->second = FileLink{speed_number(speed), true};
  }

  Topology build(TopologySpec spec) {
    std::vector<GraphLink> links;
    const LinkSpeed free{Time(), std::numeric_limits<double>::infinity()};
    for (const auto& [ends, link] : links_) {
      const bool out_of_bus = kind(ends.first) == NodeKind::bus;
      links.push_back({ends.first, ends.second, out_of_bus ? speed_number(free) : link.speed});
    }
    return Topology(std::move(spec), TopologyGraph(processors_, std::move(others_), links),
                    std::move(speeds_), std::move(names_));
  }

  const TableReader& root_;
  const TableReader& topology_;
  int processors_ = 0;
  std::vector<NodeKind> others_;
  std::vector<std::string> names_;
  std::map<std::string, int, std::less<>> numbers_;
  std::map<std::pair<int, int>, FileLink> links_;
  std::vector<LinkSpeed> speeds_;
  std::map<SpeedKey, int> speed_numbers_;
};

Shape read_shape(const TableReader& reader) {
  const std::string kind = *reader.text("kind");
  const toml::node* node = reader.raw().get("parameters");
  std::string parameters;
  if (!node) reader.fail(reader.raw().get("kind"), "'kind' needs 'parameters'");
  if (const auto number = node->value_exact<std::int64_t>())
    parameters = std::to_string(*number);
  else if (const auto text = node->value_exact<std::string>())
    parameters = *text;
  else
    reader.fail(node, "'parameters' must be a number or a text such as \"4x4\"");
  try {
    return parse_shape(kind, parameters);
  } catch (const UsageError& error) {
    reader.fail(node, error.what());
  }
}

}  // namespace

TopologySpec read_topology_spec(const TableReader& root, const TableReader& topology,
                                const std::string& default_name) {
  topology.allow_only({"name", "kind", "parameters", "incidence", "switches", "latency",
                       "bandwidth", "burst", "header", "ranks_per_node", "intra_latency",
                       "intra_bandwidth"});
  TopologySpec spec;
  spec.name = topology.text("name").value_or(default_name);
  spec.link = read_speed(topology, "latency", "bandwidth", "burst");
  spec.intra_node = read_speed(topology, "intra_latency", "intra_bandwidth");
  spec.header = bytes_at(topology, "header").value_or(0);
  spec.ranks_per_node =
      static_cast<int>(whole_number(topology, "ranks_per_node", 1, 1 << 20).value_or(1));
  if (!topology.text("kind")) {
    if (const toml::node* node = topology.raw().get("parameters"))
      topology.fail(node, "'parameters' needs 'kind', for example kind = \"torus\"");
    return spec;
  }
  for (const char* key : {"incidence", "switches"})
    if (const toml::node* node = topology.raw().get(key))
      topology.fail(node, "a topology with 'kind' has no '" + std::string(key) + "'; remove one");
  for (const char* key : {"node", "link"})
    if (const toml::node* node = root.raw().get(key))
      root.fail(node, "a topology with 'kind' has no [[" + std::string(key) + "]]; remove one");
  spec.shape = read_shape(topology);
  return spec;
}

Topology read_topology_graph(const TableReader& root, const TableReader& topology,
                             const TopologySpec& spec) {
  return GraphReader(root, topology, spec).read(spec);
}

Topology parse_topology(std::string_view text, const std::string& name) {
  const toml::table root = parse_toml(text, name);
  const TableReader reader(root, name, "topology file");
  const toml::table* table = reader.table("topology");
  if (!table) throw Error(name + ":1: not a topology: it has no [topology] table");
  reader.allow_only({"topology", "node", "link"});
  const TableReader topology(*table, name, "[topology]");
  const TopologySpec spec = read_topology_spec(reader, topology, name);
  if (spec.shape.kind == TopologyKind::arbitrary)
    return read_topology_graph(reader, topology, spec);
  return build_topology(spec);
}

Topology read_topology_file(const std::string& path) {
  return parse_topology(read_whole_file(path, "the topology"), path);
}

}  // namespace foretrace::machine
