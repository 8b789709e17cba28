// OTF2 in: the archives of Score-P, TAU, EZTrace, and our own. One location after another.
#include <otf2/otf2.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "formats/formats.hpp"
#include "formats/otf2_archive.hpp"
#include "formats/otf2_common.hpp"
#include "formats/otf2_definitions.hpp"
#include "formats/rank_events.hpp"
#include "trace/damage.hpp"
#include "trace/new_trace.hpp"
#include "trace/seal.hpp"

namespace foretrace::formats {
namespace {

using machine::Cost;

// What no reader gets beyond, in both directions: half of what a Time holds.
constexpr std::int64_t kLatest = INT64_MAX / 4;

// Ticks to picoseconds since the run began, rounded down.
class Clock {
 public:
  Clock(std::uint64_t ticks_per_second, std::uint64_t origin)
      : ticks_per_second_(ticks_per_second), origin_(origin) {}

  Time time(OTF2_TimeStamp ticks) const {
    const std::uint64_t since = ticks < origin_ ? 0 : ticks - origin_;
    const auto ps = static_cast<unsigned __int128>(since) * 1'000'000'000'000u / ticks_per_second_;
    if (ps > static_cast<unsigned __int128>(kLatest))
      throw Error("expected a time of at most 2.3e6 s since the run began, found more");
    return Time::ps(static_cast<std::int64_t>(ps));
  }

 private:
  std::uint64_t ticks_per_second_;
  std::uint64_t origin_;
};

// One rank's records, as the library hands them out, to RankEvents.
class LocationReader {
 public:
  LocationReader(const Otf2Definitions& definitions, const Clock& clock, WorldRank rank,
                 RankEvents& to, Missing& missing)
      : definitions_(definitions), clock_(clock), rank_(rank), to_(to), missing_(missing) {}

  // More than `most` records there cannot be. Throws Error with the record's number.
  void read(OTF2_Reader* reader, OTF2_LocationRef location, std::uint64_t most);

 private:
  using Self = LocationReader;

  // Exceptions must not cross the library: they wait until it has returned.
  template <class Work>
  static OTF2_CallbackCode guarded(void* data, OTF2_TimeStamp time, std::uint64_t position,
                                   Work&& work) {
    Self& self = *static_cast<Self*>(data);
    try {
      self.position_ = position;
      // In a damaged file the library may go round in circles.
      if (++self.count_ > self.most_) throw Error("the archive is damaged: its events do not end");
      self.last_ = self.clock_.time(time);
      work(self, self.last_);
      return OTF2_CALLBACK_SUCCESS;
    } catch (const Error& error) {
      self.error_ = error.what();
      return OTF2_CALLBACK_INTERRUPT;
    }
  }
  static std::unique_ptr<OTF2_EvtReaderCallbacks, void (*)(OTF2_EvtReaderCallbacks*)> callbacks();
  static void set_messages(OTF2_EvtReaderCallbacks* callbacks);
  static void set_requests(OTF2_EvtReaderCallbacks* callbacks);
  static void set_collectives(OTF2_EvtReaderCallbacks* callbacks);

  CallHints hints(OTF2_AttributeList* list) const;
  void take_attribute(CallHints& hints, Attribute attribute,
                      const OTF2_AttributeValue& value) const;
  ForeignMessage message(OTF2_CommRef comm, std::uint32_t peer, std::uint32_t tag,
                         std::uint64_t bytes) const;
  std::optional<ForeignCollective> collective(OTF2_CollectiveOp op, OTF2_CommRef comm,
                                              std::uint32_t root, std::uint64_t sent,
                                              std::uint64_t received) const;
  void enter(Time time, const Otf2Region& region, OTF2_AttributeList* list);
  void leave(Time time, const Otf2Region& region, OTF2_AttributeList* list);

