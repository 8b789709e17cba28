// Paraver in, as Extrae writes it: MPI's events and the communications of one application. The
// file goes by time; what it holds of states says nothing that the events do not.
#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>

#include "base/error.hpp"
#include "formats/formats.hpp"
#include "formats/paraver_common.hpp"
#include "formats/rank_streams.hpp"

namespace foretrace::formats {
namespace {

using machine::Cost;

constexpr std::int64_t kMostTasks = 1 << 20;
constexpr std::int64_t kLatestNs = INT64_MAX / 8000;

// The numbers of a record, which colons separate.
class Fields {
 public:
  explicit Fields(std::string_view text) : text_(text) {}
  bool more() const { return !done_; }
  std::int64_t next(const char* what) {
    if (done_) throw Error(std::string("expected ") + what + ", found the record's end");
    const std::size_t end = text_.find(':');
    const std::string_view part = text_.substr(0, end);
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || stop != part.data() + part.size())
      throw Error(std::string("expected ") + what + ", found '" + std::string(part.substr(0, 30)) +
                  "'");
    done_ = end == text_.npos;
    text_ = done_ ? std::string_view() : text_.substr(end + 1);
    return value;
  }

 private:
  std::string_view text_;
  bool done_ = false;
};

// A message on its way to a rank's call.
struct Arrival {
  std::int64_t posted = 0;  // logical receive, ns
  std::int64_t received = 0;
  ForeignMessage message;
};

struct OpenReceive {
  std::int64_t from = 0;  // its call, ns
  std::int64_t until = 0;
  std::uint64_t request = 0;
};

// Calls that post receives but do not say so by their name: how many is told by their messages.
bool may_post_receives(std::string_view call) {
  return std::ranges::any_of(
      std::array{"MPI_Start", "MPI_Isendrecv", "MPI_Ineighbor_", "MPI_Pready"},
      [call](const char* start) { return call.starts_with(start); });
}

bool receives(const std::string& call) {
  return call.find("recv") != std::string::npos || call.find("Recv") != std::string::npos;
}

// What is going on on a task.
struct Task {
  std::string call;  // empty: none
  // When each of its messages' receives was posted, and when it came; ascending. Only where calls
  // of the trace may_post_receives().
  std::vector<std::pair<std::int64_t, std::int64_t>> posted;
  std::size_t next_posted = 0;  // of the calls from here on
  std::int64_t type = 0;
  std::int64_t entered = 0;
  std::int64_t sent_bytes = 0;
  std::int64_t received_bytes = 0;
  std::int64_t comm = 0;
  bool is_root = false;
  std::vector<std::pair<std::int64_t, ForeignMessage>> sends;  // by logical time
  std::deque<Arrival> arrivals;
  std::deque<OpenReceive> receives;
  std::deque<std::uint64_t> open_sends;
  std::uint64_t requests = 0;
  std::vector<std::string> functions;
  std::map<std::int64_t, std::size_t> collectives;  // by communicator: how many so far
};

class ParaverInput {
 public:
  ParaverInput(const std::string& from, const std::string& to) : path_(from), to_(to) {}

  Notes read() {
    read_names();
    survey();
    trace::TraceInfo info;
    info.ranks = static_cast<int>(tasks_.size());
    info.clock = trace::Clock::wall;
    info.program = std::filesystem::path(path_).filename().string();
    info.origin = "convert";
    info.options = "from=paraver";
    streams_ = std::make_unique<RankStreams>(to_, info, missing_, comms_);
    for (Task& task : tasks_) task.collectives.clear();
    each_record([this](int kind, Fields fields) {
      if (kind == 2) take_events(fields);
      if (kind == 3) take_communication(fields);
    });
    for (const Task& task : tasks_)
      for (std::size_t i = 0; i < task.arrivals.size(); ++i)
        missing_.add("the call that received a message; it is received by none");
    streams_->finish(time(last_), cut_at_ == 0);
    Notes notes = missing_.notes();
    if (cut_at_ > 0)
      notes.push_back("the file was cut off at offset " + std::to_string(cut_at_) +
                      ", in the middle of a record; what stands before it is kept");
    return notes;
  }

