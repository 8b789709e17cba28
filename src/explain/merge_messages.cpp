#include "explain/merge_messages.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace foretrace::explain {

using sim::Operation;
using trace::EventKind;

namespace {

constexpr std::uint32_t kNoCall = UINT32_MAX;
// Beyond the tags of programs: merged messages match nothing else.
constexpr std::int32_t kFirstTag = std::int32_t{1} << 29;

// A message by its place among those from one rank to another with one tag.
struct Message {
  trace::CommId comm = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t tag = 0;
  std::uint64_t order = 0;
  auto operator<=>(const Message&) const = default;
};

// Counts a rank's messages to, or from, each other rank.
class Counter {
 public:
  Message next(trace::CommId comm, WorldRank from, WorldRank to, std::int32_t tag) {
    Message message{comm, from.value, to.value, tag, 0};
    message.order = counts_[message]++;
    return message;
  }
  // The one that next() will tell.
  Message coming(trace::CommId comm, WorldRank from, WorldRank to, std::int32_t tag) const {
    Message message{comm, from.value, to.value, tag, 0};
    const auto found = counts_.find(message);
    if (found != counts_.end()) message.order = found->second;
    return message;
  }

 private:
  std::map<Message, std::uint64_t> counts_;
};

struct Group {
  WorldRank from;
  WorldRank to;
  trace::CommId comm = 0;
  std::vector<Message> messages;
  std::vector<std::uint32_t> sends;  // calls
  Bytes bytes;
  bool mergeable = true;
  // At the receiver.
  std::size_t received = 0;        // so many of the messages
  std::uint32_t first = kNoCall;   // the call that receives, or posts
  std::uint64_t request = 0;       // that it posts; 0: it blocks
  std::uint32_t needed = kNoCall;  // the call that first waits for any of them
};
using GroupId = std::uint32_t;

bool parts_groups(const Operation& operation) {
  switch (operation.kind) {
    case EventKind::send:
    case EventKind::isend:
    case EventKind::irecv:
    case EventKind::mark:
    case EventKind::complete:
      return false;
    case EventKind::call:
      return operation.probing != sim::Probing::none || operation.locking != sim::Locking::none ||
             operation.cancel != 0 || operation.one_sided != machine::OneSided::none;
    default:
      return true;
  }
}

// What one sender sends one after the other.
class Grouper {
 public:
  Grouper(WorldRank rank, std::vector<Group>& groups) : rank_(rank), groups_(&groups) {}

  void visit(std::uint32_t call, const Operation& operation, bool chosen) {
    if (operation.kind == EventKind::complete && completes_more_than_sends(operation))
      return close_all();
    if (parts_groups(operation)) close_all();
    const bool sends = operation.kind == EventKind::send || operation.kind == EventKind::isend ||
                       operation.kind == EventKind::sendrecv;
    if (operation.kind == EventKind::isend) send_requests_.insert(operation.request);
    if (!sends || !operation.send.peer.valid() || !operation.matched) return;
    const Message message =
        counter_.next(operation.comm, rank_, operation.send.peer, operation.send.tag);
    const std::pair channel{operation.comm, operation.send.peer.value};
    const bool fits = chosen && operation.kind != EventKind::sendrecv &&
                      operation.mode == machine::SendMode::standard && operation.send.peer != rank_;
    if (!fits) return close(channel);
    Group& group = open_[channel];
    group.from = rank_;
    group.to = operation.send.peer;
    group.comm = operation.comm;
    group.messages.push_back(message);
    group.sends.push_back(call);
    group.bytes = Bytes(group.bytes.count + operation.send.bytes.count);
  }
  void close_all() {
    while (!open_.empty()) close(open_.begin()->first);
  }

 private:
  bool completes_more_than_sends(const Operation& operation) {
    bool more = operation.completing != sim::Completing::all;
    for (const trace::Completion& completion : operation.completions)
      more = send_requests_.erase(completion.request) == 0 || more;
    return more;
  }
  void close(std::pair<trace::CommId, std::int32_t> channel) {
    const auto found = open_.find(channel);
    if (found == open_.end()) return;
    if (found->second.sends.size() > 1) groups_->push_back(std::move(found->second));
    open_.erase(found);
  }