  const Otf2Definitions& definitions_;
  const Clock& clock_;
  WorldRank rank_;
  RankEvents& to_;
  Missing& missing_;
  std::string region_;  // entered last
  std::optional<Cost> cost_;
  Time last_;
  std::uint64_t position_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t most_ = 0;  // so many records there are at most
  std::string error_;
};

void LocationReader::take_attribute(CallHints& hints, Attribute attribute,
                                    const OTF2_AttributeValue& value) const {
  const auto time = [&value] {
    return Time::ps(std::min(static_cast<std::int64_t>(value.uint64), kLatest));
  };
  switch (attribute) {
    case Attribute::compute:
      hints.compute = time();
      break;
    case Attribute::wait:
      hints.wait = time();
      break;
    case Attribute::steps:
      hints.steps = value.float64;
      break;
    case Attribute::object:
      if (!hints.site) hints.site.emplace();
      hints.site->object = definitions_.string(value.stringRef);
      break;
    case Attribute::offset:
      if (!hints.site) hints.site.emplace();
      hints.site->offset = value.uint64;
      break;
    case Attribute::kind:
      if (value.uint8 == 0 || value.uint8 > static_cast<int>(trace::EventKind::probe))
        throw Error("expected a kind of event, found " + std::to_string(value.uint8));
      hints.kind = static_cast<trace::EventKind>(value.uint8);
      break;
    case Attribute::mode:
      if (value.uint8 > 3) throw Error("expected a mode, found " + std::to_string(value.uint8));
      hints.mode = static_cast<machine::SendMode>(value.uint8);
      break;
    case Attribute::wildcards:
      hints.any_source = (value.uint8 & 1) != 0;
      hints.any_tag = (value.uint8 & 2) != 0;
      hints.untouched = (value.uint8 & 4) != 0;
      break;
    case Attribute::posted_peer:
      if (!hints.posted) hints.posted.emplace();
      if (value.int32 < 0 || static_cast<std::size_t>(value.int32) >= definitions_.ranks().size())
        throw Error("expected a rank, found " + std::to_string(value.int32));
      hints.posted->peer = WorldRank(value.int32);
      break;
    case Attribute::posted_tag:
      if (!hints.posted) hints.posted.emplace();
      hints.posted->tag = value.int32;
      break;
    case Attribute::posted_bytes:
      if (!hints.posted) hints.posted.emplace();
      hints.posted->bytes = Bytes(value.uint64);
      break;
    case Attribute::taken:
      hints.taken = value.uint64;
      break;
    case Attribute::request:
      hints.request = value.uint64;
      break;
    case Attribute::cost:
      if (!machine::is_collective(static_cast<Cost>(value.uint8)))
        throw Error("expected a collective, found " + std::to_string(value.uint8));
      hints.cost = static_cast<Cost>(value.uint8);
      break;
    case Attribute::bytes:
      hints.bytes = Bytes(value.uint64);
      break;
    case Attribute::comm:
      hints.comm = definitions_.comm(value.commRef, rank_);
      break;
    case Attribute::peer:
      if (value.int32 < 0 || static_cast<std::size_t>(value.int32) >= definitions_.ranks().size())
        throw Error("expected a rank, found " + std::to_string(value.int32));
      hints.peer = WorldRank(value.int32);
      break;
    case Attribute::root:
      hints.root = LocalRank(value.int32);
      break;
    case Attribute::count:
      hints.count = value.uint32;
      break;
    case Attribute::code:
      hints.code = value.int32;
      break;
    case Attribute::one_sided:
      if (value.uint8 > static_cast<int>(machine::OneSided::unlock))
        throw Error("expected what a call does to a window, found " + std::to_string(value.uint8));
      hints.one_sided = static_cast<machine::OneSided>(value.uint8);
      break;
    case Attribute::pieces:
      hints.send_piece = static_cast<std::uint16_t>(value.uint32);
      hints.recv_piece = static_cast<std::uint16_t>(value.uint32 >> 16);
      break;
    case Attribute::join:
    case Attribute::join_after:
    case Attribute::join_held:
    case Attribute::join_after_steps:
    case Attribute::join_held_steps:
    case Attribute::second:
    case Attribute::second_after:
    case Attribute::second_after_steps:
      take_join(attribute >= Attribute::second ? hints.second : hints.join, attribute, value);
      break;
    case Attribute::reduction:
      if (!machine::is_reduction(value.uint8))
        throw Error("expected what a call combines, found " + std::to_string(value.uint8));
      hints.reduction = static_cast<machine::Reduction>(value.uint8);
      break;
    case Attribute::place:
    case Attribute::kCount:
      break;
  }
}

CallHints LocationReader::hints(OTF2_AttributeList* list) const {
  CallHints hints;
  const std::uint32_t count = list ? OTF2_AttributeList_GetNumberOfElements(list) : 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    OTF2_AttributeRef id = 0;
    OTF2_Type type = OTF2_TYPE_NONE;
    OTF2_AttributeValue value{};
    check(OTF2_AttributeList_GetAttributeByIndex(list, i, &id, &type, &value));
    const auto attribute = definitions_.attribute(id);
    if (attribute && type == row_of(*attribute).type) take_attribute(hints, *attribute, value);
  }
  if (hints.kind == trace::EventKind::icollective && !hints.bytes) hints.bytes = Bytes();
  if (hints.root.value >= 0 && hints.comm &&
      static_cast<std::size_t>(hints.root.value) >=
          definitions_.comms()[*hints.comm].members.size())
    throw Error("expected a root in its communicator, found " + std::to_string(hints.root.value));
  return hints;
}

ForeignMessage LocationReader::message(OTF2_CommRef comm, std::uint32_t peer, std::uint32_t tag,
                                       std::uint64_t bytes) const {
  ForeignMessage message;
  message.comm = definitions_.comm(comm, rank_);
  message.peer = definitions_.member(message.comm, peer);
  message.tag = static_cast<std::int32_t>(tag);
  message.bytes = Bytes(bytes);
  return message;
}

// nullopt: none that we know.
std::optional<ForeignCollective> LocationReader::collective(OTF2_CollectiveOp op, OTF2_CommRef comm,
                                                            std::uint32_t root, std::uint64_t sent,
                                                            std::uint64_t received) const {
  const auto cost = cost_ ? cost_ : cost_of(op, region_);
  if (!cost) return std::nullopt;
  ForeignCollective what;
  what.cost = *cost;
  what.comm = definitions_.comm(comm, rank_);
  const auto& members = definitions_.comms()[what.comm].members;
  CollectivePlace place;
  place.ranks = members.size();
  const auto found = std::ranges::find(members, rank_);
  if (found == members.end())
    throw Error("expected a communicator of the rank's own, found one without it");
  place.rank = static_cast<std::uint64_t>(found - members.begin());
  if (root == OTF2_COLLECTIVE_ROOT_SELF) root = static_cast<std::uint32_t>(place.rank);
  if (root != OTF2_COLLECTIVE_ROOT_NONE && root != OTF2_COLLECTIVE_ROOT_THIS_GROUP) {
    definitions_.member(what.comm, root);
    what.root = LocalRank(static_cast<std::int32_t>(root));
    place.is_root = root == place.rank;
  }
  what.bytes = equation_bytes(*cost, place, {sent, received}, definitions_.byte_count());
  return what;
}

void LocationReader::enter(Time time, const Otf2Region& region, OTF2_AttributeList* list) {
  if (region.is_tool) return;
  CallHints found = hints(list);
  if (region.is_mpi) {
    region_ = region.name;
    cost_ = found.cost;
  }
  to_.enter(time, region.name, region.is_mpi, std::move(found));
}

void LocationReader::leave(Time time, const Otf2Region& region, OTF2_AttributeList* list) {
  if (region.is_tool) return;
  if (!region.is_mpi && list && definitions_.is_own())
    to_.phase(time, region.name, false, hints(list));
  else
    to_.leave(time, region.name, region.is_mpi);
}

void LocationReader::set_messages(OTF2_EvtReaderCallbacks* callbacks) {
  OTF2_EvtReaderCallbacks_SetEnterCallback(
      callbacks, [](OTF2_LocationRef, OTF2_TimeStamp time, uint64_t position, void* data,
                    OTF2_AttributeList* list, OTF2_RegionRef region) {
        return guarded(data, time, position, [&](Self& self, Time at) {
          self.enter(at, self.definitions_.region(region), list);
        });
      });
  OTF2_EvtReaderCallbacks_SetLeaveCallback(
      callbacks, [](OTF2_LocationRef, OTF2_TimeStamp time, uint64_t position, void* data,
                    OTF2_AttributeList* list, OTF2_RegionRef region) {
        return guarded(data, time, position, [&](Self& self, Time at) {
          self.leave(at, self.definitions_.region(region), list);
        });
      });
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(
      callbacks,
      [](OTF2_LocationRef, OTF2_TimeStamp time, uint64_t position, void* data, OTF2_AttributeList*,
         uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes) {
        return guarded(data, time, position, [&](Self& self, Time) {
          self.to_.sent(self.message(comm, peer, tag, bytes));
        });
      });
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(
      callbacks,
      [](OTF2_LocationRef, OTF2_TimeStamp time, uint64_t position, void* data, OTF2_AttributeList*,
         uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes) {
        return guarded(data, time, position, [&](Self& self, Time) {
          self.to_.received(self.message(comm, peer, tag, bytes));
        });
      });
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(
      callbacks,
      [](OTF2_LocationRef, OTF2_TimeStamp time, uint64_t position, void* data, OTF2_AttributeList*,
         uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request) {
        return guarded(data, time, position, [&](Self& self, Time) {
          self.to_.posted_send(request, self.message(comm, peer, tag, bytes));
        });
      });
  OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(
      callbacks,
      [](OTF2_LocationRef, OTF2_TimeStamp time, uint64_t position, void* data, OTF2_AttributeList*,
         uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request) {
        return guarded(data, time, position, [&](Self& self, Time) {
          self.to_.completed_receive(request, self.message(comm, peer, tag, bytes));
        });
      });
}

void LocationReader::set_requests(OTF2_EvtReaderCallbacks* callbacks) {
  OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(
      callbacks, [](OTF2_LocationRef, OTF2_TimeStamp time, uint64_t position, void* data,
                    OTF2_AttributeList*, uint64_t request) {
        return guarded(data, time, position,
                       [&](Self& self, Time) { self.to_.posted_receive(request); });
      });
  OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(
      callbacks, [](OTF2_LocationRef, OTF2_TimeStamp time, uint64_t position, void* data,
                    OTF2_AttributeList*, uint64_t request) {
        return guarded(data, time, position,
                       [&](Self& self, Time) { self.to_.completed(request); });
      });
  OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(
      callbacks, [](OTF2_LocationRef, OTF2_TimeStamp time, uint64_t position, void* data,
                    OTF2_AttributeList*, uint64_t request) {
        return guarded(data, time, position,
                       [&](Self& self, Time) { self.to_.cancelled(request); });
      });
  // Others say with it that a test found nothing; we, that a request without message ended.
  OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(
      callbacks, [](OTF2_LocationRef, OTF2_TimeStamp time, uint64_t position, void* data,
                    OTF2_AttributeList*, uint64_t request) {
        return guarded(data, time, position, [&](Self& self, Time) {
          if (self.definitions_.is_own()) self.to_.completed(request);
        });
      });
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(
      callbacks, [](OTF2_LocationRef, OTF2_TimeStamp time, uint64_t position, void* data,
                    OTF2_AttributeList*, uint64_t request) {
        return guarded(data, time, position,
                       [&](Self& self, Time) { self.to_.posted_collective(request); });
      });
}

void LocationReader::set_collectives(OTF2_EvtReaderCallbacks* callbacks) {
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(
      callbacks,
      [](OTF2_LocationRef, OTF2_TimeStamp time, uint64_t position, void* data, OTF2_AttributeList*,
         OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received) {
        return guarded(data, time, position, [&](Self& self, Time) {
          const auto what = self.collective(op, comm, root, sent, received);
          if (what) self.to_.collective(*what);
        });
      });
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
      callbacks, [](OTF2_LocationRef, OTF2_TimeStamp time, uint64_t position, void* data,
                    OTF2_AttributeList*, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
                    uint64_t sent, uint64_t received, uint64_t request) {
        return guarded(data, time, position, [&](Self& self, Time) {
          self.cost_.reset();
          const auto what = self.collective(op, comm, root, sent, received);
          if (what) self.to_.completed_collective(request, *what);
        });
      });
  OTF2_EvtReaderCallbacks_SetMetricCallback(
      callbacks, [](OTF2_LocationRef, OTF2_TimeStamp time, uint64_t position, void* data,
                    OTF2_AttributeList* list, OTF2_MetricRef metric, uint8_t count,
                    const OTF2_Type* types, const OTF2_MetricValue* values) {
        return guarded(data, time, position, [&](Self& self, Time at) {
          if (!self.definitions_.is_own()) {
            self.missing_.add("a place for a metric's value; it is left out");
          } else if (count == 1 && types[0] == OTF2_TYPE_DOUBLE) {
            self.to_.mark(at, self.definitions_.metric_name(metric), values[0].floating_point,
                          self.hints(list));
          }
        });
      });
  OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(
      callbacks, [](OTF2_LocationRef, OTF2_TimeStamp time, uint64_t position, void* data,
                    OTF2_AttributeList*, OTF2_MeasurementMode mode) {
        return guarded(data, time, position, [&](Self& self, Time) {
          if (mode == OTF2_MEASUREMENT_OFF)
            self.missing_.add(
                "what a rank did while its recording was off; it counts as computation");
        });
      });
}

