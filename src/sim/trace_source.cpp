#include "sim/trace_source.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "machine/look_row.hpp"
#include "mpi_api/groups.hpp"

namespace foretrace::sim {

using trace::Event;
using trace::EventKind;

namespace {

constexpr std::uint32_t kUnknown = UINT32_MAX;

// Whether only the completion tells which message the receive gets.
bool is_open_wildcard(const Event& event) {
  if (event.kind != EventKind::irecv) return false;
  return event.recv.any_source || (event.recv.any_tag && event.recv.peer.valid());
}

void copy_operation(const Event& event, const trace::Counts* counts, Operation& operation) {
  static_cast<trace::Call&>(operation) = event;
  operation.matched = true;
  operation.code = event.kind == EventKind::aborted ? event.code : 0;
  if (event.kind == EventKind::mark) operation.payload = std::bit_cast<std::uint64_t>(event.value);
  operation.probing = Probing::none;
  operation.locking = Locking::none;
  operation.idle = false;
  operation.joins = false;
  operation.counts = counts;
  operation.completions = event.completions;
}

// Moments of a rank, by the number of the event from 1, in their order.
std::uint64_t entered_moment(std::uint64_t event) {
  return 2 * event;
}
std::uint64_t left_moment(std::uint64_t event) {
  return 2 * event + 1;
}
// From which the wait before event `number` counts.
std::uint64_t moment_of(const trace::Join& join, std::uint64_t number) {
  const std::uint64_t event = number - std::min(join.back, number);
  return join.entered ? entered_moment(event) : left_moment(event);
}

// The looks of one rank, in their order: which of them are idle.
class Looks {
 public:
  explicit Looks(std::vector<bool>& idle) : idle_(idle) {}

  void look(const Event& event) {
    const bool in_vain = event.kind == EventKind::call;
    idle_.push_back(row_.may_be_idle(event.compute, std::max(event.count, 1U), event.steps != 0));
    if (in_vain) return row_.found_nothing();
    row_.end();
    settled_ = idle_.size();
  }
  // Another call: the row found nothing, and was work.
  void end() {
    row_.end();
    std::fill(idle_.begin() + static_cast<std::ptrdiff_t>(settled_), idle_.end(), false);
    settled_ = idle_.size();
  }

