// Who stands where: from the command line, a topology, or what was recorded.
#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "base/error.hpp"
#include "cli/simulate/simulation.hpp"
#include "toml_file/text.hpp"
#include "topology/placement.hpp"

namespace foretrace::cli {
namespace {

std::string count_of(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// The expression of a switch like the machine's own with more hosts; empty: it is no such switch.
std::string larger_switch(const machine::MachineModel& model, int ranks) {
  const auto& spec = model.topology->spec;
  if (!spec || spec->shape.kind != machine::TopologyKind::crossbar) return {};
  const int each = spec->ranks_per_node;
  std::string text = "crossbar:" + std::to_string((ranks + each - 1) / each);
  char before = '?';
  const auto add = [&](const std::string& setting) {
    text += before + setting;
    before = '&';
  };
  if (spec->link.latency) add("latency=" + std::to_string(spec->link.latency->count_ps()) + "ps");
  if (spec->link.bytes_per_second)
    add("bandwidth=" + machine::number(*spec->link.bytes_per_second) + "B/s");
  if (spec->link.burst) add("burst=" + std::to_string(*spec->link.burst));
  if (spec->header > 0) add("header=" + std::to_string(spec->header));
  if (each > 1) add("ranks_per_node=" + std::to_string(each));
  return text;
}

// On processors that have room for different numbers of ranks: in order, or as a file says.
machine::Placement place_unequal(const std::string& text, const architecture::MessageGraph& graph,
                                 int ranks) {
  if (text == "round-robin" || text.starts_with("random:"))
    throw UsageError("--placement " + text +
                     ": the architecture's processors have room for different numbers of ranks; "
                     "take block, or a FILE");
  std::vector<int> room = graph.ranks;
  machine::Placement nodes;
  if (text == "block") {
    for (std::size_t p = 0; p < room.size(); ++p)
      for (; room[p] > 0 && static_cast<int>(nodes.size()) < ranks; --room[p])
        nodes.emplace_back(static_cast<int>(p));
    if (static_cast<int>(nodes.size()) < ranks)
      throw Error("the architecture '" + graph.topology->name() + "' has places for " +
                  count_of(nodes.size(), "rank") + ", the program has " + std::to_string(ranks) +
                  "; take more processors, or more 'ranks' of each");
    return nodes;
  }
  nodes = machine::make_placement(text, *graph.topology, ranks);
  for (const machine::NodeId node : nodes)
    if (--room[static_cast<std::size_t>(node.value)] < 0)
      throw Error(
          text + ": '" + graph.topology->node_name(node) + "' has room for " +
          count_of(static_cast<std::size_t>(graph.ranks[static_cast<std::size_t>(node.value)]),
                   "rank") +
          "; place fewer there");
  return nodes;
}

// By rank the number of its group, from 0 on in the order of the ranks.
std::vector<int> groups_of(const machine::Placement& placement) {
  std::map<machine::NodeId, int> numbers;
  std::vector<int> groups;
  for (const machine::NodeId node : placement)
    groups.push_back(numbers.emplace(node, static_cast<int>(numbers.size())).first->second);
  return groups;
}

}  // namespace

machine::Placement Simulation::recorded_placement() const {
  machine::Placement nodes;
  if (reader_)
    for (const std::int32_t node : reader_->info().nodes) nodes.emplace_back(node);
  return nodes;
}

bool Simulation::places_otherwise_than_recorded() const {
  // The nodes of a predicted run are where it placed its ranks, not where the program ran.
  if (!reader_ || reader_->info().origin != "record" || placement_.empty()) return false;
  const machine::Placement recorded = recorded_placement();
  return !recorded.empty() && groups_of(placement_) != groups_of(recorded);
}

// Not with one path between all ranks, but for what they compute beside others of their node.
bool Simulation::places_matter() const {
  return network_ != sim::NetworkKind::datasheet || machine::knows_paths(model_) ||
         !options_.scale_from.empty() || !options_.slower.empty();
}

std::vector<std::int32_t> Simulation::nodes_of_ranks() const {
  if (!placement_.empty()) return placed_nodes();
  if (options_.live_ranks > 0) return std::vector<std::int32_t>(static_cast<std::size_t>(ranks_));
  std::vector<std::int32_t> recorded;
  for (const machine::NodeId node : recorded_placement())
    recorded.push_back(static_cast<std::int32_t>(node.value));
  return recorded;
}

std::vector<compute::NodeRanks> Simulation::node_ranks() const {
  const bool is_live = options_.live_ranks > 0;
  std::vector<std::int32_t> here(is_live ? static_cast<std::size_t>(ranks_) : 0);
  if (reader_ && reader_->info().origin == "record") here = reader_->info().nodes;
  std::vector<compute::NodeRanks> ranks = compute::ranks_of_nodes(here, nodes_of_ranks());
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  if (is_live)
    for (compute::NodeRanks& each : ranks) each.here = std::min(each.here, cores);
  return ranks;
}

// Messages meet on a topology's links; else a place only says what path lies between two
// ranks, which matters to a model that has several.
void Simulation::place_ranks() {
  // The hosts of the measurement are no limit to what only needs its L and G.
  if (network_ == sim::NetworkKind::loggps && options_.topology.empty() && topology_ &&
      ranks_ > topology_->processors() * topology_->ranks_per_node())
    topology_.reset();
  const bool on_links = topology_ && network_ != sim::NetworkKind::datasheet;
  if (on_links && options_.topology.empty() && !architecture_ &&
      ranks_ > topology_->processors() * topology_->ranks_per_node()) {
    const std::string larger = larger_switch(model_, ranks_);
    throw UsageError("the machine's own topology '" + topology_->name() + "' has places for " +
                     count_of(static_cast<std::size_t>(topology_->processors()) *
                                  static_cast<std::size_t>(topology_->ranks_per_node()),
                              "rank") +
                     ", the program has " + std::to_string(ranks_) + "; give --topology" +
                     (larger.empty()
                          ? " with room for them"
                          : " \"" + larger + "\" if a switch of so many hosts is meant"));
  }
  // A note says that it is all the same.
  if (!places_matter()) return;
  const bool is_recorded = options_.placement == "recorded";
  const machine::Placement recorded = recorded_placement();
  const int said = options_.ranks_per_node;
  if (on_links && said > 0)
    throw UsageError("--ranks-per-node: the topology '" + topology_->name() +
                     "' says how many ranks a processor has; write ranks_per_node=" +
                     std::to_string(said) + " into it");
  if (is_recorded && recorded.empty())
    throw UsageError("--placement recorded: " + options_.input +
                     " does not say on which nodes its ranks ran; give --ranks-per-node N, or a "
                     "FILE with a node for each rank");
  const std::string text = options_.placement.empty() ? "block" : options_.placement;
  if (is_recorded)
    placement_ = recorded;
  else if (on_links && architecture_ &&
           std::ranges::count(architecture_->graph.ranks, topology_->ranks_per_node()) !=
               std::ssize(architecture_->graph.ranks))
    placement_ = place_unequal(text, architecture_->graph, ranks_);
  else if (on_links)
    placement_ = machine::make_placement(text, *topology_, ranks_);
  else if (said > 0 || (!options_.placement.empty() && !topology_))
    placement_ = machine::make_placement(text, said, ranks_);
  else if (!machine::knows_paths(model_))
    return;
  else if (topology_)
    placement_ = machine::make_placement(text, topology_->ranks_per_node(), ranks_);
  else if (options_.live_ranks > 0) {
    placement_.assign(static_cast<std::size_t>(ranks_), machine::NodeId(0));
    if (!model_.paths.empty())
      placed_ =
          "all ranks share a node, as they do on this machine; --ranks-per-node N or --placement "
          "place them otherwise";
  } else if (placement_ = recorded; model_.paths.empty())
    return;
  else if (recorded.empty())
    placed_ =
        "the machine has other times within a node, and nothing says which ranks share one: taken "
        "as none; give --ranks-per-node N or --placement";
  else
    placed_ = "ranks share nodes as in the recorded run (" + count_of(recorded.size(), "rank") +
              " on " + count_of(std::set(recorded.begin(), recorded.end()).size(), "node") +
              "); --ranks-per-node N or --placement place them otherwise";
}

}  // namespace foretrace::cli
