// OTF2 out: each rank a location; regions are calls and phases, messages and collectives their
// own records. What OTF2 has no record for stands in attributes, so that nothing is lost.
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <map>
#include <memory>
#include <unordered_map>

#include "base/error.hpp"
#include "formats/formats.hpp"
#include "formats/otf2_archive.hpp"
#include "formats/otf2_common.hpp"
#include "formats/otf2_names.hpp"
#include "trace/seal.hpp"

namespace foretrace::formats {

using trace::Event;
using trace::EventKind;
using trace::TraceReader;

namespace {

constexpr std::uint64_t kTicksPerSecond = 1'000'000'000'000;  // picoseconds

// The attributes of one record.
class Attributes {
 public:
  Attributes() : list_(OTF2_AttributeList_New(), OTF2_AttributeList_Delete) {}
  OTF2_AttributeList* get() const { return list_.get(); }

  void add(Attribute attribute, std::uint64_t value) {
    const auto ref = static_cast<OTF2_AttributeRef>(attribute);
    switch (row_of(attribute).type) {
      case OTF2_TYPE_UINT8:
        check(OTF2_AttributeList_AddUint8(get(), ref, static_cast<std::uint8_t>(value)));
        break;
      case OTF2_TYPE_UINT32:
        check(OTF2_AttributeList_AddUint32(get(), ref, static_cast<std::uint32_t>(value)));
        break;
      case OTF2_TYPE_INT32:
        check(OTF2_AttributeList_AddInt32(get(), ref, static_cast<std::int32_t>(value)));
        break;
      case OTF2_TYPE_DOUBLE:
        check(OTF2_AttributeList_AddDouble(get(), ref, std::bit_cast<double>(value)));
        break;
      case OTF2_TYPE_STRING:
        check(OTF2_AttributeList_AddStringRef(get(), ref, static_cast<OTF2_StringRef>(value)));
        break;
      case OTF2_TYPE_COMM:
        check(OTF2_AttributeList_AddCommRef(get(), ref, static_cast<OTF2_CommRef>(value)));
        break;
      case OTF2_TYPE_SOURCE_CODE_LOCATION:
        check(OTF2_AttributeList_AddSourceCodeLocationRef(
            get(), ref, static_cast<OTF2_SourceCodeLocationRef>(value)));
        break;
      default:
        check(OTF2_AttributeList_AddUint64(get(), ref, value));
    }
  }
  void add_unless(Attribute attribute, std::int64_t value, std::int64_t usual) {
    if (value != usual) add(attribute, static_cast<std::uint64_t>(value));
  }

 private:
  std::unique_ptr<OTF2_AttributeList, decltype(&OTF2_AttributeList_Delete)> list_;
};

// One rank's stream.
class RankWriter {
 public:
  RankWriter(TraceReader& reader, WorldRank rank, OTF2_EvtWriter* writer, Otf2Names& names)
      : reader_(reader), rank_(rank), writer_(writer), names_(names) {}

  void write();
  Time last() const { return last_leave_; }
  // Calls so far that have a count for each member, which the archive has no place for.
  std::uint64_t with_counts() const { return with_counts_; }

 private:
  using Attr = Attribute;
  // Of the communicator of a request that is under way.
  struct Open {
    std::uint32_t comm = 0;
    EventKind kind = EventKind::isend;
    Event event;  // icollective: its collective
  };

  void write_event(const Event& event);
  void add_common(Attributes& list, const Event& event);
  void add_site(Attributes& list, trace::SiteId site);
  void add_kind(Attributes& list, const Event& event);
  bool write_records(const Event& event, Attributes& list, std::uint64_t time);
  void add_without_record(Attributes& list, const Event& event);
  void add_posted(Attributes& list, const Event& event);
  void write_enter(const Event& event, const Attributes& list);
  void write_send(const Event& event);
  void write_recv(const Event& event);
  void write_collective(const Event& event);
  void write_completions(const Event& event);
  void write_mark(const Event& event, const Attributes& list);
  CollectivePlace place_in(const Event& event) const;
  Bytes read_back(const Event& event) const;
  std::uint32_t comm_of(const Event& event);