std::unique_ptr<OTF2_EvtReaderCallbacks, void (*)(OTF2_EvtReaderCallbacks*)>
LocationReader::callbacks() {
  std::unique_ptr<OTF2_EvtReaderCallbacks, void (*)(OTF2_EvtReaderCallbacks*)> all(
      OTF2_EvtReaderCallbacks_New(), OTF2_EvtReaderCallbacks_Delete);
  set_messages(all.get());
  set_requests(all.get());
  set_collectives(all.get());
  return all;
}

void LocationReader::read(OTF2_Reader* reader, OTF2_LocationRef location, std::uint64_t most) {
  most_ = most;
  OTF2_EvtReader* events = OTF2_Reader_GetEvtReader(reader, location);
  if (!events)
    throw Error("rank " + std::to_string(rank_.value) + ": " + Otf2ErrorCatcher::take_words());
  const auto wanted = callbacks();
  check(OTF2_Reader_RegisterEvtCallbacks(reader, events, wanted.get(), this));
  std::uint64_t count = 0;
  const OTF2_ErrorCode code = OTF2_Reader_ReadAllLocalEvents(reader, events, &count);
  const std::string where =
      "rank " + std::to_string(rank_.value) + ", event " + std::to_string(position_) + ": ";
  if (!error_.empty()) throw Error(where + error_);
  if (code != OTF2_SUCCESS) {
    std::string said = Otf2ErrorCatcher::take_words();
    throw Error(where + "the archive is damaged here: " +
                (said.empty() ? OTF2_Error_GetDescription(code) : said));
  }
  to_.finish(last_);
  OTF2_Reader_CloseEvtReader(reader, events);
}

