#include "formats/otf2_definitions.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <numeric>

#include "base/error.hpp"
#include "formats/otf2_archive.hpp"

namespace foretrace::formats {

namespace {

// Beyond all that a program makes: MPI_COMM_SELF of each rank.
constexpr std::uint64_t kSelfKey = std::uint64_t{1} << 62;

template <class Text>
std::string taken(Text* text) {
  std::string copy = text ? text : "";
  std::free(text);
  return copy;
}

}  // namespace

#define FORETRACE_SELF static_cast<Otf2Definitions*>(data)

OTF2_CallbackCode Otf2Definitions::on_clock(void* data, uint64_t ticks, uint64_t, uint64_t,
                                            uint64_t) {
  FORETRACE_SELF->ticks_per_second_ = ticks;
  return FORETRACE_SELF->counted();
}
OTF2_CallbackCode Otf2Definitions::on_string(void* data, OTF2_StringRef id, const char* text) {
  FORETRACE_SELF->strings_[id] = text ? text : "";
  return FORETRACE_SELF->counted();
}
OTF2_CallbackCode Otf2Definitions::on_region(void* data, OTF2_RegionRef id, OTF2_StringRef name,
                                             OTF2_StringRef, OTF2_StringRef, OTF2_RegionRole,
                                             OTF2_Paradigm paradigm, OTF2_RegionFlag,
                                             OTF2_StringRef, uint32_t, uint32_t) {
  FORETRACE_SELF->region_rows_[id] = {name, paradigm};
  return FORETRACE_SELF->counted();
}
OTF2_CallbackCode Otf2Definitions::on_group(void* data, OTF2_GroupRef id, OTF2_StringRef,
                                            OTF2_GroupType type, OTF2_Paradigm paradigm,
                                            OTF2_GroupFlag, uint32_t count,
                                            const uint64_t* members) {
  Group group{type, paradigm, {}};
  if (members) group.members.assign(members, members + count);
  FORETRACE_SELF->groups_.emplace_back(id, std::move(group));
  return FORETRACE_SELF->counted();
}
OTF2_CallbackCode Otf2Definitions::on_comm(void* data, OTF2_CommRef id, OTF2_StringRef name,
                                           OTF2_GroupRef group, OTF2_CommRef, OTF2_CommFlag) {
  FORETRACE_SELF->comm_rows_.push_back({id, name, group});
  return FORETRACE_SELF->counted();
}
OTF2_CallbackCode Otf2Definitions::on_location(void* data, OTF2_LocationRef id, OTF2_StringRef,
                                               OTF2_LocationType type, uint64_t,
                                               OTF2_LocationGroupRef group) {
  FORETRACE_SELF->locations_.push_back({id, type, group});
  return FORETRACE_SELF->counted();
}
OTF2_CallbackCode Otf2Definitions::on_attribute(void* data, OTF2_AttributeRef id,
                                                OTF2_StringRef name, OTF2_StringRef, OTF2_Type) {
  FORETRACE_SELF->attribute_names_[id] = name;
  return FORETRACE_SELF->counted();
}
OTF2_CallbackCode Otf2Definitions::on_metric_member(void* data, OTF2_MetricMemberRef id,
                                                    OTF2_StringRef name, OTF2_StringRef,
                                                    OTF2_MetricType, OTF2_MetricMode, OTF2_Type,
                                                    OTF2_Base, int64_t, OTF2_StringRef) {
  FORETRACE_SELF->metric_members_[id] = name;
  return FORETRACE_SELF->counted();
}
OTF2_CallbackCode Otf2Definitions::on_metric_class(void* data, OTF2_MetricRef id, uint8_t count,
                                                   const OTF2_MetricMemberRef* members,
                                                   OTF2_MetricOccurrence, OTF2_RecorderKind) {
  if (count > 0) FORETRACE_SELF->metric_classes_[id] = members[0];
  return FORETRACE_SELF->counted();
}

#undef FORETRACE_SELF

// In a damaged file the library may go round in circles: there are no more records than bytes.
OTF2_CallbackCode Otf2Definitions::counted() {
  return ++count_ > most_ ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

Otf2Definitions::Otf2Definitions(OTF2_Reader* reader, std::uint64_t most, Missing& missing)
    : most_(most) {
  char* text = nullptr;
  if (OTF2_Reader_GetCreator(reader, &text) == OTF2_SUCCESS) creator_ = taken(text);
  text = nullptr;
  if (OTF2_Reader_GetDescription(reader, &text) == OTF2_SUCCESS) program_ = taken(text);
  read(reader);
  find_ranks(missing);
  find_regions();
  find_comms(missing);
  for (const auto& [id, name] : attribute_names_)
    for (int i = 0; i < static_cast<int>(Attribute::kCount); ++i)
      if (is_own() && string(name) == row_of(static_cast<Attribute>(i)).name)
        attributes_[id] = static_cast<Attribute>(i);
}

void Otf2Definitions::read(OTF2_Reader* reader) {
  OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
  if (!definitions) throw Error("OTF2: " + Otf2ErrorCatcher::take_words());
  OTF2_GlobalDefReaderCallbacks* callbacks = OTF2_GlobalDefReaderCallbacks_New();
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock);
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_string);
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, on_region);
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, on_group);
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, on_comm);
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(callbacks, on_attribute);
  OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(callbacks, on_metric_member);
  OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(callbacks, on_metric_class);
  const OTF2_ErrorCode registered =
      OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, this);
  OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
  check(registered);
  std::uint64_t count = 0;
  const OTF2_ErrorCode code = OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &count);
  if (count_ > most_) throw Error("the global definitions are damaged: they do not end");
  check(code);
  if (ticks_per_second_ == 0) throw Error("expected a clock of some ticks per second, found 0");
  is_eztrace_ = std::ranges::any_of(region_rows_, [this](const auto& row) {
    return string(row.second.name) == "EZTrace finalize";
  });
}

