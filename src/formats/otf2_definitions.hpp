// Otf2Definitions: what the global definitions of an archive say, as far as events of MPI
// refer to it, in our terms: ranks, communicators by world rank, regions that are calls.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/notes.hpp"
#include "formats/otf2_common.hpp"
#include "trace/event.hpp"

namespace foretrace::formats {

struct Otf2Region {
  std::string name;
  bool is_mpi = false;
  bool is_tool = false;  // of the recording tool itself
};

class Otf2Definitions {
 public:
  // Reads all of them; more than `most` there cannot be. Throws Error.
  Otf2Definitions(OTF2_Reader* reader, std::uint64_t most, Missing& missing);

  // The location of each world rank.
  const std::vector<OTF2_LocationRef>& ranks() const { return ranks_; }
  std::uint64_t ticks_per_second() const { return ticks_per_second_; }
  bool is_own() const { return creator_ == "Foretrace"; }
  const std::string& creator() const { return creator_; }
  const std::string& program() const { return program_; }
  ByteCount byte_count() const {
    return is_eztrace() ? ByteCount::arguments : ByteCount::all_partners;
  }

  // Throw Error where nothing has that number.
  const Otf2Region& region(OTF2_RegionRef id) const;
  const std::string& string(OTF2_StringRef id) const;
  // Index into comms().
  std::size_t comm(OTF2_CommRef id, WorldRank user) const;
  const std::vector<trace::Communicator>& comms() const { return comms_; }
  // Throws Error where the communicator has no such rank.
  WorldRank member(std::size_t comm, std::uint32_t local) const;
  // The name of a metric's first value; empty: it is not known.
  std::string metric_name(OTF2_MetricRef id) const;
  std::optional<Attribute> attribute(OTF2_AttributeRef id) const;

 private:
  struct Group {
    OTF2_GroupType type = OTF2_GROUP_TYPE_UNKNOWN;
    OTF2_Paradigm paradigm = OTF2_PARADIGM_UNKNOWN;
    std::vector<std::uint64_t> members;
  };
  struct RegionRow {
    OTF2_StringRef name = 0;
    OTF2_Paradigm paradigm = OTF2_PARADIGM_UNKNOWN;
  };
  struct CommRow {
    OTF2_CommRef id = 0;
    OTF2_StringRef name = 0;
    OTF2_GroupRef group = 0;
  };
  struct LocationRow {
    OTF2_LocationRef id = 0;
    OTF2_LocationType type = OTF2_LOCATION_TYPE_UNKNOWN;
    OTF2_LocationGroupRef group = 0;
  };

  bool is_eztrace() const { return is_eztrace_; }
  void read(OTF2_Reader* reader);
  void find_ranks(Missing& missing);
  void find_regions();
  void find_comms(Missing& missing);
  void add_comm(const CommRow& row, std::uint64_t key, std::vector<WorldRank> members);
  void add_eztrace_comm(const CommRow& row, std::vector<WorldRank> members);
  std::vector<WorldRank> members_of(const Group& group) const;
  std::uint64_t own_key(const CommRow& row) const;

  static OTF2_CallbackCode on_clock(void*, uint64_t, uint64_t, uint64_t, uint64_t);
  static OTF2_CallbackCode on_string(void*, OTF2_StringRef, const char*);
  static OTF2_CallbackCode on_region(void*, OTF2_RegionRef, OTF2_StringRef, OTF2_StringRef,
                                     OTF2_StringRef, OTF2_RegionRole, OTF2_Paradigm,
                                     OTF2_RegionFlag, OTF2_StringRef, uint32_t, uint32_t);
  static OTF2_CallbackCode on_group(void*, OTF2_GroupRef, OTF2_StringRef, OTF2_GroupType,
                                    OTF2_Paradigm, OTF2_GroupFlag, uint32_t, const uint64_t*);
  static OTF2_CallbackCode on_comm(void*, OTF2_CommRef, OTF2_StringRef, OTF2_GroupRef, OTF2_CommRef,
                                   OTF2_CommFlag);
  static OTF2_CallbackCode on_location(void*, OTF2_LocationRef, OTF2_StringRef, OTF2_LocationType,
                                       uint64_t, OTF2_LocationGroupRef);
  static OTF2_CallbackCode on_attribute(void*, OTF2_AttributeRef, OTF2_StringRef, OTF2_StringRef,
                                        OTF2_Type);
  static OTF2_CallbackCode on_metric_member(void*, OTF2_MetricMemberRef, OTF2_StringRef,
                                            OTF2_StringRef, OTF2_MetricType, OTF2_MetricMode,
                                            OTF2_Type, OTF2_Base, int64_t, OTF2_StringRef);
  static OTF2_CallbackCode on_metric_class(void*, OTF2_MetricRef, uint8_t,
                                           const OTF2_MetricMemberRef*, OTF2_MetricOccurrence,
                                           OTF2_RecorderKind);

  OTF2_CallbackCode counted();

  std::uint64_t most_ = 0;
  std::uint64_t count_ = 0;
  std::string creator_;
  std::string program_;
  bool is_eztrace_ = false;
  std::uint64_t ticks_per_second_ = 1;
  std::unordered_map<OTF2_StringRef, std::string> strings_;
  std::unordered_map<OTF2_RegionRef, RegionRow> region_rows_;
  std::vector<std::pair<OTF2_GroupRef, Group>> groups_;
  std::vector<CommRow> comm_rows_;
  std::vector<LocationRow> locations_;
  std::unordered_map<OTF2_AttributeRef, OTF2_StringRef> attribute_names_;
  std::unordered_map<OTF2_MetricMemberRef, OTF2_StringRef> metric_members_;
  std::unordered_map<OTF2_MetricRef, OTF2_MetricMemberRef> metric_classes_;

  std::vector<OTF2_LocationRef> ranks_;
  std::unordered_map<OTF2_RegionRef, Otf2Region> regions_;
  std::vector<trace::Communicator> comms_;
  std::unordered_map<OTF2_CommRef, std::size_t> comm_ids_;
  std::vector<OTF2_CommRef> self_comms_;
  std::unordered_map<OTF2_AttributeRef, Attribute> attributes_;
  // EZTrace: how many communicators of the same members each rank has defined so far, and
  // the agreed number of the n-th.
  std::map<std::pair<std::size_t, std::vector<WorldRank>>, std::size_t> eztrace_counts_;
  std::map<std::pair<std::size_t, std::vector<WorldRank>>, std::size_t> eztrace_comms_;
};

}  // namespace foretrace::formats
