// What the writer and the reader of OTF2 archives agree on: which of our collectives is which
// of OTF2's and how many bytes it says that it moves; and the attributes that hold what OTF2
// has no record for.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/ids.hpp"
#include "machine/timing.hpp"

namespace foretrace::formats {

// Names of the archive's properties.
inline constexpr const char* kInfoProperty = "FORETRACE::INFO";      // as in a trace's info block
inline constexpr const char* kSealedProperty = "FORETRACE::SEALED";  // "yes", "no"

// Beside an Enter (or a Leave of a phase, or a metric), where they are not as usual.
enum class Attribute : std::uint8_t {
  compute,      // CPU time since the previous event, ps, if it is not all of the gap
  wait,         // ps
  steps,        // annotated compute steps
  object,       // call site: executable or library ...
  offset,       // ... and the offset in it
  place,        // call site: file and line
  kind,         // trace::EventKind
  mode,         // machine::SendMode
  wildcards,    // 1: any source, 2: any tag
  posted_peer,  // irecv, probe: world rank, tag, size of the buffer
  posted_tag,
  posted_bytes,
  taken,  // request of the probe that took the message
  request,
  cost,  // machine::Cost
  bytes,
  comm,
  peer,
  root,  // local rank
  count,
  code,
  one_sided,
  reduction,  // machine::Reduction; defined where it is used alone
  pieces,     // trace::Endpoint::piece, the receive's in the upper half; so, too
  join,       // trace::Join: twice `back`, and 1 if `entered`; so, too, as are
  join_after,
  join_held,
  join_after_steps,  // where they are known
  join_held_steps,
  second,  // another
  second_after,
  second_after_steps,
  kCount
};

struct AttributeRow {
  const char* name;
  const char* description;
  OTF2_Type type;
};
const AttributeRow& row_of(Attribute attribute);
// What one of those from `join` on says of it.
void take_join(trace::Join& join, Attribute attribute, const OTF2_AttributeValue& value);

// nullopt: OTF2 has no such collective.
std::optional<OTF2_CollectiveOp> op_of(machine::Cost cost);
// nullopt: it is none that moves data between ranks, or not known. `name`: of the region.
std::optional<machine::Cost> cost_of(OTF2_CollectiveOp op, std::string_view name);

// Where a rank stands in a collective.
struct CollectivePlace {
  std::uint64_t ranks = 1;  // of the communicator
  std::uint64_t rank = 0;
  bool is_root = false;
};

struct MovedBytes {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

// Who wrote the bytes of a collective: Score-P (and we) count what goes to and comes from
// every rank, oneself included; EZTrace what the call's arguments say.
enum class ByteCount : std::uint8_t { all_partners, arguments };

// Score-P's rule (scorep_mpi_coll_bytes_*, not in place) for a size d of the collective's
// equation; and back. Where the program worked in place, Score-P counts one rank less: told
// by a size that is no multiple of the number of ranks.
MovedBytes moved_bytes(machine::Cost cost, const CollectivePlace& place, Bytes d);
Bytes equation_bytes(machine::Cost cost, const CollectivePlace& place, const MovedBytes& moved,
                     ByteCount count);

}  // namespace foretrace::formats
