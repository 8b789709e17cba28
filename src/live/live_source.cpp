#include "live/live_source.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <numeric>
#include <thread>

#include "base/error.hpp"
#include "live/context.hpp"
#include "live/heap.hpp"

namespace foretrace::live {

using trace::EventKind;

namespace {

constexpr std::uint64_t kHiddenKey = std::uint64_t{1} << 63;

// How long the run may go on after the death of a rank.
constexpr std::chrono::nanoseconds kGrace = std::chrono::seconds(1);

volatile std::sig_atomic_t stop_signal = 0;

int cores() {
  return std::max(1U, std::thread::hardware_concurrency());
}

int with_shared_memory(int ranks, int cores) {
  SharedMemory::create(ranks, cores);
  heap::begin(-1);
  return ranks;
}

std::uint64_t allocate(std::uint64_t bytes) {
  const std::uint64_t place = heap::allocate(bytes);
  if (place == 0) throw Error("the memory that the ranks share is full");
  return place;
}

std::string describe(const Ended& end) {
  if (end.signal != 0)
    return "killed by signal " + std::to_string(end.signal) + " (" + ::strsignal(end.signal) + ")";
  return "exited with status " + std::to_string(end.status) + " without MPI_Finalize";
}

trace::Endpoint endpoint(std::int32_t peer, std::int32_t tag, std::uint64_t bytes) {
  trace::Endpoint end;
  if (peer >= 0) end.peer = WorldRank(peer);
  end.tag = tag;
  end.bytes = Bytes(bytes);
  return end;
}

Result result_of(const trace::Completion& completion) {
  Result result;
  result.request = completion.request;
  result.source = completion.source.valid() ? completion.source.value : -1;
  result.tag = completion.tag;
  result.bytes = completion.bytes.count;
  result.cancelled = completion.cancelled;
  return result;
}

}  // namespace

void end_runs_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int signal) {
    stop_signal = signal;
    ring_bell();
  };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

LiveSource::LiveSource(const Command& command, int ranks, Measured measured)
    : cores_(cores()),
      counted_since_(std::chrono::steady_clock::now()),
      ranks_(with_shared_memory(ranks, cores_)),
      processes_(command, ranks),
      states_(static_cast<std::size_t>(ranks)),
      comms_of_(static_cast<std::size_t>(ranks)) {
  SharedMemory::header().measured = measured;
  trace::Communicator world;
  world.members.resize(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) world.members[static_cast<std::size_t>(r)] = WorldRank(r);
  comms_.push_back(std::move(world));
  for (int r = 0; r < ranks; ++r) {
    trace::Communicator self;
    self.key = static_cast<std::uint64_t>(r) << 32 | UINT32_MAX;
    self.members.push_back(WorldRank(r));
    comms_.push_back(std::move(self));
  }
  comm_states_.resize(comms_.size());
}

bool LiveSource::ready(WorldRank rank) const {
  const Rank& state = states_[static_cast<std::size_t>(rank.value)];
  return state.gone || ready_to_read(rank);
}

bool LiveSource::ready_to_read(WorldRank rank) const {
  const Slot& line = slot(rank);
  return line.posted.load(std::memory_order_acquire) != line.taken.load(std::memory_order_relaxed);
}

// Whether the rank's process ended between MPI_Init and MPI_Finalize.
bool LiveSource::died(WorldRank rank) const {
  const Slot& line = slot(rank);
  const std::uint32_t posted = line.posted.load(std::memory_order_acquire);
  return states_[static_cast<std::size_t>(rank.value)].gone && posted > 0 &&
         static_cast<EventKind>(line.ring[(posted - 1) % kRing].kind) != EventKind::finalize;
}

void LiveSource::look_after_processes() {
  for (const Ended& end : processes_.ended()) {
    Slot& line = SharedMemory::slot(end.rank);
    Rank& of = states_[static_cast<std::size_t>(end.rank)];
    of.gone = true;
    of.end = end;
    if (!died_ && died(WorldRank(end.rank))) died_ = std::chrono::steady_clock::now();
    count_running(-line.cores.exchange(0));
  }
  processes_.start_more();
}