// The first event of a location that matters, or where its MPI_Init leaves.
struct FirstTime {
  const Otf2Definitions* definitions = nullptr;
  std::optional<std::uint64_t> ticks;
  bool in_init = false;
};

OTF2_CallbackCode first_enter(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                              OTF2_AttributeList*, OTF2_RegionRef id) {
  auto& first = *static_cast<FirstTime*>(data);
  try {
    const Otf2Region& region = first.definitions->region(id);
    if (!region.is_mpi) return OTF2_CALLBACK_SUCCESS;
    first.ticks = time;
    first.in_init = region.name.starts_with("MPI_Init");
    return first.in_init ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
  } catch (const Error&) {
    return OTF2_CALLBACK_INTERRUPT;
  }
}

OTF2_CallbackCode first_leave(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                              OTF2_AttributeList*, OTF2_RegionRef) {
  auto& first = *static_cast<FirstTime*>(data);
  if (!first.in_init) return OTF2_CALLBACK_SUCCESS;
  first.ticks = time;
  return OTF2_CALLBACK_INTERRUPT;
}

// When the first rank's MPI_Init left: the beginning of our time.
std::uint64_t find_origin(OTF2_Reader* reader, const Otf2Definitions& definitions) {
  std::optional<std::uint64_t> origin;
  for (const OTF2_LocationRef location : definitions.ranks()) {
    OTF2_EvtReader* events = OTF2_Reader_GetEvtReader(reader, location);
    if (!events) throw Error("OTF2: " + Otf2ErrorCatcher::take_words());
    FirstTime first;
    first.definitions = &definitions;
    OTF2_EvtReaderCallbacks* callbacks = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, first_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, first_leave);
    OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks, &first);
    OTF2_EvtReaderCallbacks_Delete(callbacks);
    std::uint64_t count = 0;
    OTF2_Reader_ReadAllLocalEvents(reader, events, &count);
    OTF2_Reader_CloseEvtReader(reader, events);
    if (first.ticks) origin = std::min(origin.value_or(*first.ticks), *first.ticks);
  }
  Otf2ErrorCatcher::take_words();
  return origin.value_or(0);
}

