#include "formats/otf2_names.hpp"

#include <algorithm>
#include <charconv>

#include "formats/otf2_archive.hpp"
#include "formats/otf2_common.hpp"

namespace foretrace::formats {

namespace {

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts,
                             [&](std::string_view start) { return name.starts_with(start); });
}

OTF2_RegionRole role_of(std::string_view name, bool is_mpi) {
  if (!is_mpi) return OTF2_REGION_ROLE_CODE;
  if (!name.starts_with("MPI_")) return OTF2_REGION_ROLE_FUNCTION;
  name.remove_prefix(4);
  if (starts_with_any(name, {"Barrier", "Ibarrier"})) return OTF2_REGION_ROLE_BARRIER;
  if (starts_with_any(name, {"Bcast", "Ibcast", "Scatter", "Iscatter"}))
    return OTF2_REGION_ROLE_COLL_ONE2ALL;
  if (starts_with_any(name, {"Gather", "Igather", "Reduce_local", "Reduce_scatter"}))
    return name.starts_with("Reduce_scatter") ? OTF2_REGION_ROLE_COLL_ALL2ALL
                                              : OTF2_REGION_ROLE_COLL_ALL2ONE;
  if (starts_with_any(name, {"Reduce", "Ireduce"})) return OTF2_REGION_ROLE_COLL_ALL2ONE;
  if (starts_with_any(name, {"All", "Iall", "Neighbor", "Ineighbor"}))
    return OTF2_REGION_ROLE_COLL_ALL2ALL;
  if (starts_with_any(name, {"Scan", "Exscan", "Iscan", "Iexscan"}))
    return OTF2_REGION_ROLE_COLL_OTHER;
  if (starts_with_any(name, {"File"})) return OTF2_REGION_ROLE_FILE_IO;
  if (starts_with_any(name, {"Win", "Put", "Get", "Accumulate", "Rput", "Rget"}))
    return OTF2_REGION_ROLE_RMA;
  if (starts_with_any(name, {"Send", "Recv", "Isend", "Irecv", "Ssend", "Bsend", "Rsend", "Issend",
                             "Ibsend", "Irsend", "Wait", "Test", "Start", "Probe", "Iprobe",
                             "Mprobe", "Improbe", "Mrecv", "Imrecv"}))
    return OTF2_REGION_ROLE_POINT2POINT;
  return OTF2_REGION_ROLE_FUNCTION;
}

}  // namespace

OTF2_StringRef Otf2Names::string(const std::string& text) {
  const auto [found, added] =
      string_ids_.try_emplace(text, static_cast<OTF2_StringRef>(strings_.size()));
  if (added) strings_.push_back(text);
  return found->second;
}

OTF2_RegionRef Otf2Names::region(const std::string& name, bool is_mpi) {
  const auto [found, added] =
      region_ids_.try_emplace({name, is_mpi}, static_cast<OTF2_RegionRef>(regions_.size()));
  if (added) regions_.push_back({string(name), is_mpi, name});
  return found->second;
}

OTF2_MetricRef Otf2Names::metric(const std::string& name) {
  const auto [found, added] =
      metric_ids_.try_emplace(name, static_cast<OTF2_MetricRef>(metrics_.size()));
  if (added) metrics_.push_back(string(name));
  return found->second;
}

OTF2_CommRef Otf2Names::comm(const trace::Communicator& comm) {
  const auto [found, added] =
      comm_ids_.try_emplace({comm.key, comm.members}, static_cast<OTF2_CommRef>(comms_.size()));
  if (!added) return found->second;
  Comm entry;
  entry.name = string(comm.key == 0 ? "MPI_COMM_WORLD" : "Comm " + std::to_string(comm.key));
  entry.members = comm.members;
  entry.is_world = true;
  for (std::size_t i = 0; i < comm.members.size(); ++i)
    if (comm.members[i].value != static_cast<std::int32_t>(i)) entry.is_world = false;
  if (!entry.is_world)
    for (std::size_t i = 0; i < comm.members.size(); ++i)
      entry.local.emplace(comm.members[i].value, static_cast<std::uint32_t>(i));
  comms_.push_back(std::move(entry));
  return found->second;
}

std::optional<std::uint32_t> Otf2Names::local_rank(OTF2_CommRef comm, WorldRank rank) const {
  const Comm& entry = comms_[comm];
  if (!rank.valid()) return std::nullopt;
  if (entry.is_world) {
    if (static_cast<std::size_t>(rank.value) >= entry.members.size()) return std::nullopt;
    return static_cast<std::uint32_t>(rank.value);
  }
  const auto found = entry.local.find(rank.value);
  if (found == entry.local.end()) return std::nullopt;
  return found->second;
}

