#include "analysis/running.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "analysis/running_profile.hpp"
#include "analysis/segments.hpp"
#include "mpi_api/groups.hpp"
#include "trace/counters_file.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::analysis {
namespace {

using mpi_api::is_in_any;
using trace::Event;
using trace::EventKind;

constexpr std::uint64_t kWorld = 0;  // the key of MPI_COMM_WORLD

// The last call of a function at a place: what the next one there will be like.
struct Habit {
  EventKind kind = EventKind::call;
  std::uint64_t comm = kWorld;
  WorldRank to;
  WorldRank from;
  bool from_any = false;

  auto partners() const { return std::pair(to.value, from.value); }
};

// What the calls of a function at a place were like. Where a program goes round several partners
// there, the next one is who came after the last one the time before.
struct Habits {
  std::optional<Habit> last;
  std::map<std::pair<int, int>, Habit> followed;  // by the partners of the call before

  void add(const Habit& habit) {
    if (last) followed[last->partners()] = habit;
    last = habit;
  }
  // Of one to which something was added.
  const Habit& next() const {
    const auto found = followed.find(last->partners());
    return found == followed.end() ? *last : found->second;
  }
};

// What is known of one rank besides RunningRank.
struct Past {
  std::map<std::pair<std::string, std::string>, Habits> habits;  // by function and place
  std::map<std::uint64_t, Habits*> habits_of;                    // the same, by their numbers
  std::vector<RunningFunction*> functions;                       // by the name's number
  std::map<std::uint64_t, std::uint64_t> collectives;            // that it ended, by communicator
  std::map<std::uint64_t, WorldRank> posted;  // receives under way: request and source
  std::map<std::uint64_t, std::vector<WorldRank>> comms;
  std::vector<std::optional<std::string>> places;  // by site
  std::vector<std::string> phases;                 // that are open
  std::optional<Habit> now;                        // the open call's
};

// One that waits for all members.
bool is_collective_name(const std::string& name) {
  return is_in_any(name, {"collectives"}) && !is_in_any(name, {"nonblocking", "neighbours"});
}

// A trace that grows.
class TraceLook : public RunLook {
 public:
  TraceLook(const std::string& path, const trace::TellPlace& tell)
      : reader_(path), tell_(tell), pasts_(static_cast<std::size_t>(reader_.ranks())) {
    run_.ranks.resize(pasts_.size());
    run_.clock = reader_.info().clock;
  }

  RunningRun take() override {
    if (looked_) reader_.refresh();
    looked_ = true;
    sent_.clear();
    for (int r = 0; r < reader_.ranks(); ++r) read(WorldRank(r));
    for (RunningRank& rank : run_.ranks) tell_waiting(rank);
    tell_unread();
    run_.messages.clear();
    for (const auto& [ends, sent] : sent_) run_.messages.push_back(sent);
    run_.functions.clear();
    for (const auto& [name, function] : functions_) run_.functions.push_back(function);
    std::ranges::stable_sort(run_.functions, std::greater<>(), &RunningFunction::time);
    return run_;
  }

 private:
  // A damaged file may name ranks that there are none of.
  bool exists(WorldRank rank) const {
    return rank.value >= 0 && static_cast<std::size_t>(rank.value) < pasts_.size();
  }

  Past& past(WorldRank rank) { return pasts_[static_cast<std::size_t>(rank.value)]; }

  std::string place_of(const trace::Site* site) const {
    return site == nullptr || !tell_ ? "" : tell_(*site);
  }

  const std::string& place_of(WorldRank rank, trace::SiteId site) {
    auto& places = past(rank).places;
    if (places.size() <= site) places.resize(site + std::size_t{1});
    if (!places[site]) places[site] = site == 0 ? "" : place_of(&reader_.site(rank, site));
    return *places[site];
  }