 private:
  machine::LookRow row_;
  std::vector<bool>& idle_;  // from `settled_` on: which of the row may be
  std::size_t settled_ = 0;
};

}  // namespace

TraceSource::TraceSource(trace::TraceReader& reader, Wildcards wildcards)
    : reader_(&reader), wildcards_(wildcards), streams_(static_cast<std::size_t>(reader.ranks())) {
  for (int r = 0; r < reader.ranks(); ++r) survey(WorldRank(r));
}

TraceSource::TraceSource(const trace::Trace& trace, Wildcards wildcards)
    : trace_(&trace), wildcards_(wildcards), streams_(trace.ranks.size()) {
  for (const std::string& name : trace.names) names_.push_back(name);
  for (const trace::Communicator& comm : trace.comms) comms_.push_back(comm);
  for (const trace::Site& site : trace.sites) sites_.push_back(site);
  for (std::size_t r = 0; r < streams_.size(); ++r) survey(WorldRank(static_cast<std::int32_t>(r)));
}

const Event* TraceSource::read(WorldRank rank) {
  Stream& from = stream(rank);
  if (reader_) return reader_->next(rank, from.event) ? &from.event : nullptr;
  const auto& events = trace_->ranks[static_cast<std::size_t>(rank.value)];
  return from.at < events.size() ? &events[from.at++] : nullptr;
}

void TraceSource::rewind(WorldRank rank) {
  stream(rank).at = 0;
  stream(rank).held.clear();
  if (reader_) reader_->rewind(rank);
}

void TraceSource::survey(WorldRank rank) {
  Stream& to = stream(rank);
  std::unordered_map<std::uint64_t, std::size_t> open;  // request to index in wildcards
  Looks all_looks(to.idle);
  std::uint64_t number = 0;
  rewind(rank);
  while (const Event* event = read(rank)) {
    ++number;
    for (const trace::Join* join : {&event->join, &event->second})
      if (join->back != 0) to.joined.push_back(moment_of(*join, number));
    if (looks(rank, *event))
      all_looks.look(*event);
    else
      all_looks.end();
    if (wildcards_ == Wildcards::arrival &&
        (event->recv.any_source || event->recv.any_tag || event->kind == EventKind::probe))
      messages_race_ = true;
    if (machine::is_lock(event->one_sided) && event->send.peer.valid()) has_locks_ = true;
    if (event->kind == EventKind::icollective) posts_collectives_ = true;
    if (is_open_wildcard(*event)) {
      open[event->request] = to.wildcards.size();
      to.wildcards.push_back({event->request, WorldRank(), 0, false});
    }
    for (const trace::Completion& completion : event->completions) {
      if (completion.cancelled) to.cancelled.push_back(completion.request);
      const auto found = open.find(completion.request);
      if (found == open.end()) continue;
      to.wildcards[found->second] = {completion.request, completion.source, completion.tag,
                                     completion.source.valid() && !completion.cancelled};
      open.erase(found);
    }
  }
  std::ranges::sort(to.cancelled);
  std::ranges::sort(to.joined);
  const auto [first, last] = std::ranges::unique(to.joined);
  to.joined.erase(first, last);
  rewind(rank);
}

// Whether the event is a call of a function that looks.
bool TraceSource::looks(WorldRank rank, const Event& event) {
  if (event.kind != EventKind::call && event.kind != EventKind::complete &&
      event.kind != EventKind::probe)
    return false;
  auto& known = stream(rank).looking;
  if (event.name >= known.size()) known.resize(event.name + std::size_t{1}, -1);
  signed char& looking = known[event.name];
  if (looking < 0)
    looking = mpi_api::is_poll(trace_ ? trace_->names[event.name] : reader_->name(rank, event.name))
                  ? 1
                  : 0;
  return looking == 1;
}

trace::NameId TraceSource::global_name(WorldRank rank, trace::NameId id) {
  if (trace_) return id;
  auto& numbers = stream(rank).names;
  if (id >= numbers.size()) numbers.resize(id + std::size_t{1}, kUnknown);
  if (numbers[id] != kUnknown) return numbers[id];
  const std::string& name = reader_->name(rank, id);
  const auto [entry, added] =
      name_numbers_.try_emplace(name, static_cast<trace::NameId>(names_.size()));
  if (added) names_.push_back(name);
  return numbers[id] = entry->second;
}

trace::CommId TraceSource::global_comm(WorldRank rank, trace::CommId id) {
  if (trace_) return id;
  auto& numbers = stream(rank).comms;
  if (id >= numbers.size()) numbers.resize(id + std::size_t{1}, kUnknown);
  if (numbers[id] != kUnknown) return numbers[id];
  const trace::Communicator& comm = reader_->comm(rank, id);
  const auto [entry, added] =
      comm_numbers_.try_emplace(comm.key, static_cast<trace::CommId>(comms_.size()));
  if (added)
    comms_.push_back(comm);
  else if (comms_[entry->second].members != comm.members)
    throw Error("rank " + std::to_string(rank.value) + ": communicator " +
                std::to_string(comm.key) + " has other members than on the ranks before; " +
                "the trace's ranks are not of one run");
  return numbers[id] = entry->second;
}

trace::SiteId TraceSource::global_site(WorldRank rank, trace::SiteId id) {
  if (trace_ || id == 0) return id;
  auto& numbers = stream(rank).sites;
  if (id >= numbers.size()) numbers.resize(id + std::size_t{1}, kUnknown);
  if (numbers[id] != kUnknown) return numbers[id];
  const trace::Site& site = reader_->site(rank, id);
  const auto [entry, added] = site_numbers_.try_emplace({site.object, site.offset});
  if (added) {
    sites_.push_back(site);
    entry->second = static_cast<trace::SiteId>(sites_.size());
  }
  return numbers[id] = entry->second;
}

// Whoever asks for the lock of one target waits for those that hold it. What was locked with
// MPI_MODE_NOCHECK is unlocked without ever having been asked for.
void TraceSource::find_lock(Stream& stream, Operation& operation) {
  if (!operation.send.peer.valid()) return;
  const std::uint64_t lock = lock_of(operation.comm, operation.send.peer);
  if (machine::is_lock(operation.one_sided)) {
    operation.locking =
        operation.one_sided == machine::OneSided::lock ? Locking::exclusive : Locking::shared;
    stream.held.push_back(lock);
  } else if (operation.one_sided == machine::OneSided::unlock &&
             std::erase(stream.held, lock) > 0) {
    operation.locking = Locking::release;
  }
  if (operation.locking != Locking::none) operation.lock = lock;
}

void TraceSource::find_join(Stream& stream, const Event& event, Operation& operation) {
  const trace::Join& join = event.join;
  const std::uint64_t number = ++stream.events;
  if (stream.joined.empty()) return;
  stream.joining = {};
  const auto take = [&stream](std::uint64_t moment) {
    const bool asked =
        stream.next_joined < stream.joined.size() && stream.joined[stream.next_joined] == moment;
    if (asked) ++stream.next_joined;
    return asked ? moment : 0;
  };
  stream.joining.left = take(left_moment(number - 1));
  stream.joining.entered = take(entered_moment(number));
  // A look that only waits computes nothing.
  if (join.back != 0 && !operation.idle) {
    stream.joining.from = moment_of(join, number);
    stream.joining.after = join.after;
    stream.joining.held = join.held;
    stream.joining.knows_steps = join.knows_steps;
    stream.joining.after_steps = join.after_steps;
    stream.joining.held_steps = join.held_steps;
    if (event.second.back != 0) stream.joining.second = moment_of(event.second, number);
    stream.joining.after_second = event.second.after;
    stream.joining.steps_after_second = event.second.after_steps;
  }
  operation.joins =
      stream.joining.left != 0 || stream.joining.entered != 0 || stream.joining.from != 0;
}

void TraceSource::resolve_wildcard(Stream& stream, Operation& operation) {
  const Resolution& found = stream.wildcards[stream.next_wildcard++];
  operation.matched = found.matched;
  if (!found.matched) return;
  operation.recv.peer = found.source;
  operation.recv.tag = found.tag;
}

// Forgets which message it was.
void TraceSource::reopen_wildcard(Operation& operation) const {
  if (!operation.matched || !operation.recv.peer.valid()) return;
  // It takes what is there first, as a running program's would.
  if (operation.kind == EventKind::probe) {
    operation.probing = trace::leaves_message(operation) ? Probing::wait : Probing::take_wait;
    operation.kind = EventKind::call;
  }
  if (operation.recv.any_source) operation.recv.peer = WorldRank();
  if (operation.recv.any_tag) operation.recv.tag = kAnyTag;
}

bool TraceSource::next(WorldRank rank, Operation& operation) {
  const Event* event = read(rank);
  if (!event) return false;
  Stream& from = stream(rank);
  copy_operation(*event, trace_ ? counts_of(*trace_, *event) : reader_->counts(rank, *event),
                 operation);
  operation.name = global_name(rank, event->name);
  operation.site = from.site = global_site(rank, event->site);
  operation.comm = trace::uses_comm(*event) ? global_comm(rank, event->comm) : 0;
  if (looks(rank, *event)) operation.idle = from.idle[from.next_look++];
  if (operation.idle) operation.compute = Time();
  find_join(from, *event, operation);
  if (trace::is_one_sided(*event)) find_lock(from, operation);
  if (is_open_wildcard(*event)) resolve_wildcard(from, operation);
  if (!from.cancelled.empty() && event->request != 0 &&
      std::ranges::binary_search(from.cancelled, event->request))
    operation.matched = false;
  if (wildcards_ == Wildcards::arrival) reopen_wildcard(operation);
  return true;
}

std::string TraceSource::describe_site(trace::SiteId id) const {
  return id == 0 || !tell_place_ ? std::string() : tell_place_(site(id));
}

std::string TraceSource::place(WorldRank rank) const {
  return describe_site(streams_[static_cast<std::size_t>(rank.value)].site);
}

std::string TraceSource::end_reason(WorldRank rank) const {
  const auto& damage = trace_ ? trace_->damage : reader_->damage();
  const auto found = std::ranges::find(damage, rank, &trace::Damage::rank);
  if (found != damage.end())
    return "damaged at offset " + std::to_string(found->offset) + ": " + found->what;
  const bool sealed = trace_ ? trace_->sealed : reader_->sealed();
  return sealed ? std::string() : std::string("the run did not reach its end");
}

}  // namespace foretrace::sim