 private:
  void read_names();
  void survey();
  void read_header(std::string_view line);
  void survey_communicator(std::string_view line);
  void survey_events(Fields fields);
  void survey_communication(Fields fields);
  template <class Work>
  void each_record(Work&& work);
  int take_task(Fields& fields, std::int64_t& at);
  void take_events(Fields fields);
  void take_communication(Fields fields);
  void begin_call(int rank, std::int64_t type, std::int64_t value, std::int64_t at,
                  std::int64_t in_row);
  void end_call(int rank, std::int64_t at);
  void end_collective(int rank, Cost cost);
  void end_posts(int rank, std::int64_t at);
  void end_waits(int rank, std::int64_t at);
  void take_function(int rank, std::int64_t type, std::int64_t value, std::int64_t at);
  std::string name_of(std::int64_t type, std::int64_t value) const;
  Time time(std::int64_t ns) const { return Time::ns(ns - std::min(first_, ns)); }

  std::string path_;
  std::string to_;
  Missing missing_;
  std::unique_ptr<RankStreams> streams_;
  std::vector<Task> tasks_;
  std::vector<trace::Communicator> comms_;
  std::map<std::int64_t, std::size_t> comm_ids_;
  // The root of each communicator's collectives, one after another: told by the root alone.
  std::map<std::int64_t, std::vector<std::int32_t>> roots_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> names_;
  std::int64_t first_ = kLatestNs;
  std::int64_t last_ = 0;
  std::uint64_t cut_at_ = 0;  // the record that the file ends in; 0: none
  bool may_post_ = false;     // a call of it may_post_receives()
};

// NAME.pcf: what values mean; without it those of Extrae.
void ParaverInput::read_names() {
  std::ifstream in(path_.substr(0, path_.size() - 4) + ".pcf");
  std::string line;
  std::vector<std::int64_t> types;
  bool values = false;
  while (std::getline(in, line)) {
    if (line.find_first_not_of(" \t\r") == line.npos) {
      types.clear();
      values = false;
    } else if (line.starts_with("EVENT_TYPE")) {
      types.clear();
      values = false;
    } else if (line.starts_with("VALUES")) {
      values = true;
    } else {
      std::string_view rest = line;
      std::int64_t number = 0;
      const auto take = [&] {
        while (rest.starts_with(' ') || rest.starts_with('\t')) rest.remove_prefix(1);
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        return error == std::errc();
      };
      if (!take()) continue;
      if (!values) {
        if (take()) types.push_back(number);
        continue;
      }
      while (rest.starts_with(' ') || rest.starts_with('\t')) rest.remove_prefix(1);
      while (rest.ends_with('\r') || rest.ends_with(' ')) rest.remove_suffix(1);
      for (const std::int64_t type : types)
        names_[{type, number}] = std::string(rest.substr(0, 4096));
    }
  }
}

std::string ParaverInput::name_of(std::int64_t type, std::int64_t value) const {
  const auto found = names_.find({type, value});
  if (found != names_.end()) return found->second;
  const std::string_view known = is_call_type(type) ? call_of_value(value) : std::string_view();
  return known.empty() ? std::to_string(type) + ":" + std::to_string(value) : std::string(known);
}

template <class Work>
void ParaverInput::each_record(Work&& work) {
  std::ifstream in(path_, std::ios::binary);
  if (!in) throw Error(path_ + ": cannot open the file");
  std::string line;
  std::uint64_t offset = 0;
  while (std::getline(in, line)) {
    // Half a record may look like a whole one.
    if (in.eof() && offset > 0) {
      cut_at_ = offset;
      return;
    }
    try {
      if (line.ends_with('\r')) line.pop_back();
      if (offset == 0) {
        read_header(line);
      } else if (line.starts_with("c:")) {
        if (!streams_) survey_communicator(std::string_view(line).substr(2));
      } else if (!line.empty() && line[0] != '#') {
        Fields fields(line);
        const std::int64_t kind = fields.next("a kind of record");
        if (kind < 1 || kind > 3)
          throw Error("expected a record 1, 2, 3 or c, found " + std::to_string(kind));
        work(static_cast<int>(kind), fields);
      }
    } catch (const Error& error) {
      throw Error(path_ + ": offset " + std::to_string(offset) + ": " + error.what());
    }
    offset = static_cast<std::uint64_t>(std::max<std::streamoff>(in.tellg(), 1));
  }
  if (offset == 0) throw Error(path_ + ": expected a Paraver trace, found an empty file");
}

// "#Paraver (day at time):end_ns:nodes(cpus,..):applications:tasks(threads:node,..),..."
void ParaverInput::read_header(std::string_view line) {
  const std::size_t day = line.find("):");
  if (!line.starts_with("#Paraver (") || day == line.npos)
    throw Error("expected '#Paraver (date):...', found '" + std::string(line.substr(0, 30)) + "'");
  if (streams_ || !tasks_.empty()) return;
  line.remove_prefix(day + 2);
  const auto part = [&line](char until) {
    const std::size_t end = line.find(until);
    if (end == line.npos) throw Error("expected the number of tasks in the header, found none");
    const std::string_view text = line.substr(0, end);
    line.remove_prefix(end + 1);
    return text;
  };
  const std::string_view end = part(':');
  if (!end.ends_with("_ns")) missing_.add("times in nanoseconds; they are taken as such");
  const std::size_t bracket = line.find_first_of("(:");
  if (bracket != line.npos && line[bracket] == '(') part(')');
  part(':');
  const std::string_view applications = part(':');
  if (applications != "1")
    throw Error("expected one application, found '" + std::string(applications.substr(0, 20)) +
                "'");
  const std::string_view tasks = part('(');
  std::int64_t count = 0;
  const auto [stop, error] = std::from_chars(tasks.data(), tasks.data() + tasks.size(), count);
  if (error != std::errc() || stop != tasks.data() + tasks.size() || count < 1 ||
      count > kMostTasks)
    throw Error("expected a number of tasks, found '" + std::string(tasks.substr(0, 20)) + "'");
  tasks_.resize(static_cast<std::size_t>(count));
  comms_.emplace_back();
  for (int r = 0; r < count; ++r) comms_.front().members.push_back(WorldRank(r));
}

// "c:application:id:size:task:task:..."
void ParaverInput::survey_communicator(std::string_view line) {
  Fields fields(line);
  fields.next("an application");
  const std::int64_t id = fields.next("a communicator");
  const std::int64_t size = fields.next("a number of members");
  if (size < 0 || size > static_cast<std::int64_t>(tasks_.size()))
    throw Error("expected at most " + std::to_string(tasks_.size()) + " members, found " +
                std::to_string(size));
  trace::Communicator comm;
  comm.key = static_cast<std::uint64_t>(id) + 1;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t task = fields.next("a member");
    if (task < 1 || task > static_cast<std::int64_t>(tasks_.size()))
      throw Error("expected a task, found " + std::to_string(task));
    comm.members.push_back(WorldRank(static_cast<std::int32_t>(task - 1)));
  }
  const bool is_world =
      comm.members == comms_.front().members &&
      std::ranges::none_of(comm_ids_, [](const auto& e) { return e.second == 0; });
  comm_ids_[id] = is_world ? 0 : comms_.size();
  if (!is_world) comms_.push_back(std::move(comm));
}

