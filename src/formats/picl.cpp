// PICL, the text of ParaGraph and MPICL: a line is a record of a process at a time, "kind event
// time process task count [type values]", kinds -3 and -4 an event's entry and exit, times in
// seconds. Known from coNCePTuaL's manual and the list of MPICL's events (docs/formats.md).
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/new_file.hpp"
#include "formats/decimals.hpp"
#include "formats/formats.hpp"
#include "formats/merged_events.hpp"

namespace foretrace::formats {
namespace {

using machine::Cost;
using trace::Event;
using trace::EventKind;

enum Kind { kMark = -2, kEntry = -3, kExit = -4, kProcesses = -202 };
enum PiclEvent {
  kSend = -21,
  kSendBegin = -27,
  kSendEnd = -31,
  kReceive = -52,
  kReceiveBegin = -57,
  kReceiveEnd = -61,
  kBarrier = -402,
  kAllReduce = -782,
  kBroadcast = -785,
  kReduce = -790,
  kDefine = -812,
  kTrace = -901
};
constexpr int kIntegers = 2;  // type of the values
constexpr int kWorld = -1;    // all processes

// MPICL's events of collectives; 0: it has none.
int event_of(Cost collective) {
  switch (collective) {
    case Cost::barrier:
      return kBarrier;
    case Cost::allgather:
    case Cost::allgatherv:
      return -780;
    case Cost::allreduce:
      return kAllReduce;
    case Cost::alltoall:
    case Cost::alltoallv:
      return -783;
    case Cost::bcast:
      return kBroadcast;
    case Cost::gather:
    case Cost::gatherv:
      return -786;
    case Cost::reduce:
      return kReduce;
    case Cost::reduce_scatter:
      return -791;
    case Cost::scan:
      return -792;
    case Cost::scatter:
    case Cost::scatterv:
      return -793;
    default:
      return 0;
  }
}

using Values = std::vector<std::int64_t>;

std::int64_t number(Bytes bytes) {
  return static_cast<std::int64_t>(bytes.count);
}

class PiclFile {
 public:
  PiclFile(trace::TraceReader& reader, const std::string& path) : reader_(reader), file_(path) {}

  // The numbers of the program's own events and of calls that MPICL has no number for.
  Notes write() {
    find_names();
    const auto ranks = static_cast<std::size_t>(reader_.ranks());
    for (std::size_t r = 0; r < ranks; ++r) line(kEntry, kTrace, Time(), static_cast<int>(r));
    std::vector<Time> ends(ranks);
    MergedEvents events(reader_);
    Moment moment;
    while (events.next(moment)) {
      ends[static_cast<std::size_t>(moment.rank.value)] = moment.at;
      take(moment);
    }
    for (std::size_t r = 0; r < ranks; ++r) line(kExit, kTrace, ends[r], static_cast<int>(r));
    file_.commit();
    Notes notes;
    for (const auto& [name, id] : names_)
      notes.push_back("event " + std::to_string(id) + ": " + name);
    return notes;
  }

 private:
  void line(int kind, int event, Time at, int process, const Values& values = {}) {
    text_.clear();
    append_number(text_, kind);
    text_ += ' ';
    append_number(text_, event);
    text_ += ' ';
    append_decimals(text_, at, 12);
    for (const int each : {process, process < 0 ? -1 : 0, static_cast<int>(values.size())}) {
      text_ += ' ';
      append_number(text_, each);
    }
    if (!values.empty()) {
      text_ += ' ';
      append_number(text_, kIntegers);
    }
    for (const std::int64_t value : values) {
      text_ += ' ';
      append_number(text_, value);
    }
    text_ += '\n';
    file_.write(text_);
  }

  // A call that moves nothing, as one with MPI_PROC_NULL, has none.
  static bool has_number(const Event& event) {
    switch (event.kind) {
      case EventKind::send:
        return event.send.peer.valid();
      case EventKind::recv:
        return event.recv.peer.valid();
      case EventKind::sendrecv:
        return event.send.peer.valid() || event.recv.peer.valid();
      case EventKind::isend:
      case EventKind::irecv:
        return true;
      case EventKind::complete:
        return !event.completions.empty();
      case EventKind::collective:
        return event_of(event.collective) != 0;
      default:
        return false;
    }
  }

  void find_names() {
    Event event;
    for (int r = 0; r < reader_.ranks(); ++r) {
      reader_.rewind(WorldRank(r));
      while (reader_.next(WorldRank(r), event))
        if (!has_number(event))
          names_.try_emplace(reader_.name(WorldRank(r), event.name),
                             static_cast<int>(names_.size()) + 1);
    }
  }

