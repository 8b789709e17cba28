#include "sim/engine.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "machine/look_time.hpp"
#include "machine/moving.hpp"
#include "mpi_api/groups.hpp"
#include "sim/engine_impl.hpp"

namespace foretrace::sim {

using machine::RecvKind;
using trace::EventKind;

namespace {

// So many parked ranks are looked at again when nothing else is ready.
constexpr int kMostLooks = 16;

}  // namespace

Engine::Engine(Source& source, const machine::Timing& timing, const SimulateOptions& options,
               Sink& sink)
    : source_(source),
      timing_(timing),
      options_(options),
      sink_(sink),
      log_(options.dependences),
      network_(make_network(options.network, timing, source.ranks())),
      least_transfer_(network_->least_transfer()),
      links_(network_->shared()),
      ports_(network_->has_ports()),
      reactive_(source.reactive()),
      races_(source.races()),
      in_calls_(options.progress == Progress::calls && machine::attended_from(timing.model())),
      by_time_(links_ != nullptr || ports_ || races_ || in_calls_ ||
               options.order == ReadyOrder::by_time ||
               (options.algorithms && source.posts_collectives())),
      ranks_(static_cast<std::size_t>(source.ranks())),
      ready_(options.order == ReadyOrder::lowest_rank_first),
      matcher_(source.ranks()),
      collectives_(source, timing),
      handing_until_(links_ ? ranks_.size() : 0),
      attendances_(in_calls_ ? ranks_.size() : 0),
      looked_(reactive_ ? ranks_.size() : 0) {}

SimulateResult Engine::run() {
  const auto begin = std::chrono::steady_clock::now();
  source_.begin({&timing_, options_.compute == ComputeMode::annotated,
                 options_.compute == ComputeMode::recorded ? options_.scale : 0,
                 options_.network.kind == NetworkKind::datasheet && !timing_.has_paths() &&
                     (!timing_.knows_untouched() || share_a_node()),
                 least_transfer_, false, options_.slower});
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    ranks_[r].id = WorldRank(static_cast<std::int32_t>(r));
    ranks_[r].allowance = options_.run_ahead;
    ranks_[r].absent = !source_.starts(ranks_[r].id);
  }
  for (std::size_t r = ranks_.size(); r-- > 0;)
    if (!ranks_[r].absent) ready_.push(r);
  if (log_)
    log_->begin(source_.ranks(), network_->times_follow_from_ends() && !races_ && !in_calls_);
  if (by_time_)
    run_by_time();
  else
    run_in_any_order();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  stats_.seconds = seconds.count();
  return result();
}

void Engine::run_in_any_order() {
  for (;;) {
    if (!ready_.empty()) {
      advance(ranks_[ready_.pop()]);
    } else if (Rank* rank = unparked()) {
      advance(*rank);
    } else if (deferred_from_ < deferred_.size()) {
      Rank& rank = ranks_[deferred_[deferred_from_++]];
      rank.allowance = rank.unreceived + options_.run_ahead;
      if (deferred_from_ == deferred_.size()) {
        deferred_.clear();
        deferred_from_ = 0;
      }
      advance(rank);
    } else if (!parked_.empty()) {
      const auto first = *parked_.begin();
      parked_.erase(parked_.begin());
      advance(ranks_[static_cast<std::size_t>(first.second)]);
    } else {
      return;
    }
  }
}

// The rank's next operation is not there yet. By time, nothing happens from its
// clock on before it is: then the queue asks for it.
void Engine::park(Rank& rank) {
  rank.parked = true;
  if (by_time_)
    events_.push({rank.clock, EventClass::ask, rank.id.value, 0, 0});
  else
    parked_.emplace(rank.clock, rank.id.value);
}

// A parked rank whose operation is there now, if a few looks find one.
Rank* Engine::unparked() {
  for (int i = 0; i < kMostLooks && !parked_.empty(); ++i) {
    auto at = parked_.upper_bound(looked_at_);
    if (at == parked_.end()) at = parked_.begin();
    looked_at_ = *at;
    Rank& rank = ranks_[static_cast<std::size_t>(at->second)];
    if (!source_.ready(rank.id)) continue;
    parked_.erase(at);
    return &rank;
  }
  return nullptr;
}