// Rank r is the r-th location of MPI; where nobody says so, the first of each process.
void Otf2Definitions::find_ranks(Missing& missing) {
  for (const auto& [id, group] : groups_)
    if (group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS && group.paradigm == OTF2_PARADIGM_MPI)
      ranks_ = group.members;
  if (ranks_.empty()) {
    std::vector<OTF2_LocationGroupRef> seen;
    for (const LocationRow& row : locations_) {
      if (row.type != OTF2_LOCATION_TYPE_CPU_THREAD ||
          std::ranges::find(seen, row.group) != seen.end())
        continue;
      seen.push_back(row.group);
      ranks_.push_back(row.id);
    }
    missing.add("which location is which rank of MPI; taken in the archive's order");
  }
  std::uint64_t others = 0;
  for (const LocationRow& row : locations_)
    if (row.type == OTF2_LOCATION_TYPE_CPU_THREAD &&
        std::ranges::find(ranks_, row.id) == ranks_.end())
      ++others;
  if (others > 0) missing.add("a thread beside the rank's first; its events are left out", others);
  for (const OTF2_LocationRef rank : ranks_)
    if (std::ranges::find(locations_, rank, &LocationRow::id) == locations_.end())
      throw Error("expected a definition of location " + std::to_string(rank) + ", found none");
  if (ranks_.empty()) throw Error("expected the locations of MPI's ranks, found none");
}

void Otf2Definitions::find_regions() {
  for (const auto& [id, row] : region_rows_) {
    Otf2Region region;
    region.name = string(row.name).substr(0, 4096);
    region.is_mpi =
        row.paradigm == OTF2_PARADIGM_MPI || (!is_own() && region.name.starts_with("MPI_"));
    region.is_tool = is_eztrace_ && (region.name == "Working" || region.name == "EZTrace finalize");
    regions_.emplace(id, std::move(region));
  }
}

std::vector<WorldRank> Otf2Definitions::members_of(const Group& group) const {
  std::vector<WorldRank> members;
  members.reserve(group.members.size());
  for (const std::uint64_t member : group.members) {
    if (member >= ranks_.size())
      throw Error("expected a communicator of ranks below " + std::to_string(ranks_.size()) +
                  ", found rank " + std::to_string(member));
    members.push_back(WorldRank(static_cast<std::int32_t>(member)));
  }
  return members;
}

// The key of a communicator that we named ("Comm 4294967296").
std::uint64_t Otf2Definitions::own_key(const CommRow& row) const {
  const std::string& name = string(row.name);
  constexpr std::string_view kStart = "Comm ";
  std::uint64_t key = 0;
  if (name.starts_with(kStart))
    std::from_chars(name.data() + kStart.size(), name.data() + name.size(), key);
  return key;
}

void Otf2Definitions::add_comm(const CommRow& row, std::uint64_t key,
                               std::vector<WorldRank> members) {
  comm_ids_[row.id] = comms_.size();
  comms_.push_back({key, std::move(members)});
}