// cpu:application:task:thread:time
int ParaverInput::take_task(Fields& fields, std::int64_t& at) {
  fields.next("a processor");
  fields.next("an application");
  const std::int64_t task = fields.next("a task");
  const std::int64_t thread = fields.next("a thread");
  at = fields.next("a time");
  if (task < 1 || task > static_cast<std::int64_t>(tasks_.size()))
    throw Error("expected a task up to " + std::to_string(tasks_.size()) + ", found " +
                std::to_string(task));
  if (at < 0 || at > kLatestNs) throw Error("expected a time in ns, found " + std::to_string(at));
  return thread == 1 ? static_cast<int>(task - 1) : -1;
}

void ParaverInput::survey_events(Fields fields) {
  std::int64_t at = 0;
  const int rank = take_task(fields, at);
  if (rank < 0) return;
  Task& task = tasks_[static_cast<std::size_t>(rank)];
  std::int64_t comm = 0;
  bool collective = false;
  bool is_root = false;
  bool call = false;
  while (fields.more()) {
    const std::int64_t type = fields.next("a type");
    const std::int64_t value = fields.next("a value");
    if (is_call_type(type)) call = true;
    if (is_call_type(type) && !may_post_) may_post_ = may_post_receives(name_of(type, value));
    if (type == kCollective && value != 0) collective = true;
    if (type == kIsRoot && value != 0) is_root = true;
    if (type == kCommunicator) comm = value;
  }
  if (call) first_ = std::min(first_, at);
  last_ = std::max(last_, at);
  if (!collective) return;
  const std::size_t n = task.collectives[comm]++;
  if (!is_root) return;
  auto& roots = roots_[comm];
  if (roots.size() <= n) roots.resize(n + 1, -1);
  roots[n] = rank;
}

void ParaverInput::survey() {
  each_record([this](int kind, Fields fields) {
    if (kind == 2) survey_events(fields);
  });
  if (first_ > last_) first_ = 0;
  if (!may_post_) return;
  each_record([this](int kind, Fields fields) {
    if (kind == 3) survey_communication(fields);
  });
  for (Task& task : tasks_) std::ranges::sort(task.posted);
}

