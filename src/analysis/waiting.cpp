#include "analysis/waiting.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "analysis/call_profile.hpp"
#include "analysis/segments.hpp"
#include "mpi_api/groups.hpp"

namespace foretrace::analysis {
namespace {

using machine::Dependence;
using trace::Event;
using trace::EventKind;

constexpr std::uint32_t kNone = UINT32_MAX;

// Messages from one rank to another under one tag in one communicator: when
// each was sent, and when the receive for it was posted.
struct Channel {
  WorldRank from;
  WorldRank to;
  std::vector<Time> sent;
  std::vector<Time> posted;
};

struct ChannelKey {
  std::uint32_t comm;
  std::int32_t from;
  std::int32_t to;
  std::int32_t tag;
  bool operator==(const ChannelKey&) const = default;
};

struct ChannelHash {
  std::size_t operator()(const ChannelKey& key) const noexcept {
    const auto word = [](std::int32_t value) {
      return std::uint64_t{static_cast<std::uint32_t>(value)};
    };
    std::uint64_t hash = (std::uint64_t{key.comm} << 32 | word(key.tag)) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (word(key.from) << 32 | word(key.to))) * 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
  }
};

// A rank that starts something at a time.
struct Start {
  Time time;
  WorldRank rank;
};

Start later(Start a, Start b) {
  return !a.rank.valid() || (b.rank.valid() && b.time > a.time) ? b : a;
}

// A collective of one communicator, on its way.
struct GatheringMembers {
  CollectiveInstance seen;
  Start last;
  Start root;  // of those that have one
  Time first;
  std::vector<Start> members;  // by local rank; only where rank i waits for ranks 0 to i
};

struct CommState {
  std::vector<GatheringMembers> collectives;
  std::size_t size = 0;
  int rank = -1;                                     // whose collectives are counted
  std::uint32_t next = 0;                            // its next one
  std::unordered_map<WorldRank, std::size_t> local;  // where members matter
};

// What a call needed of another rank.
struct Need {
  enum class Kind : std::uint8_t { receive, send, collective, lock } kind = Kind::receive;
  std::uint32_t where = kNone;   // channel, communicator; the windows' of a lock
  std::uint32_t number = 0;      // of the message or collective there; target of a lock
  std::uint32_t local_rank = 0;  // the caller's, where it matters
  bool root = false;             // the caller is the collective's root
};

// A receive in the order in which MPI matches.
struct Receive {
  std::uint32_t comm = 0;
  std::int32_t source = -1;
  std::int32_t tag = 0;
  Time posted;
  bool complete = false;
  std::uint32_t need = kNone;  // of the call that waits for it
  bool only_sees = false;      // a probe: the next receive gets the same message
};

struct Call {
  WorldRank rank;
  trace::NameId name = 0;
  trace::SiteId site = 0;
  std::size_t event = 0;
  Time enter;
  Time leave;
  Time wait;  // as the trace has it
  std::uint32_t first_need = 0;
  std::uint32_t needs = 0;
};

// The lock of a target given back, or those of all targets (invalid).
struct Unlock {
  Time time;
  WorldRank rank;
  WorldRank target;
};

// What a request stands for.
struct Posted {
  std::uint32_t receive = kNone;
  Need need;
};

bool ends_with_others(machine::SendMode mode) {
  return mode == machine::SendMode::standard || mode == machine::SendMode::synchronous;
}

// Whether a call of that name may end only when others have acted.
bool synchronises(const std::string& name) {
  static const mpi_api::Group* const kEpochs = mpi_api::find_group("epochs");
  return mpi_api::is_in(*kEpochs, name) || may_wait(class_of(name));
}

}  // namespace

struct WaitFinder::Impl {
  Impl(trace::Clock of, std::uint64_t most_) : clock(of), most(most_) {
    if (clock == trace::Clock::wall) found.clock_violations = 0;
  }