// Lets the rank go on; now and then looks how often that happens.
void LiveSource::go_on(WorldRank rank) {
  constexpr std::uint32_t kSample = 4096;
  // A rank that computes for less than this hands over sooner than another core
  // would have helped it.
  constexpr std::chrono::microseconds kShort{25};
  constexpr std::chrono::microseconds kLong{70};
  let_go_on(rank.value);
  if (++hand_overs_ < kSample) return;
  const auto now = std::chrono::steady_clock::now();
  const auto each = (now - counted_since_) / kSample;
  hand_overs_ = 0;
  counted_since_ = now;
  if (followed_ == 0 ? each < kShort : each > kLong) {
    run_together(followed_ == 0, cores_);
    follow_core(followed_);
  }
}

void LiveSource::wait_for(WorldRank rank) {
  Header& header = SharedMemory::header();
  for (;;) {
    const std::uint32_t bell = header.bell.load(std::memory_order_acquire);
    look_after_processes();
    if (ready(rank)) return;
    end_if_dead();
    wait_for_bell(bell, died_ ? kGrace : std::chrono::nanoseconds(0));
  }
}

// A rank has died, and the engine does not come to it: the one that it waits for
// may compute for ever.
void LiveSource::end_if_dead() {
  if (stop_signal != 0) throw RunEnded{128 + stop_signal, "interrupted"};
  if (!died_ || std::chrono::steady_clock::now() - *died_ < kGrace) return;
  for (int r = 0; r < ranks_; ++r) {
    sim::Operation operation;
    if (!died(WorldRank(r))) continue;
    end_of(WorldRank(r), operation);
    throw RunEnded{state(WorldRank(r)).record.code, std::exchange(message_, {})};
  }
}

bool LiveSource::next(WorldRank rank, sim::Operation& operation) {
  if (stop_signal != 0) throw RunEnded{128 + stop_signal, "interrupted"};
  for (;;) {
    if (!ready(rank)) wait_for(rank);
    Slot& line = slot(rank);
    const std::uint32_t at = line.taken.load(std::memory_order_relaxed);
    if (at == line.posted.load(std::memory_order_acquire)) return end_of(rank, operation);
    state(rank).record = line.ring[at % kRing];
    const bool is_operation = treat(rank, operation);
    if (make_room(rank.value)) go_on(rank);
    if (is_operation) return true;
  }
}

// The record at hand; false if it is none for the engine.
bool LiveSource::treat(WorldRank rank, sim::Operation& operation) {
  Rank& of = state(rank);
  const Record& record = of.record;
  switch (record.posting) {
    case Posting::comm: {
      const auto* members = SharedMemory::at<std::int32_t>(record.list);
      std::vector<WorldRank> ranks;
      for (std::uint64_t i = 0; i < record.list_count; ++i) ranks.emplace_back(members[i]);
      slot(rank).answer.context = add_comm(std::move(ranks));
      go_on(rank);
      return false;
    }
    case Posting::name: {
      std::string text(SharedMemory::at<char>(record.list), record.list_count);
      heap::free(record.list);
      read_names();
      const auto [entry, added] =
          own_names_.try_emplace(text, static_cast<std::uint32_t>(names_.size()));
      if (added) names_.push_back(text);
      of.names.push_back(entry->second);
      return false;
    }
    case Posting::operation:
      break;
  }
  fill(rank, record, operation);
  return true;
}