  static std::uint64_t ticks(Time time) { return static_cast<std::uint64_t>(time.count_ps()); }

  TraceReader& reader_;
  WorldRank rank_;
  OTF2_EvtWriter* writer_;
  Otf2Names& names_;
  Time last_leave_;
  std::uint64_t with_counts_ = 0;
  std::unordered_map<std::uint64_t, Open> open_;
};

void RankWriter::add_site(Attributes& list, trace::SiteId id) {
  if (id == 0) return;
  const trace::Site& site = reader_.site(rank_, id);
  list.add(Attr::object, names_.string(site.object));
  list.add(Attr::offset, site.offset);
  if (const auto place = names_.place(site)) list.add(Attr::place, *place);
}

void RankWriter::add_common(Attributes& list, const Event& event) {
  if (event.compute != event.enter - last_leave_)
    list.add(Attr::compute, static_cast<std::uint64_t>(event.compute.count_ps()));
  list.add_unless(Attr::wait, event.wait.count_ps(), 0);
  if (event.steps != 0) list.add(Attr::steps, std::bit_cast<std::uint64_t>(event.steps));
  add_site(list, event.site);
  if (event.join.back == 0) return;
  list.add(Attr::join, 2 * event.join.back + (event.join.entered ? 1 : 0));
  list.add(Attr::join_after, static_cast<std::uint64_t>(event.join.after.count_ps()));
  list.add(Attr::join_held, static_cast<std::uint64_t>(event.join.held.count_ps()));
  names_.tell_joins();
  if (event.join.knows_steps) {
    list.add(Attr::join_after_steps, std::bit_cast<std::uint64_t>(event.join.after_steps));
    list.add(Attr::join_held_steps, std::bit_cast<std::uint64_t>(event.join.held_steps));
  }
  if (event.second.back == 0) return;
  list.add(Attr::second, 2 * event.second.back + (event.second.entered ? 1 : 0));
  list.add(Attr::second_after, static_cast<std::uint64_t>(event.second.after.count_ps()));
  if (event.second.knows_steps)
    list.add(Attr::second_after_steps, std::bit_cast<std::uint64_t>(event.second.after_steps));
}

std::uint32_t RankWriter::comm_of(const Event& event) {
  return names_.comm(reader_.comm(rank_, event.comm));
}

CollectivePlace RankWriter::place_in(const Event& event) const {
  const trace::Communicator& comm = reader_.comm(rank_, event.comm);
  CollectivePlace place;
  place.ranks = std::max<std::uint64_t>(comm.members.size(), 1);
  const auto found = std::ranges::find(comm.members, rank_);
  place.rank = static_cast<std::uint64_t>(found - comm.members.begin());
  place.is_root = event.root.valid() && static_cast<std::uint64_t>(event.root.value) == place.rank;
  return place;
}

void RankWriter::add_posted(Attributes& list, const Event& event) {
  list.add(Attr::comm, comm_of(event));
  list.add_unless(Attr::posted_peer, event.recv.peer.value, -1);
  list.add_unless(Attr::posted_tag, event.recv.tag, 0);
  list.add(Attr::posted_bytes, event.recv.bytes.count);
}

// What no record of OTF2 says of the event.
void RankWriter::add_kind(Attributes& list, const Event& event) {
  list.add(Attr::kind, static_cast<std::uint64_t>(event.kind));
  list.add_unless(Attr::mode, static_cast<int>(event.mode), 0);
  list.add_unless(Attr::wildcards,
                  (event.recv.any_source ? 1 : 0) + (event.recv.any_tag ? 2 : 0) +
                      (event.send.untouched ? 4 : 0),
                  0);
  list.add_unless(Attr::taken, static_cast<std::int64_t>(event.taken), 0);
  list.add_unless(Attr::count, event.count, 1);
  list.add_unless(Attr::code, event.code, 0);
  list.add_unless(Attr::one_sided, static_cast<int>(event.one_sided), 0);
  if (trace::has_pieces(event)) {
    list.add(Attr::pieces, event.send.piece | std::uint64_t{event.recv.piece} << 16);
    names_.tell_pieces();
  }
  if (event.reduction == machine::Reduction::none) return;
  list.add(Attr::reduction, static_cast<std::uint64_t>(event.reduction));
  names_.tell_reductions();
}

// An event whose message, request or collective OTF2 has no record for.
void RankWriter::add_without_record(Attributes& list, const Event& event) {
  if (trace::uses_comm(event)) add_posted(list, event);
  list.add_unless(Attr::request, static_cast<std::int64_t>(event.request), 0);
  list.add_unless(Attr::peer, event.send.peer.value, -1);
  list.add_unless(Attr::bytes, static_cast<std::int64_t>(event.bytes.count), 0);
  list.add_unless(Attr::root, event.root.value, -1);
  if (event.collective != machine::Cost::kCount)
    list.add(Attr::cost, static_cast<std::uint64_t>(event.collective));
}

void RankWriter::write_send(const Event& event) {
  const std::uint32_t comm = comm_of(event);
  const auto receiver = names_.local_rank(comm, event.send.peer);
  const std::uint64_t time = ticks(event.enter);
  const auto tag = static_cast<std::uint32_t>(event.send.tag);
  if (event.kind == EventKind::isend)
    check(OTF2_EvtWriter_MpiIsend(writer_, nullptr, time, *receiver, comm, tag,
                                  event.send.bytes.count, event.request));
  else
    check(OTF2_EvtWriter_MpiSend(writer_, nullptr, time, *receiver, comm, tag,
                                 event.send.bytes.count));
}

void RankWriter::write_recv(const Event& event) {
  const std::uint32_t comm = comm_of(event);
  check(OTF2_EvtWriter_MpiRecv(writer_, nullptr, ticks(event.leave),
                               *names_.local_rank(comm, event.recv.peer), comm,
                               static_cast<std::uint32_t>(event.recv.tag), event.recv.bytes.count));
}

void RankWriter::write_collective(const Event& event) {
  const MovedBytes moved = moved_bytes(event.collective, place_in(event), event.bytes);
  const std::uint32_t root =
      event.root.valid() ? static_cast<std::uint32_t>(event.root.value) : OTF2_COLLECTIVE_ROOT_NONE;
  check(OTF2_EvtWriter_MpiCollectiveBegin(writer_, nullptr, ticks(event.enter)));
  check(OTF2_EvtWriter_MpiCollectiveEnd(writer_, nullptr, ticks(event.leave),
                                        *op_of(event.collective), comm_of(event), root, moved.sent,
                                        moved.received));
}

void RankWriter::write_completions(const Event& event) {
  const std::uint64_t time = ticks(event.leave);
  for (const trace::Completion& done : event.completions) {
    const auto found = open_.find(done.request);
    const bool known = found != open_.end();
    if (done.cancelled) {
      check(OTF2_EvtWriter_MpiRequestCancelled(writer_, nullptr, time, done.request));
    } else if (known && found->second.kind == EventKind::icollective) {
      const Event& posted = found->second.event;
      const MovedBytes moved = moved_bytes(posted.collective, place_in(posted), posted.bytes);
      check(OTF2_EvtWriter_NonBlockingCollectiveComplete(
          writer_, nullptr, time, *op_of(posted.collective), found->second.comm,
          posted.root.valid() ? static_cast<std::uint32_t>(posted.root.value)
                              : OTF2_COLLECTIVE_ROOT_NONE,
          moved.sent, moved.received, done.request));
    } else if (known && found->second.kind == EventKind::isend) {
      check(OTF2_EvtWriter_MpiIsendComplete(writer_, nullptr, time, done.request));
    } else if (const auto sender =
                   known ? names_.local_rank(found->second.comm, done.source) : std::nullopt) {
      check(OTF2_EvtWriter_MpiIrecv(writer_, nullptr, time, *sender, found->second.comm,
                                    static_cast<std::uint32_t>(done.tag), done.bytes.count,
                                    done.request));
    } else {
      // With MPI_PROC_NULL: there is a request, and nothing came.
      check(OTF2_EvtWriter_MpiRequestTest(writer_, nullptr, time, done.request));
    }
    if (known) open_.erase(found);
  }
}

// The size of a collective that a reader will find in its record.
Bytes RankWriter::read_back(const Event& event) const {
  const CollectivePlace place = place_in(event);
  return equation_bytes(event.collective, place, moved_bytes(event.collective, place, event.bytes),
                        ByteCount::all_partners);
}

// Whether the event has records of its own; they are written once `list` is complete.
bool RankWriter::write_records(const Event& event, Attributes& list, std::uint64_t) {
  const auto reaches = [&](WorldRank peer) {
    return peer.valid() && names_.local_rank(comm_of(event), peer).has_value();
  };
  switch (event.kind) {
    case EventKind::send:
      if (!reaches(event.send.peer)) return false;
      write_enter(event, list);
      write_send(event);
      return true;
    case EventKind::recv:
      if (!reaches(event.recv.peer)) return false;
      write_enter(event, list);
      write_recv(event);
      return true;
    case EventKind::sendrecv: {
      const bool sends = reaches(event.send.peer);
      const bool receives = reaches(event.recv.peer);
      if (!sends && !receives) return false;
      if (!receives) add_posted(list, event);
      write_enter(event, list);
      if (sends) write_send(event);
      if (receives) write_recv(event);
      return true;
    }
    case EventKind::isend:
      if (!reaches(event.send.peer)) return false;
      write_enter(event, list);
      write_send(event);
      open_[event.request] = {comm_of(event), event.kind, {}};
      return true;
    case EventKind::irecv:
      add_posted(list, event);
      write_enter(event, list);
      check(OTF2_EvtWriter_MpiIrecvRequest(writer_, nullptr, ticks(event.enter), event.request));
      open_[event.request] = {comm_of(event), event.kind, {}};
      return true;
    case EventKind::collective:
      if (!op_of(event.collective)) return false;
      list.add(Attr::cost, static_cast<std::uint64_t>(event.collective));
      // The record tells what was moved: nothing by a barrier, though files' calls have a size.
      if (read_back(event) != event.bytes) list.add(Attr::bytes, event.bytes.count);
      write_enter(event, list);
      write_collective(event);
      return true;
    case EventKind::icollective:
      if (!op_of(event.collective)) return false;
      add_without_record(list, event);
      write_enter(event, list);
      check(OTF2_EvtWriter_NonBlockingCollectiveRequest(writer_, nullptr, ticks(event.enter),
                                                        event.request));
      open_[event.request] = {comm_of(event), event.kind, event};
      return true;
    case EventKind::complete:
      write_enter(event, list);
      write_completions(event);
      return true;
    default:
      return false;
  }
}

void RankWriter::write_enter(const Event& event, const Attributes& list) {
  check(OTF2_EvtWriter_Enter(writer_, list.get(), ticks(event.enter),
                             names_.region(reader_.name(rank_, event.name), true)));
}

void RankWriter::write_mark(const Event& event, const Attributes& list) {
  const std::uint32_t metric = names_.metric(reader_.name(rank_, event.name));
  const OTF2_Type type = OTF2_TYPE_DOUBLE;
  OTF2_MetricValue value;
  value.floating_point = event.value;
  check(OTF2_EvtWriter_Metric(writer_, list.get(), ticks(event.leave), metric, 1, &type, &value));
}

void RankWriter::write_event(const Event& event) {
  Attributes list;
  add_common(list, event);
  const std::string& name = reader_.name(rank_, event.name);
  switch (event.kind) {
    case EventKind::phase_begin:
      check(OTF2_EvtWriter_Enter(writer_, list.get(), ticks(event.leave),
                                 names_.region(name, false)));
      break;
    case EventKind::phase_end:
      check(OTF2_EvtWriter_Leave(writer_, list.get(), ticks(event.leave),
                                 names_.region(name, false)));
      break;
    case EventKind::mark:
      write_mark(event, list);
      break;
    default:
      add_kind(list, event);
      if (!write_records(event, list, ticks(event.enter))) {
        add_without_record(list, event);
        write_enter(event, list);
      }
      check(OTF2_EvtWriter_Leave(writer_, nullptr, ticks(event.leave), names_.region(name, true)));
  }
  last_leave_ = event.leave;
}

void RankWriter::write() {
  reader_.rewind(rank_);
  Event event;
  while (reader_.next(rank_, event)) {
    if (reader_.counts(rank_, event)) ++with_counts_;
    write_event(event);
  }
  const auto open = open_call_of(reader_, rank_);
  if (!open) return;
  Attributes list;
  add_site(list, open->site);
  check(OTF2_EvtWriter_Enter(writer_, list.get(), ticks(last_leave_),
                             names_.region(reader_.name(rank_, open->name), true)));
}

OTF2_FlushType on_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}

}  // namespace