  trace::Clock clock;
  std::uint64_t most;
  std::uint64_t remembered = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> comm_ids;  // by key
  std::vector<CommState> comms;
  std::unordered_map<ChannelKey, std::uint32_t, ChannelHash> channel_ids;
  std::vector<Channel> channels;
  // Locks of windows given back, by communicator: by which rank, when, of which target.
  std::unordered_map<std::uint32_t, std::vector<Unlock>> unlocks;
  // Of millions of waits these are most of the memory; a vector would take twice as much.
  std::deque<Call> calls;
  std::deque<Need> needs;
  Waits found;
  // Of the rank at hand.
  int rank = 0;
  std::size_t event = 0;
  std::vector<Receive> receives;
  std::unordered_map<std::uint64_t, Posted> open;      // by request or probe
  std::vector<std::pair<Need, std::uint32_t>> needed;  // of the event at hand, and the receive

  std::vector<char> unseen;  // by name: whether such calls may wait; '?': not asked yet

  // Calls of no kind that is followed, which may wait for others all the same.
  bool may_wait_unseen(trace::NameId id, const std::string& name) {
    if (unseen.size() <= id) unseen.resize(id + std::size_t{1}, '?');
    if (unseen[id] == '?') unseen[id] = synchronises(name) ? 'y' : 'n';
    return unseen[id] == 'y';
  }

  WorldRank here() const { return WorldRank(rank); }

  std::uint32_t comm_id(const trace::Communicator& comm) {
    const auto [known, added] =
        comm_ids.try_emplace(comm.key, static_cast<std::uint32_t>(comms.size()));
    if (added) comms.emplace_back().size = comm.members.size();
    return known->second;
  }

  std::uint32_t channel_id(const ChannelKey& key) {
    const auto [known, added] =
        channel_ids.try_emplace(key, static_cast<std::uint32_t>(channels.size()));
    if (added) channels.push_back({WorldRank(key.from), WorldRank(key.to), {}, {}});
    return known->second;
  }

  Need send(const Event& event_, const trace::Communicator& comm) {
    const std::uint32_t id =
        channel_id({comm_id(comm), rank, event_.send.peer.value, event_.send.tag});
    channels[id].sent.push_back(event_.enter);
    ++remembered;
    return {Need::Kind::send, id, static_cast<std::uint32_t>(channels[id].sent.size() - 1), 0,
            false};
  }

  std::uint32_t receive(const Event& event_, const trace::Communicator& comm, bool complete) {
    receives.push_back({comm_id(comm), event_.recv.peer.value, event_.recv.tag, event_.enter,
                        complete, kNone, trace::leaves_message(event_)});
    ++remembered;
    return static_cast<std::uint32_t>(receives.size() - 1);
  }

  void need_send(const Need& need, machine::SendMode mode) {
    if (ends_with_others(mode)) needed.push_back({need, kNone});
  }
  void need_receive(std::uint32_t number) { needed.push_back({Need{}, number}); }

  Need collective(const Event& event_, const trace::Communicator& comm);
  void complete(const Event& event_);
  void add_call(const Event& event_);
  void take(const Event& event_, const trace::Communicator* comm, const std::string& name);
  void end_rank();
  void one_sided(const Event& event_, const trace::Communicator& comm);
  Start who_let_in(const Need& need, const Call& call) const;
  Start start_of(const Need& need, const Call& call);
  Waited resolve(const Call& call);
};