  // A communicator's number as the file has it; the first time it is defined.
  int processes_of(const Moment& moment) {
    const trace::Communicator& comm = reader_.comm(moment.rank, moment.event->comm);
    if (comm.members.size() == static_cast<std::size_t>(reader_.ranks())) return kWorld;
    const auto [entry, added] = comms_.try_emplace(comm.members, static_cast<int>(comms_.size()));
    if (added) {
      Values values{entry->second};
      for (const WorldRank member : comm.members) values.push_back(member.value);
      line(kProcesses, kDefine, moment.at, -1, values);
    }
    return entry->second;
  }

  void take(const Moment& moment) {
    const Event& event = *moment.event;
    const int kind = moment.begins ? kEntry : kExit;
    const auto own = [&](int of) {
      line(of, names_.at(reader_.name(moment.rank, event.name)), moment.at, moment.rank.value);
    };
    switch (event.kind) {
      case EventKind::mark:
        if (moment.begins) own(kMark);
        return;
      case EventKind::phase_begin:
      case EventKind::phase_end:
        if (moment.begins) own(event.kind == EventKind::phase_begin ? kEntry : kExit);
        return;
      case EventKind::collective:
        if (event_of(event.collective) != 0) return collective(moment, kind);
        return own(kind);
      default:
        if (has_number(event)) return messages(moment, kind);
        own(kind);
    }
  }

  void collective(const Moment& moment, int kind) {
    const Event& event = *moment.event;
    const int id = event_of(event.collective);
    const int processes = processes_of(moment);
    const WorldRank root = event.root.valid()
                               ? reader_.comm(moment.rank, event.comm)
                                     .members[static_cast<std::size_t>(event.root.value)]
                               : WorldRank();
    // Who is not the root knows no size beforehand, or has none after.
    const std::int64_t at_root = root == moment.rank ? number(event.bytes) : -1;
    Values values;
    if (moment.begins) {
      if (id != kBarrier) values.push_back(id == kBroadcast ? at_root : number(event.bytes));
      if (root.valid()) values.push_back(root.value);
      values.push_back(processes);
    } else if (id == kBroadcast) {
      values = {number(event.bytes)};
    } else if (id == kReduce) {
      values = {at_root};
    } else if (id == kAllReduce) {
      values = {processes};
    }
    line(kind, id, moment.at, moment.rank.value, values);
  }

  // A call that sends and receives is a send, then a receive; a completion is one of each request.
  void messages(const Moment& moment, int kind) {
    const Event& event = *moment.event;
    const auto put = [&](int id, const Values& entry, const Values& exit) {
      line(kind, id, moment.at, moment.rank.value, kind == kEntry ? entry : exit);
    };
    const auto& to = event.send;
    const auto& from = event.recv;
    const Values sent{number(to.bytes), to.tag, to.peer.value, 0};
    const Values wanted{from.any_tag ? -1 : from.tag, from.any_source ? -1 : from.peer.value, 0};
    switch (event.kind) {
      case EventKind::isend:
        return put(kSendBegin, sent, {static_cast<std::int64_t>(event.request)});
      case EventKind::irecv:
        return put(kReceiveBegin, wanted, {static_cast<std::int64_t>(event.request)});
      case EventKind::complete:
        return completions(moment, kind);
      default:
        break;
    }
    if (event.kind != EventKind::recv && to.peer.valid()) put(kSend, sent, {});
    if (event.kind == EventKind::send || !from.peer.valid()) return;
    put(kReceive, wanted, {number(from.bytes), from.tag, from.peer.value, 0});
  }

  void completions(const Moment& moment, int kind) {
    for (const trace::Completion& done : moment.event->completions) {
      const Values request{static_cast<std::int64_t>(done.request)};
      const bool receives = done.source.valid();
      const Values came{number(done.bytes), done.tag, done.source.value, 0};
      line(kind, receives ? kReceiveEnd : kSendEnd, moment.at, moment.rank.value,
           moment.begins ? request
           : receives    ? came
                         : Values());
    }
  }

  trace::TraceReader& reader_;
  NewFile file_;
  std::string text_;
  std::map<std::string, int> names_;
  std::map<std::vector<WorldRank>, int> comms_;
};

}  // namespace

Notes write_picl(trace::TraceReader& reader, const std::string& path, const trace::TellPlace&) {
  Notes notes{
      "call sites, communicators of messages and the values of marks have no place in this format"};
  const Notes names = PiclFile(reader, path).write();
  notes.insert(notes.end(), names.begin(), names.end());
  return notes;
}

}  // namespace foretrace::formats
