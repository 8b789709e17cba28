#include "sim/engine.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "sim/collectives.hpp"
#include "sim/matcher.hpp"
#include "sim/ready_list.hpp"
#include "sim/request_table.hpp"

namespace foretrace::sim {
namespace {

using machine::MessageStamp;
using machine::RecvKind;
using machine::SendMode;
using trace::EventKind;

// Clocks stay below this, so that adding one more cost cannot overflow unseen.
constexpr Time kEndOfTime = Time::ps(INT64_MAX / 2);

// A rank and the operation that it is in.
struct Rank {
  WorldRank id;
  Operation operation;
  Time clock;                     // when the previous operation left
  Time enter;                     // of the current operation
  Time leave;                     // of the current operation, as far as known
  Time latest;                    // collective: the latest start that it waits for
  std::uint32_t waiting_for = 0;  // halves of messages, requests or a collective
  bool send_open = false;         // blocking calls: the half that is not done yet
  bool recv_open = false;
  bool blocked = false;
  std::uint64_t unreceived = 0;  // eager messages that it sent and nobody took yet
  std::uint64_t allowance = 0;   // how far `unreceived` may grow before others go first
  RequestTable requests;
  RankResult result;
};

class Engine {
 public:
  Engine(Source& source, const machine::Timing& timing, const SimulateOptions& options, Sink& sink)
      : source_(source),
        timing_(timing),
        options_(options),
        sink_(sink),
        reactive_(source.reactive()),
        ranks_(static_cast<std::size_t>(source.ranks())),
        ready_(options.order == ReadyOrder::lowest_rank_first),
        matcher_(source.ranks()),
        collectives_(source) {}

  SimulateResult run();

 private:
  // Runs one rank until it blocks, ends or has run ahead.
  void advance(Rank& rank);
  void start(Rank& rank);
  void finish(Rank& rank);
  bool too_far_ahead(const Rank& rank) const;

  void start_send(Rank& rank);
  void start_recv(Rank& rank, RecvKind kind);
  void start_isend(Rank& rank);
  void start_irecv(Rank& rank);
  void start_complete(Rank& rank);
  void start_collective(Rank& rank);
  void start_call(Rank& rank);
  void connect_send(Rank& rank, bool rendezvous, std::uint64_t request);
  void connect_recv(Rank& rank, RecvKind kind, std::uint64_t request);
  void transfer(Rank& sender, const PendingSend& send, Rank& receiver, const PendingRecv& recv);
  void half_done(Rank& rank, Time leave);
  void request_done(Rank& rank, std::uint64_t serial, Time end, Bytes bytes);

  // Time spent waiting for others in the operation that leaves now.
  Time wait_of(const Rank& rank) const;
  Time complete_requests(Rank& rank, Time& minimum);

  Time compute_before(const Operation& operation) const;
  Rank& partner(const Rank& rank, WorldRank peer);
  [[noreturn]] void fail(const Rank& rank, const std::string& what) const;

  std::vector<std::string> diagnose_blocked();
  BlockedRank describe(Rank& rank);
  void describe_point_to_point(const Rank& rank, BlockedRank& blocked);
  void describe_complete(Rank& rank, BlockedRank& blocked);

