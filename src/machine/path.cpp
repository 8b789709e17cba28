#include "machine/path.hpp"

#include <algorithm>
#include <string>

#include "machine/loggps.hpp"
#include "machine/machine_model.hpp"
#include "mpi_api/stand_ins.hpp"

namespace foretrace::machine {
namespace {

constexpr std::array<std::string_view, kPaths> kPathNames{"untouched", "node", "outer"};

// Whether `functions` has something that stands in for `name`.
bool has_stand_in(const Functions& functions, std::string name) {
  while (true) {
    name = mpi_api::stand_in_for(mpi_api::StandInKind::charged, name);
    if (name.empty()) return false;
    if (functions.contains(name)) return true;
  }
}

}  // namespace

std::string_view name_of(Path path) {
  return kPathNames[static_cast<std::size_t>(path)];
}

std::string_view meaning_of(Path path) {
  constexpr std::array<std::string_view, kPaths> kMeanings{
      "between ranks of one node, data that nobody has written since it was sent last",
      "between ranks of one node", "between ranks of two nodes"};
  return kMeanings[static_cast<std::size_t>(path)];
}

std::optional<Path> parse_path(std::string_view name) {
  const auto found = std::ranges::find(kPathNames, name);
  if (found == kPathNames.end()) return std::nullopt;
  return static_cast<Path>(found - kPathNames.begin());
}

Path RankPaths::within(std::span<const WorldRank> members) const {
  Path path = Path::node;
  for (const WorldRank member : members) path = std::max(path, between(members.front(), member));
  return path;
}

bool knows_path(const MachineModel& model, Path path) {
  if (path != Path::untouched) return path == Path::outer || model.paths.contains(path);
  const auto node = model.paths.find(Path::node);
  const Functions& functions = node == model.paths.end() ? model.functions : node->second.functions;
  return std::ranges::any_of(functions,
                             [](const auto& entry) { return !entry.second.untouched.empty(); });
}

MachineModel on_path(const MachineModel& model, Path path) {
  if (path == Path::untouched) {
    MachineModel flat = on_path(model, Path::node);
    for (auto& [name, function] : flat.functions) function.of_untouched = true;
    return flat;
  }
  MachineModel flat = model;
  flat.paths.clear();
  const auto found = model.paths.find(path);
  if (found == model.paths.end()) return flat;
  const PathModel& own = found->second;
  std::erase_if(flat.functions,
                [&](const auto& entry) { return has_stand_in(own.functions, entry.first); });
  // What follows from gap holds for all messages of the path, or for none.
  if (!own.functions.empty()) flat.functions.erase("gap");
  for (const auto& [name, function] : own.functions) flat.functions[name] = function;
  // What the equations say of it goes before what holds elsewhere; S and P are in no equation.
  LogGPS under = model.loggps;
  if (!own.functions.empty()) {
    under = {};
    under.sync_threshold = model.loggps.sync_threshold;
    under.attended_from = model.loggps.attended_from;
  }
  flat.loggps = merge(under, own.loggps);
  if (!own.loggps_regimes.empty()) flat.loggps_regimes = own.loggps_regimes;
  if (own.hop) flat.hop = own.hop;
  if (!own.rewrite.empty()) flat.rewrite = own.rewrite;
  if (!own.pieces.empty()) flat.pieces = own.pieces;
  return flat;
}

std::optional<Bytes> attended_from(const MachineModel& model) {
  std::optional<Bytes> least = model.loggps.attended_from;
  for (const auto& [path, own] : model.paths)
    if (const auto& from = own.loggps.attended_from; from && (!least || *from < *least))
      least = from;
  return least;
}

}  // namespace foretrace::machine