  void read(WorldRank rank) {
    RunningRank& now = run_.ranks[static_cast<std::size_t>(rank.value)];
    now.rank = rank;
    now.call = now.place = now.phase = "";
    now.waits_for.clear();
    now.guessed = false;
    now.unread.clear();
    if (now.doing == Doing::calling) now.doing = Doing::computing;
    past(rank).now.reset();
    std::vector<std::string>& phases = past(rank).phases;
    Event event;
    while (reader_.next(rank, event)) {
      now.doing = event.kind == EventKind::finalize || event.kind == EventKind::aborted
                      ? Doing::ended
                      : Doing::computing;
      if (event.enter > now.last && event.kind != EventKind::init)
        run_.compute += event.enter - now.last;
      now.last = event.leave;
      if (event.kind == EventKind::phase_begin)
        phases.push_back(reader_.name(rank, event.name));
      else if (event.kind == EventKind::phase_end && !phases.empty())
        phases.pop_back();
      if (!is_timed_call(event)) continue;
      now.calls += event.count;
      remember(rank, event, now);
    }
    if (!phases.empty()) now.phase = phases.back();
    const std::string* open = reader_.open_call(rank);
    if (open == nullptr || now.doing == Doing::ended) return;
    now.doing = Doing::calling;
    now.call = *open;
    now.place = place_of(reader_.open_site(rank));
    const auto habit = past(rank).habits.find({now.call, now.place});
    if (habit != past(rank).habits.end()) past(rank).now = habit->second.next();
  }

  void remember(WorldRank rank, const Event& event, RunningRank& now) {
    Past& own = past(rank);
    RunningFunction& function = function_of(rank, event.name);
    function.calls += event.count;
    function.time += event.leave - event.enter;
    Habit habit;
    habit.kind = event.kind;
    const bool collective =
        event.kind == EventKind::collective || event.kind == EventKind::icollective;
    if (trace::uses_comm(event)) {
      const trace::Communicator& comm = reader_.comm(rank, event.comm);
      habit.comm = comm.key;
      if (collective) own.comms.try_emplace(comm.key, comm.members);
    }
    if (collective) ++own.collectives[habit.comm];
    const bool sends = event.kind == EventKind::send || event.kind == EventKind::isend ||
                       event.kind == EventKind::sendrecv;
    if (sends && exists(event.send.peer)) {
      habit.to = event.send.peer;
      ++now.sent;
      now.sent_bytes.count += event.send.bytes.count;
      ++under_way_[{rank.value, event.send.peer.value}];
      RunningMessages& sent = sent_[{rank.value, event.send.peer.value}];
      sent.from = rank;
      sent.to = event.send.peer;
      ++sent.messages;
      sent.bytes.count += event.send.bytes.count;
    }
    if ((event.kind == EventKind::recv || event.kind == EventKind::sendrecv) &&
        exists(event.recv.peer)) {
      habit.from = event.recv.peer;
      habit.from_any = event.recv.any_source;
      --under_way_[{event.recv.peer.value, rank.value}];
    }
    if (event.kind == EventKind::irecv)
      own.posted[event.request] = event.recv.any_source ? WorldRank() : event.recv.peer;
    for (const trace::Completion& done : event.completions) {
      own.posted.erase(done.request);
      if (exists(done.source)) --under_way_[{done.source.value, rank.value}];
    }
    habits_of(rank, event).add(habit);
  }

  // Looked for by text once for each number that a rank gave it.
  RunningFunction& function_of(WorldRank rank, trace::NameId name) {
    auto& known = past(rank).functions;
    if (known.size() <= name) known.resize(name + std::size_t{1}, nullptr);
    if (!known[name]) {
      known[name] = &functions_[reader_.name(rank, name)];
      known[name]->name = reader_.name(rank, name);
    }
    return *known[name];
  }

  Habits& habits_of(WorldRank rank, const Event& event) {
    Past& own = past(rank);
    Habits*& known = own.habits_of[std::uint64_t{event.name} << 32 | event.site];
    if (!known) known = &own.habits[{reader_.name(rank, event.name), place_of(rank, event.site)}];
    return *known;
  }