Need WaitFinder::Impl::collective(const Event& event_, const trace::Communicator& comm) {
  const std::uint32_t id = comm_id(comm);
  CommState& state = comms[id];
  ++remembered;
  if (state.rank != rank) {
    state.rank = rank;
    state.next = 0;
  }
  const std::uint32_t number = state.next++;
  if (state.collectives.size() <= number) state.collectives.emplace_back();
  GatheringMembers& gathering = state.collectives[number];
  Need need{Need::Kind::collective, id, number, 0, false};
  const Start start{event_.enter, here()};
  gathering.first =
      gathering.last.rank.valid() ? std::min(gathering.first, start.time) : start.time;
  if (!gathering.last.rank.valid() || start.time > gathering.last.time) {
    gathering.last = start;
    gathering.seen.name = event_.name;
    gathering.seen.site = event_.site;
    gathering.seen.cost = event_.collective;
  }
  const auto root = static_cast<std::size_t>(event_.root.value);
  if (event_.root.valid() && root < comm.members.size() && comm.members[root] == here()) {
    gathering.root = start;
    need.root = true;
  }
  if (dependence_of(event_.collective) == Dependence::prefix) {
    if (state.local.empty())
      for (std::size_t i = 0; i < comm.members.size(); ++i) state.local[comm.members[i]] = i;
    const auto own = state.local.find(here());
    if (own == state.local.end()) return need;
    gathering.members.resize(state.size);
    gathering.members[own->second] = start;
    need.local_rank = static_cast<std::uint32_t>(own->second);
  }
  return need;
}

void WaitFinder::Impl::complete(const Event& event_) {
  for (const trace::Completion& done : event_.completions) {
    const auto found_ = open.find(done.request);
    if (found_ == open.end()) continue;
    const Posted posted = found_->second;
    open.erase(found_);
    if (done.cancelled) continue;
    if (posted.receive == kNone) {
      if (posted.need.where != kNone) needed.push_back({posted.need, kNone});
      continue;
    }
    Receive& came = receives[posted.receive];
    if (came.complete || !done.source.valid()) continue;  // by a probe; from nobody
    came.source = done.source.value;
    came.tag = done.tag;
    came.complete = true;
    need_receive(posted.receive);
  }
}

// Of locks a measured run knows not whether they waited.
void WaitFinder::Impl::one_sided(const Event& event_, const trace::Communicator& comm) {
  if (event_.one_sided == machine::OneSided::unlock) {
    unlocks[comm_id(comm)].push_back({event_.enter, here(), event_.send.peer});
    ++remembered;
  } else if (machine::is_lock(event_.one_sided) && event_.wait > Time()) {
    needed.push_back({{Need::Kind::lock, comm_id(comm),
                       static_cast<std::uint32_t>(event_.send.peer.value), 0, false},
                      kNone});
  }
}

// Remembers the event with what it needed, if it may have waited.
void WaitFinder::Impl::add_call(const Event& event_) {
  const bool measured = clock == trace::Clock::wall;
  if (measured ? needed.empty() : event_.wait == Time()) return;
  calls.push_back({here(), event_.name, event_.site, event, event_.enter, event_.leave, event_.wait,
                   static_cast<std::uint32_t>(needs.size()),
                   static_cast<std::uint32_t>(needed.size())});
  ++remembered;
  for (const auto& [need, number] : needed) {
    if (number != kNone) receives[number].need = static_cast<std::uint32_t>(needs.size());
    needs.push_back(need);
  }
}