void Engine::run_by_time() {
  for (;;) {
    while (!ready_.empty()) advance(ranks_[ready_.pop()]);
    count_step();
    const Time links = links_ ? links_->next() : Time::max();
    if (events_.empty() && links == Time::max()) {
      if (patience_.empty()) return;
      give_up_at_once();
      continue;
    }
    if (!patience_.empty() && patience_.top().time < links &&
        (events_.empty() || patience_.top() < events_.top())) {
      const Event event = patience_.pop();
      give_up(event, event.time);
      continue;
    }
    if (links != Time::max() && (events_.empty() || links <= events_.top().time)) {
      advance_links();
      continue;
    }
    const Event event = events_.pop();
    if (event.what == EventClass::header || event.what == EventClass::inject ||
        event.what == EventClass::answer)
      now_ = std::max(now_, event.time);
    switch (event.what) {
      case EventClass::progress:
        if (!in_calls_ || !step_when_attended(event)) go_on(event.payload);
        break;
      case EventClass::ask:
      case EventClass::begin:
        advance(ranks_[static_cast<std::size_t>(event.rank)]);
        break;
      case EventClass::header:
        settle(ranks_[static_cast<std::size_t>(event.rank)], event.time);
        break;
      case EventClass::wake:
        wake(event);
        break;
      case EventClass::attend:
        look_for_receiver(event);
        break;
      case EventClass::inject:
        enter_links(event);
        break;
      case EventClass::answer:
        send_answer(event);
        break;
      case EventClass::give_up:
        break;
    }
  }
}

SimulateResult Engine::result() {
  SimulateResult result;
  result.notes = diagnose_blocked();
  stats_.peak_bytes = ranks_.capacity() * sizeof(Rank) + matcher_.memory() + collectives_.memory() +
                      ready_.memory() + deferred_.capacity() * sizeof(std::size_t) +
                      events_.memory() + flights_.memory() + posted_.memory() + stalled_.memory() +
                      gatherings_.memory() + network_->memory();
  for (const Rank& rank : ranks_) {
    if (rank.absent) continue;
    stats_.operations += rank.result.events;
    stats_.peak_bytes += rank.requests.memory() + (rank.expansion ? sizeof(Expansion) : 0) +
                         (rank.racing ? rank.racing->memory() : 0);
    result.time = std::max(result.time, rank.result.time);
    result.ranks.push_back(rank.result);
  }
  result.stats = stats_;
  result.announced = announced_;
  result.unknowns = timing_.unknowns();
  if (links_) {
    result.links = links_->usage();
    result.contention = links_->contention();
  }
  if (const auto most = std::ranges::max_element(clock_readings_); most != clock_readings_.end())
    result.clock_readings = {WorldRank(static_cast<std::int32_t>(most - clock_readings_.begin())),
                             *most};
  for (const auto& [rank, order] : choices_) {
    const std::pair own{WorldRank(rank), order.passed_over()};
    const auto& most = result.passed_over;
    if (!most || most->second.lay < own.second.lay ||
        (most->second.lay == own.second.lay && own.first < most->first))
      result.passed_over = own;
  }
  result.long_message = long_message_;
  result.long_message_count = long_messages_;
  find_left_over(result);
  return result;
}

void Engine::advance(Rank& rank) {
  if (rank.blocked) {
    rank.blocked = false;
    finish(rank);
  }
  if (rank.unreceived <= options_.run_ahead) rank.allowance = options_.run_ahead;
  while (rank.prepared || prepare(rank)) {
    if (rank.enter > kEndOfTime) too_late(rank);
    if (by_time_ && !is_next(rank)) {
      rank.prepared = true;
      events_.push({rank.enter, EventClass::begin, rank.id.value, 0, 0});
      return;
    }
    rank.prepared = false;
    now_ = std::max(now_, rank.enter);
    count_step();
    start(rank);
    if (rank.waiting_for > 0 || rank.any || rank.probing) {
      rank.blocked = true;
      return;
    }
    finish(rank);
    if (!by_time_ && too_far_ahead(rank)) {
      deferred_.push_back(static_cast<std::size_t>(rank.id.value));
      return;
    }
  }
  if (in_calls_ && !rank.parked) end_attendance(rank);
}

// The rank's next operation, or the next step of one, and when it begins.
bool Engine::prepare(Rank& rank) {
  for (;;) {
    if (rank.expansion && rank.expansion->active) {
      if (next_step(rank)) return true;
      end_expansion(rank);
    }
    if (reactive_ && !rank.parked && !source_.ready(rank.id)) {
      park(rank);
      return false;
    }
    rank.parked = false;
    if (!source_.next(rank.id, rank.operation)) return false;
    if (!rank.operation.silent) ++rank.result.events;
    announced_ = announced_ || rank.operation.steps != 0;
    rank.enter = computed(rank) + packing(rank);
    // The clock starts when MPI_Init returns; what was before does not count.
    if (rank.operation.kind == EventKind::init) rank.enter = rank.clock;
    if (rank.operation.kind != EventKind::collective || !has_messages(rank.operation)) return true;
    expand(rank);
  }
}