void ParaverInput::survey_communication(Fields fields) {
  std::int64_t at = 0;
  take_task(fields, at);
  fields.next("a physical send");
  std::int64_t posted = 0;
  const int to = take_task(fields, posted);
  if (to >= 0)
    tasks_[static_cast<std::size_t>(to)].posted.emplace_back(posted,
                                                             fields.next("a physical receive"));
}

void ParaverInput::take_communication(Fields fields) {
  std::int64_t logical_send = 0;
  const int from = take_task(fields, logical_send);
  fields.next("a physical send");
  std::int64_t logical_receive = 0;
  const int to = take_task(fields, logical_receive);
  const std::int64_t received = fields.next("a physical receive");
  const std::int64_t size = fields.next("a size");
  const std::int64_t tag = fields.next("a tag");
  if (size < 0) throw Error("expected a size, found " + std::to_string(size));
  if (from < 0 || to < 0)
    return missing_.add("a message of another thread than a rank's first; it is left out");
  ForeignMessage message;
  message.tag = static_cast<std::int32_t>(tag);
  message.bytes = Bytes(static_cast<std::uint64_t>(size));
  message.peer = WorldRank(to);
  tasks_[static_cast<std::size_t>(from)].sends.emplace_back(logical_send, message);
  message.peer = WorldRank(from);
  tasks_[static_cast<std::size_t>(to)].arrivals.push_back({logical_receive, received, message});
}

void ParaverInput::take_function(int rank, std::int64_t type, std::int64_t value, std::int64_t at) {
  Task& task = tasks_[static_cast<std::size_t>(rank)];
  RankEvents& events = streams_->rank(rank);
  if (value != 0) {
    task.functions.push_back(name_of(type, value));
    events.enter(time(at), task.functions.back(), false);
  } else if (!task.functions.empty()) {
    events.leave(time(at), task.functions.back(), false);
    task.functions.pop_back();
  }
}

void ParaverInput::take_events(Fields fields) {
  std::int64_t at = 0;
  const int rank = take_task(fields, at);
  if (rank < 0) return;
  Task& task = tasks_[static_cast<std::size_t>(rank)];
  std::int64_t call_type = 0;
  std::int64_t call = -1;
  std::int64_t in_row = 1;
  while (fields.more()) {
    const std::int64_t type = fields.next("a type");
    const std::int64_t value = fields.next("a value");
    if (is_call_type(type)) {
      call_type = type;
      call = value;
    } else if (type == kSentBytes) {
      task.sent_bytes = value;
    } else if (type == kReceivedBytes) {
      task.received_bytes = value;
    } else if (type == kIsRoot) {
      task.is_root = value != 0;
    } else if (type == kCommunicator) {
      task.comm = value;
    } else if (type == kCallsInRow) {
      in_row = value;
    } else if (type == kUserFunction) {
      take_function(rank, type, value, at);
    }
  }
  if (call > 0) begin_call(rank, call_type, call, at, in_row);
  if (call == 0) end_call(rank, at);
}

void ParaverInput::begin_call(int rank, std::int64_t type, std::int64_t value, std::int64_t at,
                              std::int64_t in_row) {
  Task& task = tasks_[static_cast<std::size_t>(rank)];
  if (!task.call.empty()) return missing_.add("the end of " + task.call);
  task.call = name_of(type, value);
  task.type = type;
  task.entered = at;
  CallHints hints;
  hints.count = static_cast<std::uint32_t>(std::clamp<std::int64_t>(in_row, 0, UINT32_MAX));
  streams_->rank(rank).enter(time(at), task.call, true, std::move(hints));
}

// What is told of a collective: Extrae writes a call's own size, which of the two depends on
// who sends.
void ParaverInput::end_collective(int rank, Cost cost) {
  Task& task = tasks_[static_cast<std::size_t>(rank)];
  ForeignCollective what;
  what.cost = cost;
  const auto comm = comm_ids_.find(task.comm);
  what.comm = comm == comm_ids_.end() ? 0 : comm->second;
  if (comm == comm_ids_.end() && task.comm != 0)
    missing_.add("the definition of a communicator; taken as MPI_COMM_WORLD");
  const auto& members = comms_[what.comm].members;
  if (std::ranges::find(members, WorldRank(rank)) == members.end())
    throw Error("expected a communicator of the task's own, found " + std::to_string(task.comm));
  const auto bytes = std::max({task.sent_bytes, task.received_bytes, std::int64_t{0}});
  what.bytes = Bytes(static_cast<std::uint64_t>(bytes));
  const auto& roots = roots_[task.comm];
  const std::size_t n = task.collectives[task.comm]++;
  if (n < roots.size() && roots[n] >= 0) {
    const auto found = std::ranges::find(members, WorldRank(roots[n]));
    if (found != members.end())
      what.root = LocalRank(static_cast<std::int32_t>(found - members.begin()));
  }
  streams_->rank(rank).collective(what);
}