// Locations' own definitions map their numbers to the global ones.
void read_local_definitions(OTF2_Reader* reader, const Otf2Definitions& definitions) {
  for (const OTF2_LocationRef location : definitions.ranks())
    check(OTF2_Reader_SelectLocation(reader, location));
  if (OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS) {
    for (const OTF2_LocationRef location : definitions.ranks()) {
      OTF2_DefReader* local = OTF2_Reader_GetDefReader(reader, location);
      if (!local) continue;
      std::uint64_t count = 0;
      const OTF2_ErrorCode code = OTF2_Reader_ReadAllLocalDefinitions(reader, local, &count);
      if (code != OTF2_SUCCESS)
        throw Error("location " + std::to_string(location) +
                    ": its definitions are damaged: " + Otf2ErrorCatcher::take_words());
      OTF2_Reader_CloseDefReader(reader, local);
    }
    OTF2_Reader_CloseDefFiles(reader);
  }
  Otf2ErrorCatcher::take_words();
  check(OTF2_Reader_OpenEvtFiles(reader));
}

std::string property(OTF2_Reader* reader, const char* name) {
  char* value = nullptr;
  if (OTF2_Reader_GetProperty(reader, name, &value) != OTF2_SUCCESS) return {};
  std::string text = value;
  std::free(value);
  return text;
}