// Whether nothing else happens before the rank's prepared operation begins.
bool Engine::is_next(const Rank& rank) const {
  if (links_ && links_->next() <= rank.enter) return false;
  const Event begin{rank.enter, EventClass::begin, rank.id.value, 0, 0};
  // Others that are ready may have something to do before.
  return ready_.empty() && (events_.empty() || begin < events_.top()) &&
         (patience_.empty() || begin < patience_.top());
}

// A rank that has nobody to let go first just goes on; so does one whose
// allowance was raised because nobody else could.
bool Engine::too_far_ahead(const Rank& rank) const {
  if (rank.unreceived > rank.allowance) return true;
  return (rank.operation.kind == EventKind::collective ||
          rank.operation.kind == EventKind::icollective) &&
         collectives_.open_instances(rank.operation.comm) > options_.run_ahead && !ready_.empty();
}

// Saturates: advance() refuses what begins beyond the end of time.
Time Engine::compute_before(const Rank& rank, const Operation& operation) const {
  switch (options_.compute) {
    case ComputeMode::none:
      return Time();
    case ComputeMode::annotated:
      return operation.steps == 0 ? Time() : timing_.compute(operation.steps, slower(rank));
    case ComputeMode::recorded:
      break;
  }
  return operation.compute.scaled(options_.scale * slower(rank));
}

double Engine::slower(const Rank& rank) const {
  const auto index = static_cast<std::size_t>(rank.id.value);
  return index < options_.slower.size() ? options_.slower[index] : 1;
}

// When the rank has computed what comes before its operation.
Time Engine::computed(const Rank& rank) {
  const Operation& operation = rank.operation;
  const Joining joining = operation.joins ? source_.joining(rank.id) : Joining();
  if (joining.left != 0) moments_[rank.id.value][joining.left] = rank.clock;
  Time computed = rank.clock + compute_before(rank, operation);
  const double longer = slower(rank);
  const auto join = [&](Time own, Time after, Time after_second) {
    const auto& moments = moments_.at(rank.id.value);
    computed = std::max(rank.clock + own, moments.at(joining.from) + after);
    if (joining.second != 0)
      computed = std::max(computed, moments.at(joining.second) + after_second);
  };
  if (joining.from != 0 && options_.compute == ComputeMode::recorded) {
    const double scale = options_.scale * longer;
    join(std::max(operation.compute - joining.held, Time()).scaled(scale),
         joining.after.scaled(scale), joining.after_second.scaled(scale));
  }
  if (joining.from != 0 && options_.compute == ComputeMode::annotated && joining.knows_steps)
    join(timing_.compute(std::max(operation.steps - joining.held_steps, 0.0), longer),
         timing_.compute(joining.after_steps, longer),
         timing_.compute(joining.steps_after_second, longer));
  if (joining.entered != 0) moments_[rank.id.value][joining.entered] = computed;
  return computed;
}

void Engine::start(Rank& rank) {
  if (log_ && !rank.operation.silent)
    log_->enter(rank.id, static_cast<std::uint32_t>(rank.result.events - 1), rank.enter);
  rank.leave = rank.enter;
  rank.send_delay = Time();
  rank.received = false;
  if (in_calls_) enter_call(rank);
  rank.detached = by_time_ && rank.operation.waitless && detach(rank);
  if (rank.detached) return;
  switch (rank.operation.kind) {
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
    case EventKind::icollective:
      return start_icollective(rank);
    case EventKind::call:
      return start_call(rank);
    case EventKind::finalize:
    case EventKind::aborted:
      rank.result.finalized = rank.result.finalized || rank.operation.kind == EventKind::finalize;
      return;
    case EventKind::init:
    case EventKind::phase_begin:
    case EventKind::phase_end:
    case EventKind::mark:
      return;
    case EventKind::probe:
      return trace::leaves_message(rank.operation) ? start_see(rank) : start_take(rank);
  }
}

void Engine::finish(Rank& rank) {
  if (rank.operation.silent) {
    if (rank.received) racing(rank).told = now_;
    return tell_source(rank, {Time(), rank.clock, rank.clock, Time()});
  }
  if (rank.operation.in_vain && rank.operation.vain_count > 1) return go_on_in_vain(rank);
  const Interval interval = leave(rank);
  if (rank.expansion && rank.expansion->active)
    rank.expansion->wait += interval.wait;
  else
    hand_over(rank, interval);
}