void LiveSource::fill(WorldRank rank, const Record& record, sim::Operation& operation) {
  Rank& of = state(rank);
  operation = sim::Operation();
  operation.kind = static_cast<EventKind>(record.kind);
  operation.mode = static_cast<machine::SendMode>(record.mode);
  operation.collective = static_cast<machine::Cost>(record.collective);
  operation.completing = static_cast<sim::Completing>(record.completing);
  operation.probing = static_cast<sim::Probing>(record.probing);
  operation.locking = static_cast<sim::Locking>(record.locking);
  operation.name = record.name < kOwnNames ? record.name : of.names.at(record.name - kOwnNames);
  operation.comm = comm_of(record);
  operation.count = record.count;
  operation.compute = Time::ps(record.compute);
  operation.steps = record.steps;
  operation.send = endpoint(record.send_peer, record.send_tag, record.send_bytes);
  operation.recv = endpoint(record.recv_peer, record.recv_tag, record.recv_bytes);
  operation.recv.any_source = record.any_source;
  operation.recv.any_tag = record.any_tag;
  operation.bytes = Bytes(record.bytes);
  if (record.root >= 0) operation.root = LocalRank(record.root);
  operation.code = record.code;
  operation.request = record.request;
  operation.payload = record.payload;
  operation.taken = record.taken;
  operation.cancel = record.cancel;
  operation.lock = record.lock;
  operation.patience = Time::ps(record.patience);
  switch (operation.kind) {
    case EventKind::init:
      of.initialized = true;
      break;
    case EventKind::finalize:
      of.finalized = true;
      break;
    case EventKind::aborted:
      if (record.list != 0) message_.assign(SharedMemory::at<char>(record.list), record.list_count);
      break;
    case EventKind::complete: {
      const std::uint64_t* numbers =
          record.list != 0 ? SharedMemory::at<std::uint64_t>(record.list) : slot(rank).numbers;
      of.requests.clear();
      for (std::uint64_t i = 0; i < record.list_count; ++i)
        of.requests.push_back({numbers[i], {}, 0, {}, false});
      operation.completions = of.requests;
      break;
    }
    case EventKind::collective:
    case EventKind::icollective:
      enter_collective(rank, record);
      break;
    default:
      break;
  }
}

// The end of a process: of its stream if it finalised or never came to MPI,
// else the end of the run.
bool LiveSource::end_of(WorldRank rank, sim::Operation& operation) {
  Rank& of = state(rank);
  if (of.reported || !died(rank)) return false;
  of.reported = true;
  operation = sim::Operation();
  operation.kind = EventKind::aborted;
  operation.code = of.end.signal != 0 ? of.end.signal : -of.end.status - 1;
  of.record = Record();
  of.record.kind = static_cast<std::uint8_t>(EventKind::aborted);
  of.record.code = of.end.signal != 0 ? 128 + of.end.signal : std::max(of.end.status, 1);
  message_ = "rank " + std::to_string(rank.value) + ": " + describe(of.end);
  read_names();
  const auto abort = std::ranges::find(names_, "MPI_Abort");
  operation.name = static_cast<trace::NameId>(abort - names_.begin());
  return true;
}

void LiveSource::enter_collective(WorldRank rank, const Record& record) {
  CommState& comm = comm_states_.at(record.comm);
  const std::size_t members = comms_[record.comm].members.size();
  if (comm.next.empty()) comm.next.resize(members);
  const auto place = static_cast<std::size_t>(record.place);
  Rank& of = state(rank);
  of.instance = comm.next.at(place)++;
  Instance& current = instance(record.comm, of.instance);
  if (current.place == 0 &&
      (record.payload != 0 || record.split ||
       static_cast<machine::Cost>(record.collective) != machine::Cost::barrier))
    make_gathering(record.comm, current);
  if (record.payload != 0) {
    auto* contributions =
        reinterpret_cast<Contribution*>(SharedMemory::at<Gathering>(current.place) + 1);
    contributions[place] = {record.payload, record.send_bytes};
  }
  if (record.split) {
    current.split = true;
    current.colours.resize(members);
    current.colours[place] = {record.colour, record.key};
  }
  if (static_cast<EventKind>(record.kind) == EventKind::icollective)
    of.posted[record.request] = {record.comm, current.place};
  ++current.entered;
}

