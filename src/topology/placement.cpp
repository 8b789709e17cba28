#include "topology/placement.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "base/shown_text.hpp"

namespace foretrace::machine {
namespace {

template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): the standard library's shuffle
// and distributions differ from one library to the next.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // 0..count-1, count < 2^32: the upper half of next() times count. Off from
  // equal chances by less than count / 2^32.
  std::uint32_t below(std::uint32_t count) {
    return static_cast<std::uint32_t>(((next() >> 32) * count) >> 32);
  }

 private:
  std::uint64_t state_;
};

Placement block_placement(int ranks_per_node, int ranks) {
  Placement nodes(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    nodes[static_cast<std::size_t>(rank)] = NodeId(rank / ranks_per_node);
  return nodes;
}

Placement round_robin_placement(int processors, int ranks) {
  Placement nodes(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    nodes[static_cast<std::size_t>(rank)] = NodeId(rank % processors);
  return nodes;
}

// Fisher-Yates from the end: place i changes with one of 0..i.
void shuffle(Placement& nodes, std::uint64_t seed) {
  SplitMix64 random(seed);
  for (std::size_t i = nodes.size(); i > 1; --i)
    std::swap(nodes[i - 1], nodes[random.below(static_cast<std::uint32_t>(i))]);
}

class FileReader {
 public:
  // Without a topology a node is any name.
  FileReader(std::string path, const Topology* topology)
      : path_(std::move(path)),
        topology_(topology),
        ranks_on_(topology ? static_cast<std::size_t>(topology->processors()) : 0, 0) {}

  Placement read(int ranks) {
    std::ifstream file(path_, std::ios::binary);
    if (!file) throw Error(path_ + ": cannot read the placement: " + std::strerror(errno));
    Placement nodes;
    std::string line;
    while (static_cast<int>(nodes.size()) < ranks && std::getline(file, line)) {
      ++line_;
      nodes.push_back(node_in(trimmed(line)));
    }
    if (file.bad()) throw Error(path_ + ": cannot read the placement: " + std::strerror(errno));
    if (static_cast<int>(nodes.size()) < ranks)
      throw Error(path_ + ":" + std::to_string(line_ + 1) + ": the file ends after " +
                  std::to_string(line_) + " line" + (line_ == 1 ? "" : "s") + ", the program has " +
                  std::to_string(ranks) + " ranks; write a processor for each rank");
    return nodes;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(path_ + ":" + std::to_string(line_) + ": " + message);
  }

  static std::string_view trimmed(std::string_view line) {
    constexpr std::string_view kBlank = " \t\r";
    const std::size_t first = line.find_first_not_of(kBlank);
    if (first == line.npos) return {};
    return line.substr(first, line.find_last_not_of(kBlank) - first + 1);
  }

  NodeId node_in(std::string_view text) {
    if (text.empty())
      fail("expected a processor for rank " + std::to_string(line_ - 1) +
           ", found an empty line; line n is for rank n-1");
    if (!topology_)
      return NodeId(
          names_.emplace(std::string(text), static_cast<int>(names_.size())).first->second);
    const NodeId node = find(text);
    if (!node.valid())
      fail("'" + shown(text) + "' is no processor of topology '" + topology_->name() +
           "'; write a number from 0 to " + std::to_string(topology_->processors() - 1) +
           " or a node's name");
    if (topology_->kind(node) != NodeKind::processor)
      fail("'" + shown(text) + "' is a " +
           (topology_->kind(node) == NodeKind::bus ? "bus" : "switch") +
           "; ranks run on processors");
    if (++ranks_on_[static_cast<std::size_t>(node.value)] > topology_->ranks_per_node())
      fail("processor '" + shown(text) + "' is full: the topology has ranks_per_node = " +
           std::to_string(topology_->ranks_per_node()));
    return node;
  }

  // A name before a number: a file may name its nodes with numbers of its own.
  NodeId find(std::string_view text) {
    const auto number = parse_whole<std::int32_t>(text);
    const bool is_processor = number && *number >= 0 && *number < topology_->processors();
    if (is_processor && topology_->node_name(NodeId(*number)) == text) return NodeId(*number);
    if (names_.empty())
      for (int node = 0; node < topology_->nodes(); ++node)
        names_.emplace(topology_->node_name(NodeId(node)), node);
    if (const auto found = names_.find(std::string(text)); found != names_.end())
      return NodeId(found->second);
    return is_processor ? NodeId(*number) : NodeId();
  }

  std::string path_;
  const Topology* topology_;
  int line_ = 0;
  std::vector<int> ranks_on_;                   // by processor
  std::unordered_map<std::string, int> names_;  // filled when first asked
};

// `random:SEED`; nothing for other words.
std::optional<std::uint64_t> seed_in(std::string_view text) {
  constexpr std::string_view kRandom = "random:";
  if (!text.starts_with(kRandom)) return std::nullopt;
  const auto seed = parse_whole<std::uint64_t>(text.substr(kRandom.size()));
  if (!seed)
    throw UsageError("--placement '" + shown(text) +
                     "': the seed must be a whole number from 0 on, for example random:1");
  return seed;
}

Placement make(std::string_view text, const Topology* topology, int ranks_per_node, int processors,
               int ranks) {
  if (text == "block") return block_placement(ranks_per_node, ranks);
  if (text == "round-robin") return round_robin_placement(processors, ranks);
  if (const auto seed = seed_in(text)) {
    Placement nodes = block_placement(ranks_per_node, ranks);
    shuffle(nodes, *seed);
    return nodes;
  }
  std::error_code ignored;
  const std::string path(text);
  if (!std::filesystem::exists(path, ignored))
    throw UsageError("--placement '" + shown(text) +
                     "': no such file; known: block, round-robin, random:SEED, recorded, or a FILE "
                     "with a processor for each rank");
  return FileReader(path, topology).read(ranks);
}

}  // namespace

Placement make_placement(std::string_view text, const Topology& topology, int ranks) {
  if (ranks > topology.ranks())
    throw UsageError(
        "topology '" + topology.name() + "' has places for " + std::to_string(topology.ranks()) +
        " ranks (" + std::to_string(topology.processors()) + " processors with " +
        std::to_string(topology.ranks_per_node()) + " each), the program has " +
        std::to_string(ranks) +
        "; take a larger one, or put several on a processor (SHAPE?ranks_per_node=2, or "
        "ranks_per_node in its file)");
  return make(text, &topology, topology.ranks_per_node(), topology.processors(), ranks);
}

Placement make_placement(std::string_view text, int ranks_per_node, int ranks) {
  const bool counts = text == "block" || text == "round-robin" || seed_in(text);
  if (counts && ranks_per_node < 1)
    throw UsageError("--placement " + shown(text) +
                     " needs to know how many ranks a node has: --ranks-per-node N, or a topology");
  const int room = std::max(ranks_per_node, 1);
  return make(text, nullptr, room, (ranks + room - 1) / room, ranks);
}

}  // namespace foretrace::machine