void WaitFinder::Impl::take(const Event& event_, const trace::Communicator* comm,
                            const std::string& name) {
  if (clock == trace::Clock::cpu) return;
  needed.clear();
  const auto probe = event_.taken != 0 ? open.find(event_.taken) : open.end();
  switch (event_.kind) {
    case EventKind::send:
      if (event_.send.peer.valid()) need_send(send(event_, *comm), event_.mode);
      break;
    case EventKind::sendrecv:
      if (event_.send.peer.valid()) need_send(send(event_, *comm), event_.mode);
      [[fallthrough]];
    case EventKind::recv:
      if (probe != open.end())
        open.erase(probe);
      else if (event_.recv.peer.valid())
        need_receive(receive(event_, *comm, true));
      break;
    case EventKind::isend:
      if (event_.send.peer.valid()) {
        const Need need = send(event_, *comm);
        if (ends_with_others(event_.mode)) open[event_.request] = {kNone, need};
      }
      break;
    case EventKind::irecv:
      if (probe != open.end()) {
        open[event_.request] = probe->second;
        open.erase(event_.taken);
      } else {
        open[event_.request] = {receive(event_, *comm, false), {}};
      }
      break;
    case EventKind::probe:
      if (event_.recv.peer.valid()) {
        const std::uint32_t number = receive(event_, *comm, true);
        if (!trace::leaves_message(event_)) open[event_.request] = {number, {}};
        need_receive(number);
      }
      break;
    case EventKind::complete:
      complete(event_);
      break;
    case EventKind::collective:
      if (comm->members.size() > 1) needed.push_back({collective(event_, *comm), kNone});
      break;
    case EventKind::icollective:
      if (comm->members.size() > 1) open[event_.request] = {kNone, collective(event_, *comm)};
      break;
    case EventKind::call:
      if (clock == trace::Clock::wall && may_wait_unseen(event_.name, name))
        needed.push_back({Need{}, kNone});
      else if (clock == trace::Clock::virtual_ && comm)
        one_sided(event_, *comm);
      break;
    default:
      break;
  }
  add_call(event_);
  ++event;
}

void WaitFinder::Impl::end_rank() {
  for (const Receive& receive_ : receives) {
    if (!receive_.complete) continue;
    const std::uint32_t id = channel_id({receive_.comm, receive_.source, rank, receive_.tag});
    const auto number = static_cast<std::uint32_t>(channels[id].posted.size());
    if (!receive_.only_sees) channels[id].posted.push_back(receive_.posted);
    if (receive_.need == kNone) continue;
    needs[receive_.need] = {Need::Kind::receive, id, number, 0, false};
  }
  receives.clear();
  open.clear();
  event = 0;
  ++rank;
}

// Who waited for a lock leaves when the one before gives it back. Of several windows on one
// communicator it is not known which was meant, but they are given back at other times.
Start WaitFinder::Impl::who_let_in(const Need& need, const Call& call) const {
  const auto given_back = unlocks.find(need.where);
  if (given_back == unlocks.end()) return {};
  const WorldRank target(static_cast<std::int32_t>(need.number));
  for (const Unlock& unlock :
       std::ranges::equal_range(given_back->second, call.leave, {}, &Unlock::time))
    if (unlock.rank != call.rank && (!unlock.target.valid() || unlock.target == target))
      return {unlock.time, unlock.rank};
  return {};
}

// Who had to come for this need, and when it did; no rank: not known, or nobody.
Start WaitFinder::Impl::start_of(const Need& need, const Call& call) {
  if (need.kind == Need::Kind::lock) return who_let_in(need, call);
  if (need.kind == Need::Kind::collective) {
    GatheringMembers& gathering = comms[need.where].collectives[need.number];
    switch (dependence_of(gathering.seen.cost)) {
      case Dependence::all_for_root:
        return gathering.root;
      case Dependence::root_for_all:
        return need.root ? gathering.last : Start{call.enter, call.rank};
      case Dependence::prefix:
        return need.local_rank < gathering.members.size() ? gathering.members[need.local_rank]
                                                          : Start{};
      default:
        return gathering.last;
    }
  }
  if (need.where == kNone) return {};
  const Channel& channel = channels[need.where];
  if (need.kind == Need::Kind::receive) {
    if (need.number >= channel.sent.size()) return {};
    const Start sent{channel.sent[need.number], channel.from};
    if (found.clock_violations && call.leave < sent.time) ++*found.clock_violations;
    return sent;
  }
  // Nobody received it, or later: it went by itself.
  if (need.number >= channel.posted.size() || channel.posted[need.number] > call.leave)
    return {call.enter, call.rank};
  return {channel.posted[need.number], channel.to};
}