LiveSource::Instance& LiveSource::instance(trace::CommId id, std::uint64_t number) {
  CommState& comm = comm_states_[id];
  while (comm.base + comm.open.size() <= number) comm.open.emplace_back();
  return comm.open[number - comm.base];
}

void LiveSource::make_gathering(trace::CommId comm, Instance& instance) {
  const std::size_t members = comms_[comm].members.size();
  instance.place = allocate(sizeof(Gathering) + members * sizeof(Contribution));
  auto* gathering = new (SharedMemory::at<Gathering>(instance.place)) Gathering;
  gathering->members = static_cast<std::uint32_t>(members);
  gathering->holders.store(gathering->members, std::memory_order_relaxed);
  std::uninitialized_value_construct_n(reinterpret_cast<Contribution*>(gathering + 1), members);
}

// The communicators of a split: a group for each colour, by key, then place.
void LiveSource::make_split(trace::CommId comm, Instance& instance) {
  if (!instance.made.empty()) return;
  const std::vector<WorldRank> members = comms_[comm].members;
  instance.made.resize(members.size());
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return instance.colours[a] < instance.colours[b];
  });
  const std::uint64_t lists = allocate(members.size() * sizeof(std::int32_t));
  SharedMemory::at<Gathering>(instance.place)->splits = lists;
  auto* list = SharedMemory::at<std::int32_t>(lists);
  for (std::size_t i = 0; i < order.size(); ++i) list[i] = members[order[i]].value;
  for (std::size_t first = 0; first < order.size();) {
    const std::int32_t colour = instance.colours[order[first]].first;
    std::size_t last = first;
    std::vector<WorldRank> group;
    for (; last < order.size() && instance.colours[order[last]].first == colour; ++last)
      group.push_back(members[order[last]]);
    if (colour >= 0) {
      const trace::CommId made = add_comm(std::move(group));
      for (std::size_t i = first; i < last; ++i)
        instance.made[order[i]] = {made, lists + first * sizeof(std::int32_t)};
    }
    first = last;
  }
}

trace::CommId LiveSource::add_comm(std::vector<WorldRank> members) {
  trace::Communicator comm;
  const WorldRank first = members.front();
  comm.key = static_cast<std::uint64_t>(first.value) << 32 |
             ++comms_of_[static_cast<std::size_t>(first.value)];
  comm.members = std::move(members);
  comms_.push_back(std::move(comm));
  comm_states_.emplace_back();
  return static_cast<trace::CommId>(comms_.size() - 1);
}

void LiveSource::completed(WorldRank rank, const sim::Operation& operation,
                           const sim::Interval& interval, const sim::Outcome& outcome) {
  Rank& of = state(rank);
  if (operation.kind == EventKind::aborted)
    throw RunEnded{of.record.code, std::exchange(message_, {})};
  const Record& record = of.record;
  Slot& line = slot(rank);
  Answer& answer = line.answer;
  if (operation.kind == EventKind::collective) answer_collective(record, of.instance, answer);
  if (!record.answer) return;
  answer.clock = interval.leave.count_ps();
  answer.found = outcome.message.peer.valid();
  if (answer.found)
    answer.message = {operation.request,   outcome.message.peer.value,
                      outcome.message.tag, outcome.message.bytes.count,
                      outcome.payload,     false};
  answer.completed = 0;
  if (static_cast<EventKind>(record.kind) == EventKind::complete)
    answer_completions(of, line, outcome);
  go_on(rank);
}