Notes write_otf2(TraceReader& reader, const std::string& path, const trace::TellPlace& tell) {
  const Otf2ErrorCatcher errors;
  NewArchive archive(path, reader.ranks());
  OTF2_FlushCallbacks flush{on_flush, nullptr};
  check(OTF2_Archive_SetFlushCallbacks(archive.get(), &flush, nullptr));
  check(OTF2_Archive_SetSerialCollectiveCallbacks(archive.get()));
  check(OTF2_Archive_SetCreator(archive.get(), "Foretrace"));
  if (!reader.info().program.empty())
    check(OTF2_Archive_SetDescription(archive.get(), reader.info().program.c_str()));
  check(OTF2_Archive_SetProperty(archive.get(), kInfoProperty,
                                 trace::info_text(reader.info()).c_str(), true));
  check(OTF2_Archive_OpenEvtFiles(archive.get()));
  Otf2Names names(reader.ranks(), tell);
  Time last;
  std::uint64_t with_counts = 0;
  std::vector<std::uint64_t> events;
  for (int r = 0; r < reader.ranks(); ++r) {
    OTF2_EvtWriter* writer =
        OTF2_Archive_GetEvtWriter(archive.get(), static_cast<std::uint64_t>(r));
    if (!writer) throw Error(path + ": cannot write the events of rank " + std::to_string(r));
    RankWriter rank(reader, WorldRank(r), writer, names);
    rank.write();
    last = std::max(last, rank.last());
    with_counts += rank.with_counts();
    events.push_back(0);
    check(OTF2_EvtWriter_GetNumberOfEvents(writer, &events.back()));
    check(OTF2_Archive_CloseEvtWriter(archive.get(), writer));
  }
  check(OTF2_Archive_CloseEvtFiles(archive.get()));
  const bool whole = reader.sealed() && reader.damage().empty();
  check(OTF2_Archive_SetProperty(archive.get(), kSealedProperty, whole ? "yes" : "no", true));
  archive.write_empty_local_definitions(reader.ranks());
  OTF2_GlobalDefWriter* definitions = OTF2_Archive_GetGlobalDefWriter(archive.get());
  if (!definitions) throw Error(path + ": cannot write the definitions");
  check(OTF2_GlobalDefWriter_WriteClockProperties(definitions, kTicksPerSecond, 0,
                                                  static_cast<std::uint64_t>(last.count_ps()) + 1,
                                                  OTF2_UNDEFINED_TIMESTAMP));
  names.write(definitions, events);
  archive.finish();
  if (with_counts == 0) return {};
  return {"the archive has no place for the counts of " + std::to_string(with_counts) +
          " calls that differ between members: who simulates it takes equal parts"};
}

}  // namespace foretrace::formats