  // What was sent and not received; a send that is under way counts, since it may wait for that.
  void tell_unread() {
    auto unread = under_way_;
    for (const RunningRank& rank : run_.ranks) {
      const std::optional<Habit>& now = past(rank.rank).now;
      if (rank.doing == Doing::calling && now && now->kind == EventKind::send && now->to.valid())
        ++unread[{rank.rank.value, now->to.value}];
    }
    for (const auto& [ends, count] : unread)
      if (count > 0)
        run_.ranks[static_cast<std::size_t>(ends.second)].unread.push_back(
            {WorldRank(ends.first), static_cast<std::uint64_t>(count)});
  }

  // Whether a message from there is on its way or lies there.
  bool has_sent(WorldRank from, WorldRank to) const {
    const auto found = under_way_.find({from.value, to.value});
    return found != under_way_.end() && found->second > 0;
  }

  void tell_waiting(RunningRank& rank) {
    if (rank.doing != Doing::calling) return;
    const Past& own = past(rank.rank);
    const bool collective =
        own.now ? own.now->kind == EventKind::collective : is_collective_name(rank.call);
    if (collective) {
      wait_for_members(rank, own.now ? own.now->comm : kWorld);
    } else if (is_in_any(rank.call, {"waits"})) {
      for (const auto& [request, source] : own.posted)
        if (exists(source) && !has_sent(source, rank.rank)) rank.waits_for.push_back(source);
    } else if (own.now && !own.now->from_any) {
      const WorldRank partner = own.now->from.valid() ? own.now->from : own.now->to;
      const bool receives = own.now->from.valid();
      if (partner.valid() && !(receives && has_sent(partner, rank.rank)))
        rank.waits_for.push_back(partner);
      rank.guessed = !rank.waits_for.empty();
    }
    std::ranges::sort(rank.waits_for);
    const auto same = std::ranges::unique(rank.waits_for);
    rank.waits_for.erase(same.begin(), same.end());
  }

  // Those of the communicator that have not come to the collective that the rank is in.
  void wait_for_members(RunningRank& rank, std::uint64_t comm) {
    const auto done = [&](WorldRank of) {
      const auto& counts = past(of).collectives;
      const auto found = counts.find(comm);
      return found == counts.end() ? 0 : found->second;
    };
    const std::uint64_t mine = done(rank.rank);
    std::vector<WorldRank> members;
    if (const auto known = past(rank.rank).comms.find(comm); known != past(rank.rank).comms.end())
      members = known->second;
    else
      for (const RunningRank& each : run_.ranks) members.push_back(each.rank);
    for (const WorldRank member : members) {
      if (member == rank.rank || !exists(member) || done(member) > mine) continue;
      const RunningRank& other = run_.ranks[static_cast<std::size_t>(member.value)];
      const Past& theirs = past(member);
      const bool there =
          other.doing == Doing::calling && done(member) == mine &&
          (theirs.now ? theirs.now->kind == EventKind::collective && theirs.now->comm == comm
                      : is_collective_name(other.call));
      if (!there) rank.waits_for.push_back(member);
    }
  }

  trace::TraceReader reader_;
  trace::TellPlace tell_;
  bool looked_ = false;
  std::vector<Past> pasts_;
  std::map<std::pair<int, int>, std::int64_t> under_way_;  // messages, by sender and receiver
  std::map<std::pair<int, int>, RunningMessages> sent_;    // likewise, since the look before
  std::map<std::string, RunningFunction> functions_;
  RunningRun run_;
};

}  // namespace

std::unique_ptr<RunLook> open_run(const std::string& path, const trace::TellPlace& tell) {
  if (trace::begins_as_counters(path)) return open_profile_run(path, tell);
  return std::make_unique<TraceLook>(path, tell);
}

RunningRun look_at_run(const std::string& path, const trace::TellPlace& tell) {
  return open_run(path, tell)->take();
}

}  // namespace foretrace::analysis