trace::TraceInfo info_of(OTF2_Reader* reader, const Otf2Definitions& definitions,
                         const std::string& path) {
  trace::TraceInfo info;
  if (definitions.is_own()) {
    try {
      info = trace::parse_info(property(reader, kInfoProperty));
    } catch (const std::exception&) {
      throw Error("expected what a trace of ours says of itself, found something else");
    }
  } else {
    info.clock = trace::Clock::wall;
    info.program = definitions.program().empty() ? std::filesystem::path(path).filename().string()
                                                 : definitions.program();
    info.origin = "convert";
    info.options = "from=otf2";
  }
  info.ranks = static_cast<int>(definitions.ranks().size());
  return info;
}

// Nothing is known of a file that is not there.
std::uint64_t size_of(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? UINT64_MAX : size;
}

Notes read(const std::string& from, const std::string& to) {
  Missing missing;
  check_anchor(from);
  const std::unique_ptr<OTF2_Reader, OTF2_ErrorCode (*)(OTF2_Reader*)> reader(
      OTF2_Reader_Open(from.c_str()), OTF2_Reader_Close);
  if (!reader) throw Error("cannot open the archive: " + Otf2ErrorCatcher::take_words());
  check(OTF2_Reader_SetSerialCollectiveCallbacks(reader.get()));
  const std::string stem = from.substr(0, from.rfind('.'));
  const Otf2Definitions definitions(reader.get(), size_of(stem + ".def"), missing);
  read_local_definitions(reader.get(), definitions);
  const bool own = definitions.is_own();
  const Clock clock(definitions.ticks_per_second(),
                    own ? 0 : find_origin(reader.get(), definitions));
  trace::NewTrace trace(to, info_of(reader.get(), definitions, from));
  for (std::size_t r = 0; r < definitions.ranks().size(); ++r) {
    const WorldRank rank(static_cast<std::int32_t>(r));
    RankEvents events(trace.start(rank), rank, definitions.comms(), own, missing);
    LocationReader(definitions, clock, rank, events, missing)
        .read(reader.get(), definitions.ranks()[r],
              size_of(stem + "/" + std::to_string(definitions.ranks()[r]) + ".evt"));
  }
  trace.finish(!own || property(reader.get(), kSealedProperty) != "no");
  return missing.notes();
}

}  // namespace

Notes read_otf2(const std::string& from, const std::string& to) {
  const Otf2ErrorCatcher errors;
  try {
    return read(from, to);
  } catch (const Error& error) {
    throw Error(from + ": " + error.what());
  }
}

}  // namespace foretrace::formats
