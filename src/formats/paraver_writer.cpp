// Paraver out: NAME.prv with states, events and communications in the order of time, NAME.pcf
// with the names of all values, NAME.row with those of the ranks.
#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.hpp"
#include "base/new_file.hpp"
#include "formats/decimals.hpp"
#include "formats/formats.hpp"
#include "formats/merged_events.hpp"
#include "formats/messages.hpp"
#include "formats/paraver_common.hpp"

namespace foretrace::formats {
namespace {

using trace::Event;
using trace::EventKind;

// Beyond Extrae's own numbers: calls that it does not know, and phases.
constexpr int kFirstOwnValue = 1000;
// A message that is long under way must not hold back all that follows.
constexpr std::size_t kMostLines = 1'000'000;

struct StateRow {
  int value;
  const char* name;
};
constexpr StateRow kStates[] = {{0, "Idle"},
                                {1, "Running"},
                                {3, "Waiting a message"},
                                {4, "Blocking Send"},
                                {5, "Synchronization"},
                                {8, "Wait/WaitAll"},
                                {10, "Immediate Send"},
                                {11, "Immediate Receive"},
                                {13, "Group Communication"},
                                {15, "Others"},
                                {16, "Send Receive"}};

int state_of(const Event& event) {
  switch (event.kind) {
    case EventKind::send:
      return 4;
    case EventKind::recv:
      return 3;
    case EventKind::sendrecv:
      return 16;
    case EventKind::isend:
      return 10;
    case EventKind::irecv:
      return 11;
    case EventKind::complete:
      return 8;
    case EventKind::collective:
      return event.collective == machine::Cost::barrier ? 5 : 13;
    default:
      return 15;
  }
}

std::int64_t type_of(const Event& event, std::string_view name) {
  switch (event.kind) {
    case EventKind::send:
    case EventKind::recv:
    case EventKind::sendrecv:
    case EventKind::isend:
    case EventKind::irecv:
    case EventKind::complete:
      return kPointToPoint;
    case EventKind::collective:
    case EventKind::icollective:
      return kCollective;
    default:
      return name.starts_with("MPI_File") ? kFileCall
             : name.starts_with("MPI_Wait") || name.starts_with("MPI_Test") ||
                     collective_called(name) || name.ends_with("probe")
                 ? kPointToPoint
                 : kOtherCall;
  }
}

class ParaverFile {
 public:
  ParaverFile(trace::TraceReader& reader, const std::string& path)
      : reader_(reader), stem_(path.substr(0, path.size() - 4)), file_(path) {
    for (int r = 0; r < reader.ranks(); ++r) messages_.emplace_back(WorldRank(r));
    ranks_.resize(messages_.size());
  }

  // How many messages have one end only, and no line.
  std::size_t write() {
    survey();
    write_header();
    MergedEvents events(reader_);
    Moment moment;
    while (events.next(moment)) {
      take(moment);
      flush(moment.at);
    }
    flush(Time::max());
    file_.commit();
    write_names();
    write_rows();
    return lone_.size();
  }

 private:
  struct Sent {
    Time at;
    std::uint64_t order = 0;  // of its line among those of the time: within the call
    WorldRank from;
    Bytes bytes;
    std::int32_t tag = 0;
  };
  struct Received {
    WorldRank to;
    Time posted;
    Time at;
  };
  struct RankState {
    Time last;  // until then its states are written
    std::vector<Message> moved;
  };
  using Line = std::pair<std::pair<Time, std::uint64_t>, std::string>;

  void survey();
  void write_header();
  void write_names();
  void write_rows();
  void take(const Moment& moment);
  void take_messages(WorldRank rank, bool begins);
  void put_state(WorldRank rank, Time begin, Time end, int state);
  void put_events(WorldRank rank, Time at,
                  const std::vector<std::pair<std::int64_t, std::int64_t>>& events);
  void put_communication(const Sent& sent, const Received& received);
  void put(Time at, std::string line) { lines_.push({{at, count_++}, std::move(line)}); }
  void flush(Time until);
  std::int64_t value_of(std::int64_t type, const std::string& name);
  std::int64_t comm_of(const Event& event, WorldRank rank);

  // "1:1:1:" of rank 0: processor, application, task and thread.
  static std::string place(WorldRank rank) {
    const std::string number = std::to_string(rank.value + 1);
    return number + ":1:" + number + ":1";
  }
  static std::int64_t ns(Time time) { return time.count_ps() / 1000; }