std::optional<OTF2_SourceCodeLocationRef> Otf2Names::place(const trace::Site& site) {
  const auto [found, added] = place_ids_.try_emplace({site.object, site.offset});
  if (!added || !tell_) return found->second;
  const std::string text = tell_(site);
  const std::size_t colon = text.rfind(':');
  std::uint32_t line = 0;
  if (colon == text.npos) return found->second;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, line);
  if (parsed.ec != std::errc() || parsed.ptr != end) return found->second;
  found->second = static_cast<OTF2_SourceCodeLocationRef>(places_.size());
  places_.emplace_back(string(text.substr(0, colon)), line);
  return found->second;
}

void Otf2Names::write_locations(OTF2_GlobalDefWriter* writer,
                                std::span<const std::uint64_t> events) {
  const OTF2_StringRef machine = string("machine");
  check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, machine, machine,
                                                 OTF2_UNDEFINED_SYSTEM_TREE_NODE));
  const OTF2_StringRef thread = string("Master thread");
  for (int r = 0; r < ranks_; ++r) {
    const auto id = static_cast<std::uint32_t>(r);
    check(OTF2_GlobalDefWriter_WriteLocationGroup(
        writer, id, string("MPI Rank " + std::to_string(r)), OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
        OTF2_UNDEFINED_LOCATION_GROUP));
    check(OTF2_GlobalDefWriter_WriteLocation(writer, id, thread, OTF2_LOCATION_TYPE_CPU_THREAD,
                                             events[id], id));
  }
}

void Otf2Names::write_comms(OTF2_GlobalDefWriter* writer) {
  std::vector<std::uint64_t> members(static_cast<std::size_t>(ranks_));
  for (std::size_t i = 0; i < members.size(); ++i) members[i] = i;
  const OTF2_StringRef mpi = string("MPI");
  check(OTF2_GlobalDefWriter_WriteGroup(
      writer, 0, mpi, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
      static_cast<std::uint32_t>(members.size()), members.data()));
  for (std::size_t i = 0; i < comms_.size(); ++i) {
    const Comm& comm = comms_[i];
    const auto id = static_cast<std::uint32_t>(i);
    members.clear();
    for (const WorldRank member : comm.members)
      members.push_back(static_cast<std::uint64_t>(member.value));
    check(OTF2_GlobalDefWriter_WriteGroup(
        writer, id + 1, comm.name, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
        OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(members.size()), members.data()));
    check(OTF2_GlobalDefWriter_WriteComm(writer, id, comm.name, id + 1, OTF2_UNDEFINED_COMM,
                                         OTF2_COMM_FLAG_NONE));
  }
}

void Otf2Names::write_strings(OTF2_GlobalDefWriter* writer) {
  for (std::size_t i = 0; i < strings_.size(); ++i)
    check(OTF2_GlobalDefWriter_WriteString(writer, static_cast<OTF2_StringRef>(i),
                                           strings_[i].c_str()));
}

void Otf2Names::write(OTF2_GlobalDefWriter* writer, std::span<const std::uint64_t> events) {
  // What is referred to comes first: so the strings of all that follows.
  const OTF2_StringRef empty = string("");
  string("MPI");
  string("machine");
  string("Master thread");
  for (int r = 0; r < ranks_; ++r) string("MPI Rank " + std::to_string(r));
  for (int i = 0; i < attributes(); ++i) {
    string(row_of(static_cast<Attribute>(i)).name);
    string(row_of(static_cast<Attribute>(i)).description);
  }
  write_strings(writer);
  check(OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_MPI, string("MPI"),
                                           OTF2_PARADIGM_CLASS_PROCESS));
  write_locations(writer, events);
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const Region& region = regions_[i];
    check(OTF2_GlobalDefWriter_WriteRegion(writer, static_cast<OTF2_RegionRef>(i), region.name,
                                           region.name, empty, role_of(region.text, region.is_mpi),
                                           region.is_mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER,
                                           OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0));
  }
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const auto id = static_cast<std::uint32_t>(i);
    check(OTF2_GlobalDefWriter_WriteMetricMember(writer, id, metrics_[i], empty,
                                                 OTF2_METRIC_TYPE_USER, OTF2_METRIC_ABSOLUTE_POINT,
                                                 OTF2_TYPE_DOUBLE, OTF2_BASE_DECIMAL, 0, empty));
    check(OTF2_GlobalDefWriter_WriteMetricClass(writer, id, 1, &id, OTF2_METRIC_ASYNCHRONOUS,
                                                OTF2_RECORDER_KIND_CPU));
  }
  for (int i = 0; i < attributes(); ++i) {
    const AttributeRow& row = row_of(static_cast<Attribute>(i));
    check(OTF2_GlobalDefWriter_WriteAttribute(writer, static_cast<OTF2_AttributeRef>(i),
                                              string(row.name), string(row.description), row.type));
  }
  for (std::size_t i = 0; i < places_.size(); ++i)
    check(OTF2_GlobalDefWriter_WriteSourceCodeLocation(
        writer, static_cast<OTF2_SourceCodeLocationRef>(i), places_[i].first, places_[i].second));
  write_comms(writer);
}

}  // namespace foretrace::formats