Waited WaitFinder::Impl::resolve(const Call& call) {
  Waited waited{call.rank, call.event, call.name, call.site, call.leave - call.enter,
                call.wait, {},         {},        true};
  Start latest;
  const Need* last = nullptr;
  for (std::uint32_t i = 0; i < call.needs; ++i) {
    const Need& need = needs[call.first_need + i];
    const Start start = start_of(need, call);
    if (!start.rank.valid() || (latest.rank.valid() && start.time <= latest.time)) continue;
    latest = start;
    last = &need;
  }
  const Time late = std::max(Time(), std::min(latest.time, call.leave) - call.enter);
  if (clock == trace::Clock::wall) {
    waited.known = latest.rank.valid();
    waited.wait = waited.known ? late : Time();
  }
  if (latest.rank.valid() && latest.rank != call.rank) {
    waited.partner = latest.rank;
    waited.late = std::min(late, waited.wait);
  }
  if (last != nullptr && last->kind == Need::Kind::collective)
    comms[last->where].collectives[last->number].seen.wait += waited.wait;
  return waited;
}

WaitFinder::WaitFinder(trace::Clock clock, std::uint64_t most)
    : impl_(std::make_unique<Impl>(clock, most)) {}
WaitFinder::~WaitFinder() = default;
WaitFinder::WaitFinder(WaitFinder&&) noexcept = default;

void WaitFinder::take(const Event& event, const trace::Communicator* comm,
                      const std::string& name) {
  if (impl_->found.given_up) return;
  impl_->take(event, comm, name);
  if (impl_->remembered <= impl_->most) return;
  impl_ = std::make_unique<Impl>(impl_->clock, impl_->most);
  impl_->found.given_up = true;
  impl_->found.clock_violations.reset();
}

void WaitFinder::end_rank() {
  impl_->end_rank();
}

Waits WaitFinder::finish(const std::function<void(const Waited&)>& visit) {
  for (CommState& comm : impl_->comms)
    for (GatheringMembers& gathering : comm.collectives) {
      // Rank i waits for the latest of ranks 0 to i.
      for (std::size_t i = 1; i < gathering.members.size(); ++i)
        gathering.members[i] = later(gathering.members[i - 1], gathering.members[i]);
    }
  // At one time by rank, as they were taken.
  for (auto& [comm, given_back] : impl_->unlocks)
    std::ranges::stable_sort(given_back, {}, &Unlock::time);
  for (const Call& call : impl_->calls) {
    const Waited waited = impl_->resolve(call);
    if (waited.wait > Time() || !waited.known) visit(waited);
  }
  for (CommState& comm : impl_->comms)
    for (GatheringMembers& gathering : comm.collectives) {
      gathering.seen.spread = gathering.last.time - gathering.first;
      if (gathering.seen.spread > Time()) gathering.seen.last = gathering.last.rank;
      impl_->found.collectives.push_back(gathering.seen);
    }
  return std::move(impl_->found);
}

Waits find_waits(const trace::Trace& trace) {
  WaitFinder finder(trace.info.clock);
  for (const auto& events : trace.ranks) {
    for (const Event& event : events)
      finder.take(event, uses_comm(event) ? &trace.comms.at(event.comm) : nullptr,
                  event.name < trace.names.size() ? trace.names[event.name] : "");
    finder.end_rank();
  }
  std::vector<Waited> calls;
  Waits waits = finder.finish([&](const Waited& waited) { calls.push_back(waited); });
  waits.calls = std::move(calls);
  return waits;
}

void fill_waits(trace::Trace& trace) {
  if (trace.info.clock != trace::Clock::wall) return;
  for (auto& events : trace.ranks)
    for (Event& event : events) event.wait = Time();
  for (const Waited& waited : find_waits(trace).calls)
    trace.ranks[static_cast<std::size_t>(waited.rank.value)][waited.event].wait = waited.wait;
}

}  // namespace foretrace::analysis