void ParaverInput::end_posts(int rank, std::int64_t at) {
  Task& task = tasks_[static_cast<std::size_t>(rank)];
  RankEvents& events = streams_->rank(rank);
  const bool posts =
      task.call.find("Is") != std::string::npos || task.call.find("Ib") != std::string::npos ||
      task.call.find("Ir") != std::string::npos || task.call.find("Start") != std::string::npos;
  for (const auto& [sent, message] : task.sends) {
    if (!posts) {
      events.sent(message);
      continue;
    }
    events.posted_send(++task.requests, message);
    task.open_sends.push_back(task.requests);
  }
  task.sends.clear();
  const auto post = [&] {
    events.posted_receive(++task.requests);
    task.receives.push_back({task.entered, at, task.requests});
  };
  const bool is_one = task.call == "MPI_Irecv" || task.call == "MPI_Imrecv";
  if (is_one) post();
  const bool is_posting = may_post_receives(task.call);
  if (!is_one && !is_posting && !receives(task.call)) return;
  // A receive that was posted when one call ended and the next began is the next one's; calls may
  // take no time.
  const bool takes_one = is_one || task.call == "MPI_Start";
  for (; task.next_posted < task.posted.size(); ++task.next_posted) {
    const auto& [posted, received] = task.posted[task.next_posted];
    if (posted >= std::max(at, task.entered + 1)) break;
    if (posted < task.entered) continue;
    if (!is_one && !is_posting && received > at) break;
    if (is_posting && received > at) post();
    if (!takes_one) continue;
    ++task.next_posted;
    break;
  }
}

void ParaverInput::end_waits(int rank, std::int64_t at) {
  Task& task = tasks_[static_cast<std::size_t>(rank)];
  RankEvents& events = streams_->rank(rank);
  bool received = false;
  for (auto arrival = task.arrivals.begin(); arrival != task.arrivals.end();) {
    // The call before it may end where this one begins.
    auto receive = std::ranges::find(task.receives, arrival->posted, &OpenReceive::from);
    if (receive == task.receives.end())
      receive = std::ranges::find_if(task.receives, [&](const OpenReceive& open) {
        return open.from <= arrival->posted && arrival->posted <= open.until;
      });
    if (receive == task.receives.end() || arrival->received > at) {
      ++arrival;
      continue;
    }
    events.completed_receive(receive->request, arrival->message);
    received = true;
    task.receives.erase(receive);
    arrival = task.arrivals.erase(arrival);
  }
  // Which sends are completed is not told: all by Waitall, the oldest by another one.
  const bool all = task.call == "MPI_Waitall";
  while (!task.open_sends.empty() && (all || (!received && task.call == "MPI_Wait"))) {
    events.completed(task.open_sends.front());
    task.open_sends.pop_front();
    if (!all) {
      missing_.add("which posted send an MPI_Wait completed; taken as the oldest");
      break;
    }
  }
}

void ParaverInput::end_call(int rank, std::int64_t at) {
  Task& task = tasks_[static_cast<std::size_t>(rank)];
  if (task.call.empty()) return;
  RankEvents& events = streams_->rank(rank);
  const auto cost = task.type == kCollective ? collective_called(task.call) : std::nullopt;
  end_posts(rank, at);
  if (task.call.starts_with("MPI_Wait") || task.call.starts_with("MPI_Test")) end_waits(rank, at);
  if (receives(task.call) && task.call != "MPI_Irecv" && task.call != "MPI_Imrecv") {
    // One message: the next call may begin where this one ends.
    const auto arrival = std::ranges::find_if(task.arrivals, [&](const Arrival& one) {
      return task.entered <= one.posted && one.posted <= at && one.received <= at;
    });
    if (arrival != task.arrivals.end()) {
      events.received(arrival->message);
      task.arrivals.erase(arrival);
    }
  }
  if (cost)
    end_collective(rank, *cost);
  else if (task.type == kCollective)
    ++task.collectives[task.comm];
  events.leave(time(at), task.call, true);
  task.call.clear();
  task.is_root = false;
  task.sent_bytes = task.received_bytes = task.comm = 0;
}

}  // namespace

Notes read_paraver(const std::string& from, const std::string& to) {
  return ParaverInput(from, to).read();
}

}  // namespace foretrace::formats