  Source& source_;
  const machine::Timing& timing_;
  const SimulateOptions& options_;
  Sink& sink_;
  const bool reactive_;
  std::vector<Rank> ranks_;
  ReadyList ready_;
  std::vector<std::size_t> deferred_;  // ranks that let others go first, in that order
  std::size_t deferred_from_ = 0;
  Matcher matcher_;
  Collectives collectives_;
  std::vector<Release> released_;
  std::vector<Time> call_costs_;  // by name; negative: not known yet
  Stats stats_;
};

SimulateResult Engine::run() {
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    ranks_[r].id = WorldRank(static_cast<std::int32_t>(r));
    ranks_[r].allowance = options_.run_ahead;
  }
  for (std::size_t r = ranks_.size(); r-- > 0;) ready_.push(r);
  for (;;) {
    if (!ready_.empty()) {
      advance(ranks_[ready_.pop()]);
    } else if (deferred_from_ < deferred_.size()) {
      Rank& rank = ranks_[deferred_[deferred_from_++]];
      rank.allowance = rank.unreceived + options_.run_ahead;
      if (deferred_from_ == deferred_.size()) {
        deferred_.clear();
        deferred_from_ = 0;
      }
      advance(rank);
    } else {
      break;
    }
  }
  SimulateResult result;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  result.notes = diagnose_blocked();
  stats_.seconds = seconds.count();
  stats_.peak_bytes = ranks_.capacity() * sizeof(Rank) + matcher_.memory() + collectives_.memory() +
                      ready_.memory() + deferred_.capacity() * sizeof(std::size_t);
  for (const Rank& rank : ranks_) {
    stats_.operations += rank.result.events;
    stats_.peak_bytes += rank.requests.memory();
    result.time = std::max(result.time, rank.result.time);
    result.ranks.push_back(rank.result);
  }
  result.stats = stats_;
  return result;
}

void Engine::advance(Rank& rank) {
  if (rank.blocked) {
    rank.blocked = false;
    finish(rank);
  }
  if (rank.unreceived <= options_.run_ahead) rank.allowance = options_.run_ahead;
  while (source_.next(rank.id, rank.operation)) {
    ++rank.result.events;
    start(rank);
    if (rank.waiting_for > 0) {
      rank.blocked = true;
      return;
    }
    finish(rank);
    if (too_far_ahead(rank)) {
      deferred_.push_back(static_cast<std::size_t>(rank.id.value));
      return;
    }
  }
}

// A rank that has nobody to let go first just goes on; so does one whose
// allowance was raised because nobody else could.
bool Engine::too_far_ahead(const Rank& rank) const {
  if (rank.unreceived > rank.allowance) return true;
  return rank.operation.kind == EventKind::collective &&
         collectives_.open_instances(rank.operation.comm) > options_.run_ahead && !ready_.empty();
}

// Saturates: finish() refuses clocks beyond the end of time.
Time Engine::compute_before(const Operation& operation) const {
  switch (options_.compute) {
    case ComputeMode::none:
      return Time();
    case ComputeMode::annotated:
      return operation.steps == 0 ? Time() : std::min(timing_.compute(operation.steps), kEndOfTime);
    case ComputeMode::recorded:
      break;
  }
  if (options_.scale == 1) return operation.compute;
  const double scaled = static_cast<double>(operation.compute.count_ps()) * options_.scale;
  return scaled < static_cast<double>(kEndOfTime.count_ps()) ? Time::ps(std::llround(scaled))
                                                             : kEndOfTime;
}

void Engine::start(Rank& rank) {
  const Operation& operation = rank.operation;
  // The clock starts when MPI_Init returns; what was before does not count.
  rank.enter =
      operation.kind == EventKind::init ? rank.clock : rank.clock + compute_before(operation);
  rank.leave = rank.enter;
  switch (operation.kind) {
    case EventKind::send:
      return start_send(rank);
    case EventKind::recv:
      return start_recv(rank, RecvKind::blocking);
    case EventKind::sendrecv:
      start_send(rank);
      return start_recv(rank, RecvKind::sendrecv);
    case EventKind::isend:
      return start_isend(rank);
    case EventKind::irecv:
      return start_irecv(rank);
    case EventKind::complete:
      return start_complete(rank);
    case EventKind::collective:
      return start_collective(rank);
    case EventKind::call:
      return start_call(rank);
    case EventKind::finalize:
    case EventKind::aborted:
      rank.result.finalized = rank.result.finalized || operation.kind == EventKind::finalize;
      return;
    case EventKind::init:
    case EventKind::phase_begin:
    case EventKind::phase_end:
      return;
  }
}

void Engine::finish(Rank& rank) {
  const Operation& operation = rank.operation;
  Interval interval;
  interval.compute = rank.enter - rank.clock;
  interval.enter = rank.enter;
  if (operation.kind == EventKind::complete) {
    Time minimum;
    rank.leave = complete_requests(rank, minimum);
    interval.wait = std::max(rank.leave - (rank.enter + minimum), Time());
  } else {
    interval.wait = wait_of(rank);
  }
  interval.leave = rank.leave;
  if (rank.enter < rank.clock || rank.leave < rank.enter || rank.leave > kEndOfTime)
    fail(rank, "the virtual time passes 53 days; check the machine model and the scale");
  rank.clock = rank.leave;
  if (!rank.result.finalized || operation.kind == EventKind::finalize) {
    rank.result.time = operation.kind == EventKind::finalize ? rank.enter : rank.leave;
    rank.result.compute += interval.compute;
    rank.result.wait += interval.wait;
  }
  sink_.finished(rank.id, operation, interval);
  if (reactive_) source_.completed(rank.id, operation, interval);
}

// The part of the call that would have been saved if everybody had been there.
Time Engine::wait_of(const Rank& rank) const {
  const Operation& operation = rank.operation;
  const Time enter = rank.enter;
  Time alone = enter;
  const auto send_alone = [&] {
    const Bytes bytes = operation.send.bytes;
    if (!operation.send.peer.valid()) return enter;
    return timing_.is_rendezvous(operation.mode, bytes)
               ? timing_.send_rendezvous_leave(enter, enter, bytes)
               : timing_.send_eager_leave(enter, operation.mode, bytes);
  };
  const auto recv_alone = [&] {
    return operation.recv.peer.valid() ? enter + timing_.recv_minimum(operation.recv.bytes) : enter;
  };
  switch (operation.kind) {
    case EventKind::send:
      alone = send_alone();
      break;
    case EventKind::recv:
      alone = recv_alone();
      break;
    case EventKind::sendrecv:
      alone = std::max(send_alone(), recv_alone());
      break;
    case EventKind::collective:
      return rank.latest - enter;
    default:
      return Time();
  }
  return std::max(rank.leave - alone, Time());
}

Rank& Engine::partner(const Rank& rank, WorldRank peer) {
  if (peer.value >= static_cast<std::int32_t>(ranks_.size()))
    fail(rank, "expected a peer below " + std::to_string(ranks_.size()) + ", found rank " +
                   std::to_string(peer.value));
  return ranks_[static_cast<std::size_t>(peer.value)];
}

void Engine::start_send(Rank& rank) {
  const trace::Endpoint& to = rank.operation.send;
  if (!to.peer.valid()) return;
  const SendMode mode = rank.operation.mode;
  const bool rendezvous = timing_.is_rendezvous(mode, to.bytes);
  if (rendezvous) {
    ++rank.waiting_for;
    rank.send_open = true;
  } else {
    rank.leave = timing_.send_eager_leave(rank.enter, mode, to.bytes);
  }
  connect_send(rank, rendezvous, 0);
}

void Engine::start_recv(Rank& rank, RecvKind kind) {
  if (!rank.operation.recv.peer.valid()) {
    if (rank.operation.recv.any_source)
      fail(rank, "a wildcard receive whose message is not known; run the program live");
    return;
  }
  ++rank.waiting_for;
  rank.recv_open = true;
  connect_recv(rank, kind, 0);
}

void Engine::start_isend(Rank& rank) {
  const Operation& operation = rank.operation;
  const trace::Endpoint& to = operation.send;
  Request* request = rank.requests.insert(operation.request);
  if (!request) fail(rank, "request " + std::to_string(operation.request) + " is posted twice");
  request->is_send = true;
  request->peer = to.peer;
  request->tag = to.tag;
  request->comm = operation.comm;
  request->empty = !to.peer.valid() || !operation.matched;
  request->done = request->empty;
  if (to.peer.valid()) rank.leave = timing_.isend_post_leave(rank.enter, to.bytes);
  if (request->empty) return;
  const bool rendezvous = timing_.is_rendezvous(operation.mode, to.bytes);
  request->needs_buffer = rendezvous && operation.mode != SendMode::synchronous;
  if (!rendezvous) {
    request->done = true;
    request->bytes = to.bytes;
    request->end = timing_.isend_end(rank.enter, rank.enter, operation.mode, to.bytes, rendezvous);
  }
  connect_send(rank, rendezvous, operation.request);
}

void Engine::start_irecv(Rank& rank) {
  const Operation& operation = rank.operation;
  const trace::Endpoint& from = operation.recv;
  Request* request = rank.requests.insert(operation.request);
  if (!request) fail(rank, "request " + std::to_string(operation.request) + " is posted twice");
  request->peer = from.peer;
  request->tag = from.tag;
  request->comm = operation.comm;
  request->empty = !from.peer.valid() || !operation.matched;
  request->done = request->empty;
  if (from.peer.valid() || from.any_source)
    rank.leave = timing_.irecv_post_leave(rank.enter, from.bytes);
  if (!request->empty) connect_recv(rank, RecvKind::posted, operation.request);
}

void Engine::connect_send(Rank& rank, bool rendezvous, std::uint64_t request) {
  const Operation& operation = rank.operation;
  const trace::Endpoint& to = operation.send;
  Rank& receiver = partner(rank, to.peer);
  ++stats_.messages;
  const PendingSend send{{rank.enter, to.bytes, rendezvous}, operation.mode, request};
  if (const auto recv = matcher_.send({operation.comm, rank.id, to.peer, to.tag}, send))
    transfer(rank, send, receiver, *recv);
  else if (!rendezvous)
    ++rank.unreceived;
}

void Engine::connect_recv(Rank& rank, RecvKind kind, std::uint64_t request) {
  const Operation& operation = rank.operation;
  const trace::Endpoint& from = operation.recv;
  Rank& sender = partner(rank, from.peer);
  const PendingRecv recv{rank.enter, kind, request};
  const auto send = matcher_.receive({operation.comm, from.peer, rank.id, from.tag}, recv);
  if (!send) return;
  if (!send->stamp.rendezvous) --sender.unreceived;
  transfer(sender, *send, rank, recv);
}

// Both ends of a message are known: so are both ends' times.
void Engine::transfer(Rank& sender, const PendingSend& send, Rank& receiver,
                      const PendingRecv& recv) {
  const MessageStamp& stamp = send.stamp;
  if (stamp.rendezvous && send.request == 0) {
    sender.send_open = false;
    half_done(sender, timing_.send_rendezvous_leave(stamp.sent, recv.entered, stamp.bytes));
  } else if (stamp.rendezvous) {
    request_done(sender, send.request,
                 timing_.isend_end(stamp.sent, recv.entered, send.mode, stamp.bytes, true),
                 stamp.bytes);
  }
  if (recv.kind != RecvKind::posted) receiver.recv_open = false;
  switch (recv.kind) {
    case RecvKind::blocking:
      return half_done(receiver, timing_.recv_leave(recv.entered, stamp));
    case RecvKind::sendrecv:
      return half_done(receiver, timing_.sendrecv_recv_leave(recv.entered, stamp));
    case RecvKind::posted:
      return request_done(receiver, recv.request, timing_.irecv_end(recv.entered, stamp),
                          stamp.bytes);
  }
}

void Engine::half_done(Rank& rank, Time leave) {
  rank.leave = std::max(rank.leave, leave);
  if (--rank.waiting_for == 0 && rank.blocked) ready_.push(static_cast<std::size_t>(rank.id.value));
}

void Engine::request_done(Rank& rank, std::uint64_t serial, Time end, Bytes bytes) {
  Request& request = *rank.requests.find(serial);
  request.end = end;
  request.bytes = bytes;
  request.done = true;
  if (request.awaited) half_done(rank, rank.enter);
}

void Engine::start_complete(Rank& rank) {
  for (const trace::Completion& completion : rank.operation.completions) {
    Request* request = rank.requests.find(completion.request);
    if (!request || request->awaited)
      fail(rank, "completes request " + std::to_string(completion.request) +
                     (request ? " twice" : ", which is not posted or completed before"));
    if (request->done) continue;
    request->awaited = true;
    ++rank.waiting_for;
  }
}

// MPI defines Waitall as Waits in some order; here it is the order listed.
Time Engine::complete_requests(Rank& rank, Time& minimum) {
  Time leave = rank.enter;
  for (const trace::Completion& completion : rank.operation.completions) {
    const Request* request = rank.requests.find(completion.request);
    if (!request) fail(rank, "completes request " + std::to_string(completion.request) + " twice");
    if (request->empty) {
      // Nothing moved, nothing is paid.
    } else if (request->is_send) {
      leave = timing_.isend_complete_leave(leave, request->end, request->bytes);
      minimum += timing_.isend_complete_minimum(request->bytes);
    } else {
      leave = timing_.irecv_complete_leave(leave, request->end, request->bytes);
      minimum += timing_.irecv_complete_minimum(request->bytes);
    }
    rank.requests.erase(completion.request);
  }
  return leave;
}

void Engine::start_collective(Rank& rank) {
  ++rank.waiting_for;
  released_.clear();
  collectives_.enter(rank.operation, rank.id, rank.enter, released_);
  for (const Release& release : released_) {
    Rank& member = ranks_[static_cast<std::size_t>(release.rank.value)];
    const Operation& operation = member.operation;
    member.latest = release.latest;
    half_done(member,
              timing_.collective_leave(release.latest, operation.collective,
                                       collectives_.size_of(operation.comm), operation.bytes));
  }
}

void Engine::start_call(Rank& rank) {
  const trace::NameId name = rank.operation.name;
  constexpr Time kUnknown = Time::ps(-1);
  if (name >= call_costs_.size()) call_costs_.resize(name + std::size_t{1}, kUnknown);
  Time& cost = call_costs_[name];
  if (cost == kUnknown) cost = timing_.local_call(source_.name(name), source_.ranks());
  if (cost > Time() && rank.operation.count > kEndOfTime.count_ps() / cost.count_ps())
    fail(rank, "the virtual time passes 53 days; check the machine model");
  rank.leave = rank.enter + Time::ps(cost.count_ps() * rank.operation.count);
}

void Engine::fail(const Rank& rank, const std::string& what) const {
  throw Error("rank " + std::to_string(rank.id.value) + ", event " +
              std::to_string(rank.result.events) + " (" +
              std::string(source_.name(rank.operation.name)) + "): " + what);
}

std::vector<std::string> Engine::diagnose_blocked() {
  std::vector<BlockedRank> blocked;
  std::vector<EndedRank> ended;
  for (Rank& rank : ranks_) {
    if (rank.blocked) {
      blocked.push_back(describe(rank));
    } else if (!rank.result.finalized) {
      const bool aborted = rank.result.events > 0 && rank.operation.kind == EventKind::aborted;
      ended.push_back({rank.id, rank.result.events,
                       aborted ? "the program aborted" : source_.end_reason(rank.id)});
    }
  }
  const auto& threshold = timing_.model().loggps.sync_threshold;
  return diagnose(source_.ranks(), std::move(blocked), ended,
                  threshold ? std::optional(threshold->count) : std::nullopt);
}

BlockedRank Engine::describe(Rank& rank) {
  const Operation& operation = rank.operation;
  BlockedRank blocked;
  blocked.rank = rank.id;
  blocked.event = rank.result.events;
  blocked.call = source_.name(operation.name);
  if (operation.kind == EventKind::complete) {
    describe_complete(rank, blocked);
  } else if (operation.kind == EventKind::collective) {
    blocked.call =
        describe_collective(source_, operation.name, operation.collective, operation.root) +
        " on " + describe_comm(source_.comm(operation.comm));
    blocked.waits_for = collectives_.missing(operation.comm, rank.id);
  } else {
    describe_point_to_point(rank, blocked);
  }
  return blocked;
}

void Engine::describe_point_to_point(const Rank& rank, BlockedRank& blocked) {
  const Operation& operation = rank.operation;
  const auto add = [&](const char* direction, const trace::Endpoint& end) {
    blocked.call += direction + std::to_string(end.peer.value) + ", tag " +
                    std::to_string(end.tag) + ", " + std::to_string(end.bytes.count) + " bytes";
    blocked.waits_for.push_back(end.peer);
  };
  if (rank.send_open) add(" to rank ", operation.send);
  if (rank.recv_open) add(rank.send_open ? " and from rank " : " from rank ", operation.recv);
  blocked.needs_buffer =
      rank.send_open && !rank.recv_open && operation.mode != SendMode::synchronous;
}

void Engine::describe_complete(Rank& rank, BlockedRank& blocked) {
  blocked.needs_buffer = true;
  for (const trace::Completion& completion : rank.operation.completions) {
    const Request& request = *rank.requests.find(completion.request);
    if (request.done) continue;
    blocked.call += (blocked.waits_for.empty() ? " of a" : " and of a");
    blocked.call += (request.is_send ? " send to rank " : " receive from rank ") +
                    std::to_string(request.peer.value) + ", tag " + std::to_string(request.tag);
    blocked.waits_for.push_back(request.peer);
    blocked.needs_buffer = blocked.needs_buffer && request.needs_buffer;
  }
}

}  // namespace

SimulateResult simulate(Source& source, const machine::Timing& timing,
                        const SimulateOptions& options, Sink& sink) {
  return Engine(source, timing, options, sink).run();
}

}  // namespace foretrace::sim