  WorldRank rank_;
  std::vector<Group>* groups_;
  Counter counter_;
  std::unordered_set<std::uint64_t> send_requests_;
  std::map<std::pair<trace::CommId, std::int32_t>, Group> open_;
};

// Where one rank receives the messages of groups.
class Finder {
 public:
  using Members = std::map<Message, GroupId>;
  Finder(WorldRank rank, const Members& members, std::vector<Group>& groups)
      : rank_(rank), members_(&members), groups_(&groups) {}

  void visit(std::uint32_t call, const Operation& operation) {
    if (operation.kind == EventKind::complete) return complete(call, operation);
    if (trace::leaves_message(operation)) return see(operation);
    const bool receives = operation.kind == EventKind::recv || operation.kind == EventKind::irecv ||
                          operation.kind == EventKind::sendrecv ||
                          operation.kind == EventKind::probe;
    if (!receives || !operation.recv.peer.valid() || !operation.matched || operation.taken != 0)
      return;
    const Message message =
        counter_.next(operation.comm, operation.recv.peer, rank_, operation.recv.tag);
    const auto found = members_->find(message);
    if (found == members_->end()) return;
    Group& group = (*groups_)[found->second];
    calls_[call] = found->second;
    if (operation.kind == EventKind::sendrecv || operation.kind == EventKind::probe)
      group.mergeable = false;
    ++group.received;
    const bool posted = operation.kind == EventKind::irecv;
    if (group.first == kNoCall) {
      group.first = call;
      group.request = posted ? operation.request : 0;
    }
    if (posted)
      requests_[operation.request] = found->second;
    else
      group.needed = std::min(group.needed, call);
  }
  // A probe sees its message as it is.
  void see(const Operation& operation) {
    const auto found = members_->find(
        counter_.coming(operation.comm, operation.recv.peer, rank_, operation.recv.tag));
    if (found != members_->end()) (*groups_)[found->second].mergeable = false;
  }
  // The calls that receive any of them.
  std::map<std::uint32_t, GroupId> take_calls() { return std::move(calls_); }

 private:
  void complete(std::uint32_t call, const Operation& operation) {
    for (const trace::Completion& completion : operation.completions) {
      const auto found = requests_.find(completion.request);
      if (found == requests_.end()) continue;
      Group& group = (*groups_)[found->second];
      group.needed = std::min(group.needed, call);
      if (operation.completing != sim::Completing::all) group.mergeable = false;
      requests_.erase(found);
    }
  }

  WorldRank rank_;
  const Members* members_;
  std::vector<Group>* groups_;
  Counter counter_;
  std::unordered_map<std::uint64_t, GroupId> requests_;
  std::map<std::uint32_t, GroupId> calls_;
};

// Changes one rank's calls.
class Merger {
 public:
  using Calls = std::map<std::uint32_t, GroupId>;
  // `sends`, `receives`: the rank's calls that send or receive a message of a group.
  Merger(WorldRank rank, const std::vector<Group>& groups, const Calls& sends,
         const Calls& receives, trace::NameId wait, Rewrites& rewrites)
      : rank_(rank),
        groups_(&groups),
        sends_(&sends),
        receives_(&receives),
        wait_(wait),
        rewrites_(&rewrites) {}

  void visit(std::uint32_t call, const Operation& operation) {
    if (operation.kind == EventKind::complete) return complete(call, operation);
    if (const auto send = sends_->find(call); send != sends_->end())
      return merge_send(call, operation, send->second);
    if (const auto receive = receives_->find(call); receive != receives_->end())
      merge_receive(call, operation, receive->second);
  }

 private:
  static std::int32_t tag_of(GroupId id) { return kFirstTag + static_cast<std::int32_t>(id); }

  void drop(std::uint32_t call) {
    rewrites_->at(rank_, call).gone = true;
    rewrites_->note_change();
  }
  void replace(std::uint32_t call, Made made) {
    drop(call);
    rewrites_->at(rank_, call).late.push_back(std::move(made));
  }

  void merge_send(std::uint32_t call, const Operation& operation, GroupId id) {
    const Group& group = (*groups_)[id];
    if (!group.mergeable) return;
    if (call != group.sends.back()) {
      if (operation.kind == EventKind::isend) dropped_.insert(operation.request);
      return drop(call);
    }
    Made made(operation);
    made.operation.send.bytes = group.bytes;
    made.operation.send.tag = tag_of(id);
    replace(call, std::move(made));
  }

