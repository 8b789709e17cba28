#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "mpi_api/groups.hpp"
#include "sim/engine_impl.hpp"

namespace foretrace::sim {
namespace {

// Requests of a collective's own.
constexpr std::uint64_t kCollectiveRequest = std::uint64_t{1} << 63;

}  // namespace

void Engine::start_collective(Rank& rank) {
  ++rank.waiting_for;
  enter_collective(rank, 0);
}

// The posting is the rank's part in it; its request ends when a blocking call
// would have let it go.
void Engine::start_icollective(Rank& rank) {
  const Operation& operation = rank.operation;
  Request* request = rank.requests.insert(operation.request);
  if (!request) fail(rank, "request " + std::to_string(operation.request) + " is posted twice");
  request->is_collective = true;
  request->collective = operation.collective;
  request->comm = operation.comm;
  request->bytes = operation.bytes;
  const bool blocks = stands_for_blocking(operation);
  if (blocks) request->payload = std::uint64_t{operation.name} + 1;
  if (!blocks)
    rank.leave = rules_in(operation.comm)
                     .icollective_post_leave(rank.enter, operation.collective,
                                             collectives_.size_of(operation.comm), operation.bytes);
  if (!has_messages(operation)) return enter_collective(rank, operation.request);
  if (log_) log_join(rank);
  released_.clear();
  const Collectives::Place place =
      collectives_.enter(operation, rank.id, rank.enter, operation.request, true, released_);
  post_messages(rank, *request, place);
  if (!log_) return;
  for (const Release& release : released_)
    if (PostedCollective* posted =
            posted_collective(rank_of(release.rank).requests.find(release.request)))
      posted->latest = release.latest;
}

// The rules on the innermost path that all members share, for data that is untouched or not.
const machine::Timing& Engine::rules_in(trace::CommId comm, bool untouched) {
  if (!timing_.has_paths() && !untouched) return timing_;
  if (comm_paths_.size() <= comm) comm_paths_.resize(comm + std::size_t{1});
  std::optional<machine::Path>& path = comm_paths_[comm];
  if (!path) {
    const auto& members = source_.comm(comm).members;
    path = machine::Path::node;
    for (const WorldRank member : members)
      path = std::max(*path, network_->path(members.front(), member));
  }
  return timing_.on(machine::of_data(*path, untouched));
}

void Engine::forget(trace::CommId comm) {
  collectives_.forget(comm);
  if (comm < comm_paths_.size()) comm_paths_[comm].reset();
  posting_members_.erase(comm);
}

void Engine::enter_collective(Rank& rank, std::uint64_t request) {
  const int size = collectives_.size_of(rank.operation.comm);
  released_.clear();
  if (log_) log_join(rank);
  collectives_.enter(rank.operation, rank.id, rank.enter, request, false, released_);
  if (in_calls_) gather_when_attended(rank);
  for (const Release& release : released_) {
    if (release.request & kDetachedRequest) continue;
    Rank& member = rank_of(release.rank);
    if (release.request != 0) {
      if (!in_calls_ || stands_for_blocking(member, release.request))
        end_posted_by_equation(release, rank.operation.comm, release.latest);
      continue;
    }
    const machine::Timing& rules = rules_in(rank.operation.comm, release.untouched);
    const Operation& operation = member.operation;
    member.latest = release.latest;
    const Bytes bytes = rules.charged(operation.collective, operation.bytes, release.largest);
    member.leave = rules.collective_leave(release.latest, operation.collective, size, bytes,
                                          source_.name(operation.name));
    if (log_)
      log_release(release, rank.operation.comm, member.leave,
                  rules.collective_leave(release.latest, operation.collective, size, Bytes(0),
                                         source_.name(operation.name)));
    half_done(member);
  }
}

// All are there from `latest` on whom the member waits for.
void Engine::end_posted_by_equation(const Release& release, trace::CommId comm, Time latest) {
  Rank& member = rank_of(release.rank);
  const machine::Timing& rules = rules_in(comm, release.untouched);
  const int size = collectives_.size_of(comm);
  const Request& posted = *member.requests.find(release.request);
  const Bytes bytes = rules.charged(posted.collective, posted.bytes, release.largest);
  const std::string_view name =
      posted.payload != 0 ? source_.name(static_cast<trace::NameId>(posted.payload - 1)) : "";
  const Time end = rules.collective_leave(latest, posted.collective, size, bytes, name);
  if (log_)
    log_release(release, comm, end,
                rules.collective_leave(latest, posted.collective, size, Bytes(0), name));
  const Time alone = name.empty() ? Time() : end - latest;
  request_done(member, release.request, end, {}, static_cast<std::uint64_t>(alone.count_ps()));
}

bool Engine::stands_for_blocking(Rank& member, std::uint64_t posted) {
  return member.requests.find(posted)->payload != 0;
}

// Whether what is posted is a blocking call: one that lets other threads of its rank go on
// meanwhile is posted and waited for under its name, and takes what it takes without them.
bool Engine::stands_for_blocking(const Operation& operation) {
  enum Answer : char { unknown, no, yes };
  if (operation.name >= blocking_names_.size()) blocking_names_.resize(operation.name + 1, unknown);
  char& answer = blocking_names_[operation.name];
  if (answer == unknown) {
    static const mpi_api::Group& nonblocking = *mpi_api::find_group("nonblocking");
    static const mpi_api::Group& starts = *mpi_api::find_group("starts");
    const std::string_view name = source_.name(operation.name);
    const bool blocks =
        name.starts_with("MPI_") && !is_in(nonblocking, name) && !is_in(starts, name);
    answer = blocks ? yes : no;
  }
  return answer == yes;
}

// Whether the collective is carried out message by message.
bool Engine::has_messages(const Operation& operation) {
  if (!options_.algorithms || algorithms_for(operation.collective).empty()) return false;
  // What a disk takes is no messages.
  if (operation.collective == machine::Cost::barrier &&
      timing_.takes_own_equation(source_.name(operation.name), operation.bytes))
    return false;
  return !options_.measured_collectives || operation.algorithm != 0 ||
         !rules_in(operation.comm)
              .is_measured(operation.collective, collectives_.size_of(operation.comm));
}

CollectiveCall Engine::call_of(const Operation& operation, int local) {
  CollectiveCall call;
  call.collective = operation.collective;
  call.size = collectives_.size_of(operation.comm);
  call.rank = local;
  call.root = operation.root.valid() ? operation.root.value : 0;
  call.bytes = operation.bytes;
  call.posted = operation.kind == trace::EventKind::icollective && !stands_for_blocking(operation);
  if (operation.counts) call.counts = *operation.counts;
  return call;
}

// By the algorithm of that number, or (0) the one that the table chooses.
StepFunction Engine::steps_of(const CollectiveCall& call, std::uint32_t algorithm) {
  if (algorithm != 0) return algorithms_for(call.collective).at(algorithm - 1).step;
  if (call.collective != chosen_for_.collective || call.size != chosen_for_.size ||
      call.bytes != chosen_for_.bytes || call.posted != chosen_for_.posted) {
    chosen_for_ = call;
    chosen_step_ = options_.algorithms->choose(call).step;
  }
  return chosen_step_;
}

// Begins to carry out the rank's collective message by message.
void Engine::expand(Rank& rank) {
  const Operation& operation = rank.operation;
  if (!rank.expansion) rank.expansion = std::make_unique<Expansion>();
  Expansion& expansion = *rank.expansion;
  expansion.call = call_of(operation, collectives_.agree(operation, rank.id));
  expansion.step = steps_of(expansion.call, operation.algorithm);
  expansion.collective = operation;
  expansion.compute = rank.enter - rank.clock;
  expansion.enter = rank.enter;
  expansion.wait = Time();
  expansion.reduction = Time();
  expansion.next = 0;
  expansion.open.clear();
  expansion.active = true;
  // Before it was told with whom, it has nobody to send messages to.
  rank.clock = rank.racing ? std::max(rank.enter, rank.racing->told) : rank.enter;
  // A wait's `watched` lies in the same place.
  rank.operation.algorithm = 0;
  rank.operation.comm = operation.comm | kCollectiveComm;
  rank.operation.mode = machine::SendMode::standard;
}

Time Engine::combine_time(machine::Reduction what, Bytes bytes) const {
  if (!options_.reduce_per_byte) return timing_.combine_time(what, bytes);
  return Time::from_seconds(static_cast<double>(bytes.count) * *options_.reduce_per_byte);
}

// Makes the next step the rank's operation; false after the last one.
bool Engine::next_step(Rank& rank) {
  Expansion& expansion = *rank.expansion;
  Operation& operation = rank.operation;
  rank.enter = rank.clock + std::exchange(expansion.reduction, Time());
  Step step;
  if (!take_from(expansion, step)) return false;
  if (step.reduced.count > 0)
    expansion.reduction = combine_time(expansion.collective.reduction, step.reduced);
  const auto& members = source_.comm(expansion.collective.comm).members;
  const auto end = [&](int local, Bytes bytes) {
    trace::Endpoint endpoint;
    if (local != kNobody) endpoint.peer = members[static_cast<std::size_t>(local)];
    endpoint.bytes = bytes;
    return endpoint;
  };
  operation.send = end(step.to, step.send_bytes);
  if (operation.send.peer.valid()) {
    // The partner is far away in memory.
    const auto* partner = reinterpret_cast<const char*>(&rank_of(operation.send.peer));
    for (std::size_t at = 0; at < sizeof(Rank); at += 64) __builtin_prefetch(partner + at);
    matcher_.prefetch(operation.send.peer);
  }
  operation.recv = end(step.from, step.recv_bytes);
  switch (step.kind) {
    case Step::Kind::exchange:
      operation.kind = step.from == kNobody ? trace::EventKind::send
                       : step.to == kNobody ? trace::EventKind::recv
                                            : trace::EventKind::sendrecv;
      break;
    case Step::Kind::post_send:
      // An eager send of LogGPS is over when it is posted: no request is needed.
      if (options_.network.kind != NetworkKind::datasheet &&
          !network_->is_rendezvous(network_->path(rank.id, operation.send.peer), operation.mode,
                                   step.send_bytes)) {
        operation.kind = trace::EventKind::send;
        break;
      }
      [[fallthrough]];
    case Step::Kind::post_recv:
      operation.kind =
          step.kind == Step::Kind::post_send ? trace::EventKind::isend : trace::EventKind::irecv;
      operation.request = kCollectiveRequest | ++expansion.posted;
      expansion.open.push_back({operation.request, {}, 0, {}, false});
      break;
    case Step::Kind::wait_all:
      operation.kind = trace::EventKind::complete;
      expansion.awaited.swap(expansion.open);
      expansion.open.clear();
      operation.completing = Completing::all;
      operation.completions = expansion.awaited;
      break;
    case Step::Kind::nothing:
      break;
  }
  return true;
}

void Engine::end_expansion(Rank& rank) {
  Expansion& expansion = *rank.expansion;
  expansion.active = false;
  rank.operation = expansion.collective;
  Interval interval;
  interval.compute = expansion.compute;
  interval.enter = expansion.enter;
  interval.leave = rank.enter;
  interval.wait = expansion.wait;
  rank.clock = rank.enter;
  rank.received = false;
  if (in_calls_) leave_call(rank);
  if (log_) {
    // Also where it had no message, or a reduction was left to be done.
    log_->enter(rank.id, static_cast<std::uint32_t>(rank.result.events - 1), rank.enter);
    log_->leave(rank.id, rank.enter, rank.enter, Time());
  }
  hand_over(rank, interval);
}

}  // namespace foretrace::sim