void LiveSource::answer_collective(const Record& record, std::uint64_t number, Answer& answer) {
  CommState& comm = comm_states_[record.comm];
  Instance& current = comm.open[number - comm.base];
  answer.gathered = current.place;
  if (current.split) {
    make_split(record.comm, current);
    const auto& [made, members] = current.made[static_cast<std::size_t>(record.place)];
    answer.context = made;
    answer.members = members;
    answer.member_count = made != 0 ? static_cast<std::uint32_t>(comms_[made].members.size()) : 0;
  }
  // Instances that all have entered and that hold nothing for others to fetch.
  if (!current.split)
    while (!comm.open.empty() && comm.open.front().entered == comms_[record.comm].members.size() &&
           comm.base < number) {
      comm.open.pop_front();
      ++comm.base;
    }
}

void LiveSource::answer_completions(Rank& of, Slot& line, const sim::Outcome& outcome) {
  const std::size_t count = outcome.completions.size();
  Result* results = line.results;
  line.answer.completed = static_cast<std::uint32_t>(count);
  line.answer.results = 0;
  if (count > kTable) {
    line.answer.results = allocate(count * sizeof(Result));
    results = SharedMemory::at<Result>(line.answer.results);
  }
  for (std::size_t i = 0; i < count; ++i) {
    results[i] = result_of(outcome.completions[i]);
    const auto posted = of.posted.find(results[i].request);
    if (posted == of.posted.end()) {
      results[i].payload = outcome.payloads[i];
    } else {
      results[i].payload = posted->second.second;
      of.posted.erase(posted);
    }
  }
}

void LiveSource::read_names() const {
  if (!names_.empty()) return;
  const std::uint64_t place = SharedMemory::header().names.load(std::memory_order_acquire);
  if (place == 0) {
    names_.emplace_back("MPI_Abort");
    return;
  }
  const auto count = *SharedMemory::at<std::uint64_t>(place);
  const char* text = SharedMemory::at<char>(place + sizeof(std::uint64_t));
  for (std::uint64_t i = 0; i < count; ++i) {
    names_.emplace_back(text);
    text += names_.back().size() + 1;
  }
}

std::string_view LiveSource::name(trace::NameId id) const {
  read_names();
  return id < names_.size() ? std::string_view(names_[id]) : std::string_view("?");
}

const trace::Communicator& LiveSource::comm(trace::CommId id) const {
  return comms_.at(id);
}

// The engine's number of the communicator of a record. The library's own
// messages have one beside that of the program's.
trace::CommId LiveSource::comm_of(const Record& record) {
  if (!(record.comm & kHidden)) return record.comm;
  const trace::CommId of = record.comm & ~kHidden;
  const auto [entry, added] = hidden_.try_emplace(of, static_cast<trace::CommId>(comms_.size()));
  if (added) {
    trace::Communicator comm = comms_.at(of);
    comm.key |= kHiddenKey;
    comms_.push_back(std::move(comm));
    comm_states_.emplace_back();
  }
  return entry->second;
}

std::string LiveSource::place(WorldRank rank) const {
  const Rank& of = states_[static_cast<std::size_t>(rank.value)];
  return of.gone ? std::string() : call_sites_.describe(slot(rank).process, of.record.caller);
}

std::string LiveSource::end_reason(WorldRank rank) const {
  const Rank& of = states_[static_cast<std::size_t>(rank.value)];
  if (!of.initialized) return "it ended without MPI_Init";
  return of.gone && !of.finalized ? describe(of.end) : std::string();
}

bool LiveSource::any_started() const {
  return std::ranges::any_of(states_, &Rank::initialized);
}

int LiveSource::wait_for_processes() {
  Header& header = SharedMemory::header();
  for (;;) {
    const std::uint32_t bell = header.bell.load(std::memory_order_acquire);
    look_after_processes();
    if (processes_.started() == ranks_ && processes_.all_ended()) break;
    if (stop_signal != 0) return 128 + stop_signal;
    wait_for_bell(bell);
  }
  look_after_processes();
  for (const Rank& of : states_)
    if (of.end.signal != 0 || of.end.status != 0)
      return of.end.signal != 0 ? 128 + of.end.signal : of.end.status;
  return 0;
}

}  // namespace foretrace::live