  void merge_receive(std::uint32_t call, const Operation& operation, GroupId id) {
    const Group& group = (*groups_)[id];
    if (!group.mergeable) return;
    const bool posted = operation.kind == EventKind::irecv;
    if (posted) waited_[operation.request] = id;
    if (call == group.first) {
      Made made(operation);
      made.operation.recv = {group.from, tag_of(id), group.bytes, false, false};
      return replace(call, std::move(made));
    }
    if (posted || call != group.needed) return drop(call);
    Made wait;
    wait.operation.kind = EventKind::complete;
    wait.operation.name = wait_;
    wait.operation.site = operation.site;
    wait.completions.push_back(completion_of(id));
    replace(call, std::move(wait));
  }

  trace::Completion completion_of(GroupId id) const {
    const Group& group = (*groups_)[id];
    return {group.request, group.from, tag_of(id), group.bytes, false};
  }

  void complete(std::uint32_t call, const Operation& operation) {
    Made made(operation);
    made.completions.clear();
    std::unordered_set<GroupId> told;
    bool changed = false;
    for (const trace::Completion& completion : operation.completions) {
      if (dropped_.erase(completion.request) > 0) {
        changed = true;
        continue;
      }
      const auto found = waited_.find(completion.request);
      if (found == waited_.end()) {
        made.completions.push_back(completion);
        continue;
      }
      const GroupId id = found->second;
      waited_.erase(found);
      changed = true;
      // A receive that blocks is waited for by itself.
      const Group& group = (*groups_)[id];
      if (group.request != 0 && group.needed == call && told.insert(id).second)
        made.completions.push_back(completion_of(id));
    }
    if (!changed) return;
    if (made.completions.empty()) return drop(call);
    replace(call, std::move(made));
  }

  WorldRank rank_;
  const std::vector<Group>* groups_;
  const Calls* sends_;
  const Calls* receives_;
  trace::NameId wait_;
  Rewrites* rewrites_;
  std::unordered_set<std::uint64_t> dropped_;          // requests of sends that are not made
  std::unordered_map<std::uint64_t, GroupId> waited_;  // requests of receives that are merged
};

std::vector<Group> find_groups(sim::Source& source, const PlaceSet& places) {
  std::vector<Group> groups;
  Chooser chooser(source, places);
  for (int r = 0; r < source.ranks(); ++r) {
    const WorldRank rank(r);
    chooser.begin_rank();
    Grouper grouper(rank, groups);
    Operation operation;
    for (std::uint32_t call = 0; source.next(rank, operation); ++call)
      grouper.visit(call, operation, chooser.chooses(operation));
    grouper.close_all();
  }
  return groups;
}

// By rank: the calls that receive messages of groups.
using CallsByRank = std::vector<std::map<std::uint32_t, GroupId>>;
CallsByRank find_receives(sim::Source& source, std::vector<Group>& groups) {
  Finder::Members members;
  for (GroupId id = 0; id < groups.size(); ++id)
    for (const Message& message : groups[id].messages) members.emplace(message, id);
  CallsByRank calls;
  for (int r = 0; r < source.ranks(); ++r) {
    const WorldRank rank(r);
    Finder finder(rank, members, groups);
    Operation operation;
    for (std::uint32_t call = 0; source.next(rank, operation); ++call)
      finder.visit(call, operation);
    calls.push_back(finder.take_calls());
  }
  for (Group& group : groups)
    if (group.received != group.messages.size() || group.needed == kNoCall) group.mergeable = false;
  return calls;
}

}  // namespace

Rewrites with_merged_messages(LoadedRun& run, const Open& open, const PlaceSet& places) {
  const trace::NameId wait = run.add_name("MPI_Wait");
  std::vector<Group> groups = find_groups(*open(), places);
  const CallsByRank receives = find_receives(*open(), groups);
  CallsByRank sends(receives.size());
  for (GroupId id = 0; id < groups.size(); ++id)
    for (const std::uint32_t call : groups[id].sends)
      sends[static_cast<std::size_t>(groups[id].from.value)][call] = id;
  const std::unique_ptr<sim::Source> source = open();
  Rewrites rewrites(source->ranks());
  for (int r = 0; r < source->ranks(); ++r) {
    const WorldRank rank(r);
    const auto at = static_cast<std::size_t>(r);
    Merger merger(rank, groups, sends[at], receives[at], wait, rewrites);
    Operation operation;
    for (std::uint32_t call = 0; source->next(rank, operation); ++call)
      merger.visit(call, operation);
  }
  return rewrites;
}

}  // namespace foretrace::explain
