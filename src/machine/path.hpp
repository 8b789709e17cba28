// Paths: how close two ranks are, and what of a machine model holds between them.
//
// A model's top level is the outermost path, between nodes; [path.NAME] holds what is
// another for ranks that share more. Who stands where comes from a Placement
// (topology/placement.hpp). docs/machine-file.md has the rule for what a path leaves out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "topology/placement.hpp"

namespace foretrace::machine {

struct MachineModel;

// From inner to outer. A finer one (socket, cache) is an entry before `node`, with what its
// ranks share in RankPaths.
enum class Path : std::uint8_t {
  // Both on one node, and nobody has written the data since it was sent last (Function::untouched).
  untouched,
  node,   // both on one node
  outer,  // on two: the model's top level
};
inline constexpr std::size_t kPaths = 3;

// That of a message which is `untouched`: between nodes it makes no difference.
constexpr Path of_data(Path path, bool untouched) {
  return path == Path::node && untouched ? Path::untouched : path;
}

// "untouched"; "node"; "outer".
std::string_view name_of(Path path);
// "between ranks of one node".
std::string_view meaning_of(Path path);
// Nothing for other names. A machine file has but node as a table.
std::optional<Path> parse_path(std::string_view name);

// From which size on sends may need their receiver in MPI (LogGPS::attended_from): the least of all
// paths.
std::optional<Bytes> attended_from(const MachineModel& model);

// What lies between the ranks of a run.
class RankPaths {
 public:
  // Every rank on a node of its own.
  RankPaths() = default;
  // By rank; those beyond have nodes of their own.
  explicit RankPaths(Placement nodes) : nodes_(std::move(nodes)) {}

  // A rank that is not valid: nobody knows who, so the outer path.
  Path between(WorldRank a, WorldRank b) const {
    return a.valid() && b.valid() && is_together(a, b) ? Path::node : Path::outer;
  }
  // Ranks up to the placement's last alone.
  NodeId node_of(WorldRank rank) const { return nodes_[static_cast<std::size_t>(rank.value)]; }
  // The innermost path that all members share.
  Path within(std::span<const WorldRank> members) const;

 private:
  bool is_together(WorldRank a, WorldRank b) const {
    const auto count = static_cast<std::int32_t>(nodes_.size());
    if (a.value >= count || b.value >= count) return a == b;
    return nodes_[static_cast<std::size_t>(a.value)] == nodes_[static_cast<std::size_t>(b.value)];
  }

  Placement nodes_;
};

// The model as it holds on one path, without paths of its own. On an inner one: its
// functions; a function that it lacks is left to what stands in for it, where it has
// that, else it is the top level's. On that of untouched data: the node's, with the times of such
// data.
MachineModel on_path(const MachineModel& model, Path path);
// Whether it knows what the path changes.
bool knows_path(const MachineModel& model, Path path);
// Whether it knows any but the outer one: then times depend on where ranks are.
inline bool knows_paths(const MachineModel& model) {
  return knows_path(model, Path::node) || knows_path(model, Path::untouched);
}

}  // namespace foretrace::machine
