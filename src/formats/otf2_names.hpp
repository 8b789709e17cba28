// Otf2Names: numbers for what the events of an archive refer to, as they are met; written as
// global definitions at the end.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/otf2_common.hpp"
#include "trace/event.hpp"
#include "trace/tell_place.hpp"

namespace foretrace::formats {

class Otf2Names {
 public:
  Otf2Names(int ranks, trace::TellPlace tell) : ranks_(ranks), tell_(std::move(tell)) {}

  OTF2_StringRef string(const std::string& text);
  // A call of MPI, or a phase of the program.
  OTF2_RegionRef region(const std::string& name, bool is_mpi);
  // Of one number.
  OTF2_MetricRef metric(const std::string& name);
  OTF2_CommRef comm(const trace::Communicator& comm);
  // nullopt: nobody knows it.
  std::optional<OTF2_SourceCodeLocationRef> place(const trace::Site& site);
  // nullopt: not a member.
  std::optional<std::uint32_t> local_rank(OTF2_CommRef comm, WorldRank rank) const;

  // An event tells what it combines.
  void tell_reductions() { reductions_ = true; }
  void tell_pieces() { pieces_ = true; }
  void tell_joins() { joins_ = true; }
  // All but the clock. `events`: of each rank.
  void write(OTF2_GlobalDefWriter* writer, std::span<const std::uint64_t> events);

 private:
  struct Region {
    OTF2_StringRef name = 0;
    bool is_mpi = false;
    std::string text;
  };
  struct Comm {
    OTF2_StringRef name = 0;
    std::vector<WorldRank> members;
    bool is_world = false;  // local ranks are world ranks
    std::unordered_map<std::int32_t, std::uint32_t> local;
  };

  void write_locations(OTF2_GlobalDefWriter* writer, std::span<const std::uint64_t> events);
  void write_comms(OTF2_GlobalDefWriter* writer);
  void write_strings(OTF2_GlobalDefWriter* writer);

  // Archives of runs without these stay as they were before there were the attributes.
  int attributes() const {
    return static_cast<int>(joins_        ? Attribute::kCount
                            : pieces_     ? Attribute::join
                            : reductions_ ? Attribute::pieces
                                          : Attribute::reduction);
  }

  int ranks_;
  bool reductions_ = false;
  bool pieces_ = false;
  bool joins_ = false;
  trace::TellPlace tell_;
  std::vector<std::string> strings_;
  std::unordered_map<std::string, OTF2_StringRef> string_ids_;
  std::vector<Region> regions_;
  std::map<std::pair<std::string, bool>, OTF2_RegionRef> region_ids_;
  std::vector<OTF2_StringRef> metrics_;
  std::map<std::string, OTF2_MetricRef> metric_ids_;
  std::vector<Comm> comms_;
  std::map<std::pair<std::uint64_t, std::vector<WorldRank>>, OTF2_CommRef> comm_ids_;
  std::vector<std::pair<OTF2_StringRef, std::uint32_t>> places_;
  std::map<std::pair<std::string, std::uint64_t>, std::optional<OTF2_SourceCodeLocationRef>>
      place_ids_;
};

}  // namespace foretrace::formats