// Settles the times of what the rank is in; its clock is then when that leaves.
Interval Engine::leave(Rank& rank) {
  Interval interval;
  interval.enter = rank.enter - packing(rank);
  interval.compute = interval.enter - rank.clock;
  found_nothing_ = false;
  unpacking_ = Time();
  const Time alone = rank.detached ? rank.leave : settle_leave(rank);
  if (reactive_) note_looks(rank);
  if (rank.operation.waitless) rank.leave = std::min(rank.leave, alone);
  interval.wait = machine::wait_time(rank.leave, alone);
  if (rank.enter < rank.clock || rank.leave < rank.enter || rank.leave > kEndOfTime) too_late(rank);
  rank.clock = rank.leave;
  if (in_calls_) leave_call(rank);
  if (log_)
    log_->leave(rank.id, rank.leave, alone,
                rank.received
                    ? network_->receive_overhead(network_->path(rank.id, rank.message.peer))
                    : Time());
  // To the log it is computation, as what comes before the call.
  rank.leave += unpacking_ + unpacking(rank);
  rank.clock = interval.leave = rank.leave;
  return interval;
}

// Calls that move nothing, as MPI_Wtime, do not end a row of looks.
void Engine::note_looks(const Rank& rank) {
  const Operation& operation = rank.operation;
  const bool is_plain = operation.kind == EventKind::call && operation.probing == Probing::none &&
                        operation.locking == Locking::none && operation.cancel == 0 &&
                        operation.one_sided == machine::OneSided::none &&
                        operation.bytes == Bytes();
  Time& looked = looked_[static_cast<std::size_t>(rank.id.value)];
  const Time before = looked_before(rank);
  looked = found_nothing_ ? before + (rank.leave - rank.enter) : is_plain ? before : Time();
}

void Engine::hand_over(Rank& rank, const Interval& interval) {
  add_event(rank, interval);
  if (reactive_) tell_source(rank, interval);
}

void Engine::add_event(Rank& rank, const Interval& interval) {
  Operation& operation = rank.operation;
  // The buffer may be larger than what came; from nobody, nothing comes.
  if (operation.kind == EventKind::recv || operation.kind == EventKind::sendrecv)
    operation.recv.bytes = rank.received ? rank.message.bytes : Bytes();
  if (!rank.result.finalized || operation.kind == EventKind::finalize) {
    rank.result.time = operation.kind == EventKind::finalize ? interval.enter : interval.leave;
    rank.result.compute += interval.compute;
    rank.result.wait += interval.wait;
  }
  sink_.finished(rank.id, operation, interval);
}

// Tells the source what came of the rank's operation.
void Engine::tell_source(Rank& rank, const Interval& interval) {
  const Operation& operation = rank.operation;
  if (operation.kind == EventKind::collective || operation.kind == EventKind::icollective)
    for (const trace::CommId comm : source_.take_freed()) forget(comm);
  Outcome outcome;
  if (rank.received) {
    outcome.message = rank.message;
    outcome.payload = rank.payload;
  }
  if (operation.kind == EventKind::complete) {
    outcome.completions = operation.completions;
    outcome.payloads = chosen_payloads_;
  }
  outcome.in_vain_until = std::exchange(in_vain_until_, Time());
  outcome.looked = looked_[static_cast<std::size_t>(rank.id.value)];
  outcome.cancelled = operation.cancel != 0 && rank.cancelled;
  if (outcome.cancelled) {
    outcome.message.bytes = rank.message.bytes;
    outcome.payload = rank.payload;
  }
  source_.completed(rank.id, operation, interval, outcome);
  if (operation.kind != EventKind::call) return;
  for (const WorldRank started : source_.take_started()) {
    Rank& other = rank_of(started);
    other.absent = false;
    other.clock = interval.leave;
    ready_.push(static_cast<std::size_t>(started.value));
  }
}