// EZTrace numbers communicators on each rank alone. So the n-th of the same members that a
// rank has made is that which the others have made as their n-th. Rank 0 has the world twice.
void Otf2Definitions::add_eztrace_comm(const CommRow& row, std::vector<WorldRank> members) {
  const auto next = std::ranges::upper_bound(ranks_, row.id);
  const auto owner =
      static_cast<std::size_t>(next - ranks_.begin()) - (next == ranks_.begin() ? 0 : 1);
  if (row.id == 1 && members == comms_[0].members) {
    comm_ids_[row.id] = 0;
    return;
  }
  const std::size_t ordinal = eztrace_counts_[{owner, members}]++;
  const auto [found, added] = eztrace_comms_.try_emplace({ordinal, members}, comms_.size());
  comm_ids_[row.id] = found->second;
  if (added) comms_.push_back({comms_.size(), std::move(members)});
}

void Otf2Definitions::find_comms(Missing& missing) {
  std::vector<WorldRank> world;
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    world.push_back(WorldRank(static_cast<std::int32_t>(r)));
  comms_.push_back({0, world});
  std::ranges::sort(comm_rows_, {}, &CommRow::id);
  bool world_found = false;
  for (const CommRow& row : comm_rows_) {
    // EZTrace uses the number of the world's locations for its members, too: the last counts.
    const auto group = std::find_if(groups_.rbegin(), groups_.rend(),
                                    [&](const auto& entry) { return entry.first == row.group; });
    if (group == groups_.rend())
      throw Error("expected group " + std::to_string(row.group) + " to be defined, found none");
    if (group->second.type == OTF2_GROUP_TYPE_COMM_SELF) {
      self_comms_.push_back(row.id);
      continue;
    }
    if (group->second.type != OTF2_GROUP_TYPE_COMM_GROUP ||
        group->second.paradigm != OTF2_PARADIGM_MPI)
      continue;
    std::vector<WorldRank> members = members_of(group->second);
    const bool is_world =
        members == world &&
        (is_own() ? own_key(row) == 0 : string(row.name) == "MPI_COMM_WORLD" || !world_found);
    if (is_world && (!world_found || string(row.name) == "MPI_COMM_WORLD")) {
      world_found = true;
      comm_ids_[row.id] = 0;
    } else if (is_own()) {
      add_comm(row, own_key(row), std::move(members));
    } else if (is_eztrace_) {
      add_eztrace_comm(row, std::move(members));
    } else {
      add_comm(row, std::uint64_t{row.id} + 1, std::move(members));
    }
  }
  if (!world_found && !is_own()) missing.add("a definition of MPI_COMM_WORLD");
  for (std::size_t r = 0; !self_comms_.empty() && r < ranks_.size(); ++r)
    comms_.push_back({kSelfKey + r, {world[r]}});
}

const std::string& Otf2Definitions::string(OTF2_StringRef id) const {
  static const std::string empty;
  const auto found = strings_.find(id);
  return found == strings_.end() ? empty : found->second;
}

const Otf2Region& Otf2Definitions::region(OTF2_RegionRef id) const {
  const auto found = regions_.find(id);
  if (found == regions_.end())
    throw Error("expected region " + std::to_string(id) + " to be defined, found none");
  return found->second;
}

std::size_t Otf2Definitions::comm(OTF2_CommRef id, WorldRank user) const {
  const auto found = comm_ids_.find(id);
  if (found != comm_ids_.end()) return found->second;
  if (std::ranges::find(self_comms_, id) != self_comms_.end())
    return comms_.size() - ranks_.size() + static_cast<std::size_t>(user.value);
  throw Error("expected communicator " + std::to_string(id) + " to be defined, found none");
}

WorldRank Otf2Definitions::member(std::size_t comm, std::uint32_t local) const {
  const auto& members = comms_[comm].members;
  if (local >= members.size())
    throw Error("expected a rank of a communicator of " + std::to_string(members.size()) +
                ", found " + std::to_string(local));
  return members[local];
}

std::string Otf2Definitions::metric_name(OTF2_MetricRef id) const {
  const auto found = metric_classes_.find(id);
  if (found == metric_classes_.end()) return {};
  const auto member = metric_members_.find(found->second);
  return member == metric_members_.end() ? std::string() : string(member->second);
}

std::optional<Attribute> Otf2Definitions::attribute(OTF2_AttributeRef id) const {
  const auto found = attributes_.find(id);
  if (found == attributes_.end()) return std::nullopt;
  return found->second;
}

}  // namespace foretrace::formats