  trace::TraceReader& reader_;
  std::string stem_;
  NewFile file_;
  std::vector<Messages> messages_;
  std::vector<RankState> ranks_;
  Time end_;
  std::map<std::uint64_t, std::pair<std::int64_t, std::vector<WorldRank>>> comms_;
  std::map<std::int64_t, std::map<std::string, std::int64_t>> values_;
  int next_value_ = kFirstOwnValue;
  std::unordered_set<std::uint64_t> lone_;
  std::unordered_map<std::uint64_t, Sent> sent_;
  std::multiset<Time> sent_times_;
  std::unordered_map<std::uint64_t, Received> received_;
  std::priority_queue<Line, std::vector<Line>, std::greater<Line>> lines_;
  std::uint64_t count_ = 0;
};

// The header has the end and the communicators; lines wait only for messages that come.
void ParaverFile::survey() {
  lone_ = lone_messages(reader_);
  Event event;
  for (int r = 0; r < reader_.ranks(); ++r) {
    const WorldRank rank(r);
    reader_.rewind(rank);
    while (reader_.next(rank, event)) {
      end_ = std::max(end_, event.leave);
      if (trace::uses_comm(event)) comm_of(event, rank);
    }
  }
}

std::int64_t ParaverFile::comm_of(const Event& event, WorldRank rank) {
  const trace::Communicator& comm = reader_.comm(rank, event.comm);
  const auto [found, added] = comms_.try_emplace(comm.key);
  if (added) found->second = {static_cast<std::int64_t>(comms_.size()), comm.members};
  return found->second.first;
}

void ParaverFile::write_header() {
  // The day is not known, and would make each file another one.
  std::string line = "#Paraver (01/01/1970 at 00:00):" + std::to_string(ns(end_)) + "_ns:1(" +
                     std::to_string(reader_.ranks()) + "):1:" + std::to_string(reader_.ranks()) +
                     "(";
  for (int r = 0; r < reader_.ranks(); ++r) line += r == 0 ? "1:1" : ",1:1";
  line += ")," + std::to_string(comms_.size()) + "\n";
  for (const auto& [key, comm] : comms_) {
    line += "c:1:" + std::to_string(comm.first) + ":" + std::to_string(comm.second.size());
    for (const WorldRank member : comm.second) line += ":" + std::to_string(member.value + 1);
    line += "\n";
  }
  file_.write(line);
}

std::int64_t ParaverFile::value_of(std::int64_t type, const std::string& name) {
  const auto [found, added] = values_[type].try_emplace(name, 0);
  if (added) {
    found->second = value_of_call(name);
    if (found->second == 0) found->second = next_value_++;
  }
  return found->second;
}

void ParaverFile::put_state(WorldRank rank, Time begin, Time end, int state) {
  if (begin >= end) return;
  put(begin, "1:" + place(rank) + ":" + std::to_string(ns(begin)) + ":" + std::to_string(ns(end)) +
                 ":" + std::to_string(state) + "\n");
}

void ParaverFile::put_events(WorldRank rank, Time at,
                             const std::vector<std::pair<std::int64_t, std::int64_t>>& events) {
  std::string line = "2:" + place(rank) + ":" + std::to_string(ns(at));
  for (const auto& [type, value] : events)
    line += ":" + std::to_string(type) + ":" + std::to_string(value);
  put(at, line + "\n");
}

void ParaverFile::put_communication(const Sent& sent, const Received& received) {
  lines_.push({{sent.at, sent.order},
               "3:" + place(sent.from) + ":" + std::to_string(ns(sent.at)) + ":" +
                   std::to_string(ns(sent.at)) + ":" + place(received.to) + ":" +
                   std::to_string(ns(received.posted)) + ":" + std::to_string(ns(received.at)) +
                   ":" + std::to_string(sent.bytes.count) + ":" + std::to_string(sent.tag) + "\n"});
}

void ParaverFile::take_messages(WorldRank rank, bool begins) {
  for (const Message& message : ranks_[static_cast<std::size_t>(rank.value)].moved) {
    if (message.sent != begins || lone_.contains(message.number)) continue;
    if (message.sent) {
      const Sent sent{message.at, count_++, rank, message.bytes, message.tag};
      const auto early = received_.find(message.number);
      if (early == received_.end()) {
        sent_.emplace(message.number, sent);
        sent_times_.insert(sent.at);
      } else {
        put_communication(sent, early->second);
        received_.erase(early);
      }
    } else {
      const Received received{rank, message.posted, message.at};
      const auto sent = sent_.find(message.number);
      if (sent == sent_.end()) {
        received_.emplace(message.number, received);
      } else {
        put_communication(sent->second, received);
        sent_times_.erase(sent_times_.find(sent->second.at));
        sent_.erase(sent);
      }
    }
  }
}

void ParaverFile::take(const Moment& moment) {
  const Event& event = *moment.event;
  const WorldRank rank = moment.rank;
  RankState& state = ranks_[static_cast<std::size_t>(rank.value)];
  const std::string& name = reader_.name(rank, event.name);
  if (event.kind == EventKind::phase_begin || event.kind == EventKind::phase_end) {
    if (moment.begins) return;
    const bool begins = event.kind == EventKind::phase_begin;
    return put_events(rank, moment.at,
                      {{kUserFunction, begins ? value_of(kUserFunction, name) : 0}});
  }
  if (event.kind == EventKind::mark) {
    if (!moment.begins)
      put_events(rank, moment.at, {{kUserFunction + 1, value_of(kUserFunction + 1, name)}});
    return;
  }
  const std::int64_t type = type_of(event, name);
  if (!moment.begins) {
    take_messages(rank, false);
    put_state(rank, event.enter, event.leave, state_of(event));
    state.last = event.leave;
    return put_events(rank, event.leave, {{type, 0}});
  }
  put_state(rank, state.last, event.enter, 1);
  std::vector<std::pair<std::int64_t, std::int64_t>> events{{type, value_of(type, name)}};
  if (event.count != 1) events.emplace_back(kCallsInRow, event.count);
  if (event.kind == EventKind::collective || event.kind == EventKind::icollective) {
    events.emplace_back(kSentBytes, static_cast<std::int64_t>(event.bytes.count));
    events.emplace_back(kReceivedBytes, static_cast<std::int64_t>(event.bytes.count));
    const auto& members = reader_.comm(rank, event.comm).members;
    if (event.root.valid() && static_cast<std::size_t>(event.root.value) < members.size() &&
        members[static_cast<std::size_t>(event.root.value)] == rank)
      events.emplace_back(kIsRoot, 1);
    events.emplace_back(kCommunicator, comm_of(event, rank));
  }
  put_events(rank, event.enter, events);
  state.moved = messages_[static_cast<std::size_t>(rank.value)].of(event, reader_);
  take_messages(rank, true);
}

void ParaverFile::flush(Time until) {
  if (until != Time::max() && !sent_times_.empty()) until = std::min(until, *sent_times_.begin());
  while (!lines_.empty() &&
         (lines_.top().first.first < until || until == Time::max() || lines_.size() > kMostLines)) {
    file_.write(lines_.top().second);
    lines_.pop();
  }
}

void ParaverFile::write_names() {
  std::string text =
      "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\nSTATES\n";
  for (const StateRow& row : kStates) text += std::to_string(row.value) + "    " + row.name + "\n";
  const auto type = [&text](std::int64_t number, const char* name) {
    text += "\nEVENT_TYPE\n0    " + std::to_string(number) + "    " + name + "\n";
  };
  const auto name_of = [](std::int64_t number) {
    return number == kPointToPoint       ? "MPI Point-to-point"
           : number == kCollective       ? "MPI Collective Comm"
           : number == kFileCall         ? "MPI I/O"
           : number == kUserFunction     ? "User function"
           : number == kUserFunction + 1 ? "User mark"
                                         : "MPI Other";
  };
  for (const auto& [number, names] : values_) {
    type(number, name_of(number));
    text += "VALUES\n0   Outside\n";
    std::map<std::int64_t, std::string> by_value;
    for (const auto& [name, value] : names) by_value[value] = name;
    for (const auto& [value, name] : by_value) text += std::to_string(value) + "   " + name + "\n";
  }
  type(kSentBytes, "Send Size in MPI Global OP");
  type(kReceivedBytes, "Recv Size in MPI Global OP");
  type(kIsRoot, "Root in MPI Global OP");
  type(kCommunicator, "Communicator in MPI Global OP");
  type(kCallsInRow, "Calls in a row");
  write_new_file(stem_ + ".pcf", text);
}

void ParaverFile::write_rows() {
  std::string text;
  for (const char* level : {"CPU", "THREAD"}) {
    text += std::string("LEVEL ") + level + " SIZE " + std::to_string(reader_.ranks()) + "\n";
    for (int r = 0; r < reader_.ranks(); ++r)
      text += (std::string_view(level) == "CPU" ? "CPU " : "rank ") + std::to_string(r) + "\n";
    text += "\n";
  }
  write_new_file(stem_ + ".row", text);
}

}  // namespace

Notes write_paraver(trace::TraceReader& reader, const std::string& path, const trace::TellPlace&) {
  if (!path.ends_with(".prv") || path.size() == 4)
    throw Error(path + ": a Paraver trace's name ends in .prv");
  if (reader.info().clock == trace::Clock::cpu)
    throw Error(reader.path() +
                ": a recording by CPU time does not know when its calls were, which Paraver needs; "
                "record with --clock wall, or simulate the run with -o");
  Notes notes{
      "times are whole nanoseconds; communicators of messages, requests, call sites, marks' "
      "values, "
      "the counts of members and the sizes of one-sided calls and file calls have no place in this "
      "format"};
  note_lone_messages(notes, ParaverFile(reader, path).write());
  return notes;
}

}  // namespace foretrace::formats