// Settles when the call leaves; returns when it would have left if everybody had been
// there.
Time Engine::settle_leave(Rank& rank) {
  const Operation& operation = rank.operation;
  switch (operation.kind) {
    case EventKind::send:
      return rank.leave - rank.send_delay;
    case EventKind::recv:
    case EventKind::sendrecv: {
      if (!rank.received) return rank.leave - rank.send_delay;
      const Time send = rank.leave;
      const machine::Path path = path_of(rank, rank.message);
      rank.leave = network_->receive_leave(rank.id, path, rank.message.bytes, rank.enter, send,
                                           rank.arrival);
      return network_->receive_alone(path, rank.enter, send - rank.send_delay, rank.message.bytes);
    }
    case EventKind::complete:
      return complete_requests(rank);
    case EventKind::collective:
      return rank.leave - (rank.latest - rank.enter);
    case EventKind::call:
      if (operation.one_sided == machine::OneSided::flush ||
          operation.one_sided == machine::OneSided::flush_local)
        return settle_flush(rank);
      if (machine::is_lock(operation.one_sided) || operation.locking == Locking::shared ||
          operation.locking == Locking::exclusive)
        return rank.arrival;
      if (operation.in_vain) {
        found_nothing_ = true;
        return rank.enter + poll_cost(rank);
      }
      if (operation.probing == Probing::none && operation.locking == Locking::none)
        return rank.leave;
      [[fallthrough]];
    case EventKind::probe:
      if (operation.probing == Probing::none || rank.received) return rank.enter + call_cost(rank);
      if (reactive_) in_vain_until_ = probe_fails_until(rank);
      found_nothing_ = true;
      return rank.enter + poll_cost(rank);
    default:
      return rank.leave;
  }
}

void Engine::half_done(Rank& rank) {
  if (--rank.waiting_for == 0 && rank.blocked) ready_.push(static_cast<std::size_t>(rank.id.value));
}

Rank& Engine::partner(const Rank& rank, WorldRank peer) {
  if (peer.value >= static_cast<std::int32_t>(ranks_.size()))
    fail(rank, "expected a peer below " + std::to_string(ranks_.size()) + ", found rank " +
                   std::to_string(peer.value));
  return ranks_[static_cast<std::size_t>(peer.value)];
}

const Engine::CallCosts& Engine::costs_of(const Rank& rank) {
  const trace::NameId name = rank.operation.name;
  if (name >= call_costs_.size()) call_costs_.resize(name + std::size_t{1});
  CallCosts& costs = call_costs_[name];
  if (costs.call < Time()) {
    const std::string_view function = source_.name(name);
    costs.call = timing_.local_call(function, source_.ranks());
    costs.look = machine::look_time(timing_, function, source_.ranks());
    costs.moves = mpi_api::moves_messages(function);
    costs.reads_clock = function == "MPI_Wtime";
  }
  return costs;
}

Time Engine::call_cost(const Rank& rank) {
  return costs_of(rank).call;
}

// A call that waits by looking again and again takes steps of its own time.
Time Engine::poll_cost(const Rank& rank) {
  return std::max(costs_of(rank).look, kLeastPoll);
}

void Engine::start_call(Rank& rank) {
  if (rank.operation.in_vain) return start_in_vain(rank);
  if (rank.operation.probing != Probing::none) return start_probe(rank);
  if (rank.operation.idle) {
    rank.leave = rank.enter;
    return;
  }
  if (rank.operation.cancel != 0) return start_cancel(rank);
  if (rank.operation.locking != Locking::none) return start_lock(rank);
  if (rank.operation.one_sided != machine::OneSided::none) return start_one_sided(rank);
  const Bytes bytes = rank.operation.bytes;
  Time cost;
  if (trace::combines(rank.operation))
    cost = timing_.combining_call(source_.name(rank.operation.name), source_.ranks(),
                                  rank.operation.reduction, bytes);
  else if (bytes.count == 0)
    cost = call_cost(rank);
  else
    cost = machine::moving_time(timing_, source_.name(rank.operation.name), source_.ranks(), bytes);
  // A part of a call counts as none, and takes its time.
  const std::int64_t times = std::max<std::int64_t>(rank.operation.count, 1);
  if (bytes.count == 0 && costs_of(rank).reads_clock) {
    clock_readings_.resize(ranks_.size());
    clock_readings_[static_cast<std::size_t>(rank.id.value)] += static_cast<std::uint64_t>(times);
  }
  if (cost > Time() && times > kEndOfTime.count_ps() / cost.count_ps()) too_late(rank);
  rank.leave = rank.enter + Time::ps(cost.count_ps() * times);
}

void Engine::too_late(const Rank& rank) const {
  fail(rank, kPastTheEndOfTime);
}

void Engine::fail(const Rank& rank, const std::string& what) const {
  throw Error("rank " + std::to_string(rank.id.value) + ", event " +
              std::to_string(rank.result.events) + " (" +
              std::string(source_.name(rank.operation.name)) + at_place(source_.place(rank.id)) +
              "): " + what);
}

SimulateResult simulate(Source& source, const machine::Timing& timing,
                        const SimulateOptions& options, Sink& sink) {
  return Engine(source, timing, options, sink).run();
}

}  // namespace foretrace::sim
