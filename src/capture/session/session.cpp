#include "capture/session/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "base/end_of_time.hpp"
#include "base/error.hpp"
#include "base/program_clock.hpp"
#include "capture/handlers/handlers.hpp"
#include "capture/host/imports.hpp"
#include "capture/predict/yielding.hpp"
#include "capture/profile/profiler.hpp"
#include "capture/session/forks.hpp"
#include "capture/session/line_probe.hpp"
#include "capture/session/own_comm.hpp"
#include "capture/session/start_up.hpp"
#include "compute/slower.hpp"
#include "machine/moving.hpp"
#include "machine/path.hpp"
#include "machine/state.hpp"
#include "mpi_api/groups.hpp"
#include "mpi_api/hosts.hpp"
#include "trace/renew.hpp"

namespace foretrace::capture {

Session session;
thread_local int wrapper_depth = 0;
thread_local callers::CallPoint program_call;
thread_local callers::CallPoint nested_call;
thread_local bool initial_thread = false;

namespace {

bool is_look(Fn fn) {
  static const auto looks = [] {
    std::array<bool, static_cast<std::size_t>(Fn::kCount)> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = mpi_api::is_poll(kFunctionNames[i]);
    return all;
  }();
  return looks[static_cast<std::size_t>(fn)];
}

}  // namespace

void Session::start(Fn fn) {
  wrapper_depth = 1;
  std::string problem;
  try {
    settings_ = read_settings();
    if (settings_.mode == Mode::predict)
      model_ = machine::read_machine_in_state(settings_.machine, settings_.in_other_state);
  } catch (const Error& error) {
    problem = error.what();
  }
  wrapper_depth = 0;
  if (problem.empty() && settings_.mode == Mode::off) return;
  leave_environment();
  if (problem.empty() && settings_.mode == Mode::profile) return profiler.start(settings_);
  comms.start();
  if (runs_alone(comms.world_size())) return;
  make_own_comm();
  hosts_ = mpi_api::find_hosts(own_comm);
  if (problem.empty()) problem = start_computation();
  int thread_level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&thread_level);
  if (!problem.empty() && comms.world_rank().value == 0)
    say(problem + "; the program runs on without Foretrace");
  if (!all_agree(problem.empty())) {
    // It is said why; the launcher need not guess.
    if (settings_.mode != Mode::off && comms.world_rank().value == 0)
      leave_empty(settings_.output + ".part");
    return free_own_comm();
  }
  const bool shares_cores = begin_yielding(settings_.yield);
  if (settings_.clock == trace::Clock::wall)
    clocks_.start(comms.world_rank().value, comms.world_size());
  if (!open_trace()) return free_own_comm();
  computation_.on(first_thread_.computed);
  start_threads(thread_level >= MPI_THREAD_SERIALIZED);
  if (settings_.mode == Mode::predict) start_prediction();

  initial_thread = true;
  line_probe.begin(settings_.lines_of_run, shares_cores);
  // All ranks count from one moment.
  PMPI_Barrier(own_comm);
  wall_zero_ns_ = clocks_.common_now_ns();
  logging_ = settings_.start_logging;
  let_children_go();
  active_ = true;
  trace::Event& event = thread_->event;
  event = trace::Event();
  event.kind = trace::EventKind::init;
  event.name = name_id(fn);
  event.site = site();
  write_alone(event);
  thread_->behind = {joins_.behind(Time())};
  leave_out_calls();
  if (virtual_wtime())
    show_clocks();
  else if (!predicting())
    watch_clocks();
  computation_.resume();
}

// Where the program does nothing between two calls, an interval shows the way out of the one
// wrapper and into the next.
__attribute__((noinline)) static Time call_nothing() {
  note_call(__builtin_return_address(0), __builtin_frame_address(0));
  const Inside inside;
  return inside ? session.interval_of_nothing() : Time();
}

__attribute__((noinline)) Time Session::interval_of_nothing() {
  const Time used = thread_->computed.used.value_or(Time());
  computation_.resume();
  return used;
}

// That way is no computation. The least of them that are usual: others were disturbed.
void Session::leave_out_calls() {
  Time (*volatile call)() = call_nothing;
  std::array<Time, 256> shown;
  computation_.resume();
  for (Time& each : shown) each = call();
  const auto usual = shown.begin() + shown.size() / 4;
  std::ranges::nth_element(shown, usual);
  CpuClock::leave_out(*usual);
}

bool Session::judge_call(const char* name, const void* return_address) {
  const auto judge = [&] { return callers::is_programs_call(name, return_address); };
  const bool computes = active() && wrapper_depth == 0 && !several_threads_;
  return computes ? computation_.leave_out(judge) : judge();
}

void Session::place_ranks() {
  nodes_ = hosts_;
  if (settings_.placement.empty() && settings_.ranks_per_node == 0) return;
  nodes_.clear();
  const std::string text = settings_.placement.empty() ? "block" : settings_.placement;
  for (const machine::NodeId node :
       machine::make_placement(text, settings_.ranks_per_node, comms.world_size()))
    nodes_.push_back(node.value);
}

std::string Session::start_computation() {
  try {
    place_ranks();
    std::vector<compute::NodeRanks> ranks = compute::ranks_of_nodes(hosts_, nodes_);
    const auto cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
    for (compute::NodeRanks& each : ranks) each.here = std::min(each.here, cores);
    const std::vector<double> slower = compute::slower_by_rank(
        compute::parse_slower(settings_.slower), nodes_, comms.world_size());
    const WorldRank self = comms.world_rank();
    const std::string note =
        computation_.start(settings_, model_ ? &*model_ : nullptr, self, ranks,
                           slower.empty() ? 1 : slower.at(static_cast<std::size_t>(self.value)));
    if (!note.empty() && self.value == 0) say(note);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

bool Session::open_trace() {
  const std::string part = settings_.output + ".part";
  std::string problem;
  const auto attempt = [&problem](auto action) {
    try {
      action();
    } catch (const Error& error) {
      problem = error.what();
    }
  };
  const WorldRank rank = comms.world_rank();
  if (rank.value == 0) {
    attempt([&] {
      trace::TraceInfo info;
      info.ranks = comms.world_size();
      info.clock = settings_.clock;
      info.program = command_line();
      info.origin = settings_.mode == Mode::predict ? "predict" : "record";
      info.machine = model_ ? model_->name : "";
      info.options = describe(settings_);
      info.mpi = FORETRACE_MPI_NAME;
      info.clocks = clocks_.at_start();
      info.nodes = nodes_;
      file_ = trace::create_trace_file(part, info);
    });
  }
  PMPI_Barrier(own_comm);
  attempt([&] {
    if (problem.empty()) writer_ = trace::TraceWriter(part, rank, settings_.clock);
  });
  const bool all_good = all_agree(problem.empty());
  if (all_good) return true;
  writer_.close();
  // One line is enough: the first rank with a problem says it.
  int first = problem.empty() ? comms.world_size() : rank.value;
  PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, own_comm);
  if (first == rank.value) say(problem + "; the program runs on without Foretrace");
  if (rank.value != 0) return false;
  file_.remove(part);
  leave_empty(part);
  return false;
}

void Session::start_prediction() {
  timing_.emplace(*model_, settings_.bound);
  machine::Placement placement;
  for (const std::int32_t node : nodes_) placement.emplace_back(node);
  paths_ = machine::RankPaths(std::move(placement));
  computation_.predict_with(*timing_);
  const bool has_threshold =
      model_->loggps.sync_threshold || std::ranges::any_of(model_->paths, [](const auto& path) {
        return path.second.loggps.sync_threshold.has_value();
      });
  int rendezvous = has_threshold || program_imports_synchronous_sends() ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &rendezvous, 1, MPI_INT, MPI_MAX, own_comm);
  piggyback.start(rendezvous != 0, several_threads_);
}

void Session::complain() {
  complain_of_phases();
  complain_of_silence();
  complain_of_waits();
  complain_of_looks();
  complain_of_working_looks();
  complain_of_order();
  complain_of_choices();
  complain_of_limits();
  complain_of_locks();
  complain_of_fetches();
  complain_of_syncs();
  complain_of_announcing_threads();
  complain_of_roots();
  complain_of_sleep();
  complain_of_threads();
}

void Session::stop(Fn fn) {
  const bool looked_at_calls = settings_.logs_calls;
  if (active_ && !looked_at_calls) {
    look_at_the_end();
    if (comms.world_rank().value == 0)
      tell(
          "the calls of this run were not logged (--start never): it says what the run took, and "
          "nothing of messages");
  }
  Inside inside;
  if (!inside) return;
  open(trace::EventKind::finalize, fn);
  close();
  piggyback.show_waiting();
  write_pending();
  if (looked_at_calls) complain();
  const bool lost = complain_of_losses();
  program_clock::stop(now_);
  writer_.close();
  active_ = false;
  const std::string kernels = computation_.kernel_summary();
  if (!kernels.empty() && comms.world_rank().value == 0) say(kernels);
  if (predicting()) piggyback.stop();
  PMPI_Barrier(own_comm);
  line_probe.end();
  const trace::Clocks clocks = clocks_.finish(wall_zero_ns_);
  const std::vector<std::string> notes = all_notes();
  free_own_comm();
  if (comms.world_rank().value == 0) finish_trace(lost, clocks, notes);
}

// A trace that lacks something stays as a run that dies would leave it.
void Session::finish_trace(bool lost, const trace::Clocks& clocks,
                           const std::vector<std::string>& notes) {
  const std::string part = settings_.output + ".part";
  try {
    if (lost)
      std::rename(part.c_str(), settings_.output.c_str());
    else
      trace::seal_trace_file(part, settings_.output, clocks, std::nullopt, notes);
    if (!settings_.told.empty()) say("wrote " + settings_.told);
  } catch (const Error& error) {
    std::rename(part.c_str(), settings_.output.c_str());
    say(std::string(error.what()) + "; the trace stays unsealed, and can be read as it is");
  }
  file_.let_go();
}

void Session::abort(Fn fn, int code) {
  trace::Event& event = open(trace::EventKind::aborted, fn);
  event.code = -code - 1;
  close();
  writer_.close();
}

// Closing writes nothing.
void Session::leave_to_parent() {
  active_ = false;
  writer_.close();
  file_.let_go();
}

void Session::begin_event(trace::Event& event, trace::EventKind kind, trace::NameId name,
                          const char* text, bool goes_on) {
  trace::renew(event);
  event.kind = kind;
  event.name = name;
  event.count = goes_on ? 0 : 1;
  if (others_steps_.load(std::memory_order_relaxed) != 0) {
    computation_.add_steps(others_steps_.exchange(0));
    others_announced_ = true;
  }
  try {
    computation_.end(event, text);
  } catch (const Error& error) {
    say(error.what());
    end_program();
  }
  const bool wall = !predicting() && settings_.clock == trace::Clock::wall;
  if (wall)
    now_ = wall_now();
  else if (!others_called_)
    now_ += event.compute;
  if (several_threads_)
    advance(event);
  else if (!initial_thread && kind != trace::EventKind::call)
    unasked_call_ = true;
  if (predicting() && now_ > kEndOfTime) {
    say("rank " + std::to_string(comms.world_rank().value) + " (" + text +
        "): " + kPastTheEndOfTime);
    end_program();
  }
  event.compute += std::exchange(unlogged_, Time());
  event.steps += std::exchange(unlogged_steps_, 0);
  announced_ += event.steps;
  if (others_called_ && event.steps != 0 && !computation_.counts()) {
    several_announce_ = several_announce_ || (announcer_ && *announcer_ != thread_->number);
    announcer_ = thread_->number;
  }
  event.enter = event.leave = now_;
  if (!others_called_) joins_.begin(event, now_ + beside_clock());
}

// Another call than a look: those before found nothing, and were work.
void Session::end_row() {
  note_row_that_gives_up();
  row_.end();
  const Time computed = std::exchange(idle_compute_, Time());
  const Time busy = std::exchange(idle_cost_, Time());
  if (computed + busy == Time()) return;
  now_ += computed + busy;
  pending_.leave += computed + busy;
  pending_.compute += computed;
  pending_busy_ += busy;
}

// Of the call at hand.
trace::SiteId Session::site() {
  const auto define = [this](const trace::Site& place) { return writer_.define_site(place); };
  return static_cast<trace::SiteId>(sites_.find(program_call, define).number);
}

trace::Event& Session::open(trace::EventKind kind, Fn fn) {
  settle_found();
  const bool looks = is_look(fn) && logging_ && !others_called_;
  if (!looks) {
    end_row();
    worked_ = false;
  }
  // Who sleeps between two looks waits for what it looks for, if that comes.
  if (!is_look(fn)) computation_.count_sleep_aside();
  slept_between_looks_ = thread_->in_vain && is_look(fn) && computation_.put_sleep_aside();
  thread_->in_vain = false;
  // Tests that fail become plain calls and may be merged; before all others
  // what is pending is written, so that it survives if this call never ends.
  if (kind != trace::EventKind::call && kind != trace::EventKind::complete) write_pending();
  trace::Event& event = thread_->event;
  begin_event(event, kind, name_id(fn), capture::name_of(fn), thread_->goes_on);
  may_be_idle_ = looks && row_.may_be_idle(computation_.measured(), 1, event.steps != 0);
  if (may_be_idle_ && predicting()) now_ -= event.compute;
  event.enter = event.leave = now_;
  event.site = site();
  writer_.enter(event.name, event.site);
  thread_->counts.clear();
  thread_->fn = fn;
  thread_->goes_on = true;
  thread_->in_event = true;
  thread_->may_split = thread_->is_posted = false;
  return event;
}

void Session::close() {
  if (settings_.clock == trace::Clock::wall) thread_->event.leave = now_ = wall_now();
  write_event();
}

void Session::close_at(Time leave, Time wait) {
  // The program may have called in it, which came first.
  leave = std::max(leave, thread_->event.enter);
  thread_->event.enter -= std::exchange(thread_->packing, Time());
  thread_->event.leave = leave;
  thread_->event.wait = wait;
  now_ = others_called_ ? std::max(now_, leave) : leave;
  write_event();
}

void Session::write_event() {
  thread_->in_event = false;
  clock_wait_.end_with_sleep();
  looks_since_ns_ = 0;
  // A look that found something: those before were waiting, as is what was computed between them.
  if (may_be_idle_ && predicting()) thread_->event.compute = Time();
  row_.end();
  idle_compute_ = idle_cost_ = Time();
  computation_.set_sleep_aside(Time());
  write_pending();
  if (others_called_)
    write_threads_event(false);
  else
    write_alone(thread_->event, thread_->counts_or_null());
  computation_.looked(true);
  show_clock(false);
  computation_.resume();
}

void Session::close_as_call() {
  const bool is_idle = may_be_idle_;
  end_as_call();
  show_clock(is_idle);
  computation_.resume();
}

void Session::end_as_call() {
  trace::Event& event = thread_->event;
  event.enter -= std::exchange(thread_->packing, Time());
  if (others_called_) {
    if (thread_->is_posted) return write_threads_event(true);
    event.enter = std::max(event.enter, now_);
  }
  thread_->in_event = false;
  thread_->in_vain = is_look(thread_->fn);
  const bool look = is_look(thread_->fn) && !others_called_ && logging_;
  const bool goes_on = look && row_.is_open();
  const bool announced = event.steps != 0 && !computation_.counts();
  if (look && announced) {
    ++working_looks_;
    announced_at_looks_ += event.steps;
  }
  // What goes on with a call stands by itself: a count says how often the event's cost is paid.
  const bool alone = event.count == 0 || pending_.count == 0 || Joins::part(pending_, event);
  const bool like = has_pending_ && pending_.name == event.name && !announced && !alone &&
                    goes_on == look && event.count <= UINT32_MAX - pending_.count;
  // Between looks that may be idle: what it computed is told with the row's first.
  const bool wall = !predicting() && settings_.clock == trace::Clock::wall;
  const bool works = like && goes_on && !may_be_idle_ && event.steps == 0 && !wall &&
                     (has_held_ || pending_is_first_);
  // Where that is no longer at hand, those that work and those that may be idle stand apart.
  const bool merges =
      like && (works || wall || pending_is_first_ || pending_may_be_idle_ == may_be_idle_);
  if (works) may_be_idle_ = true;
  if (predicting() && !may_be_idle_)
    now_ += Time::ps(call_cost(thread_->fn).count_ps() * std::max(event.count, 1U));
  else if (wall)
    now_ = wall_now();
  if (!logging_) {
    unlogged_ = event.compute;
    unlogged_steps_ = event.steps;
    computation_.looked(false);
    return;
  }
  const Time busy = now_ - event.enter;
  if (look) {
    note_reading_before_look();
    row_.found_nothing();
    clock_wait_.looked_in_vain();
  }
  if (!merges || pending_is_first_) {
    if (merges)
      hold_pending();
    else
      write_pending();
    begin_pending(look && !goes_on);
  }
  if (works) {
    held_.enter += event.compute;
    held_.leave += event.compute;
    held_.compute += std::exchange(event.compute, Time());
  }
  // Calls from several places are from none in particular.
  if (pending_.site != event.site) pending_.site = 0;
  if (may_be_idle_ && predicting()) {
    idle_compute_ += event.compute;
    idle_cost_ += call_cost(thread_->fn);
  } else {
    // Together they may round otherwise than one by one.
    const Time together = computation_.together(pending_, event);
    now_ += together - pending_.compute - event.compute;
    pending_.compute = together;
    pending_.steps += event.steps;
  }
  pending_.leave = now_;
  pending_busy_ += busy;
  pending_.count += event.count;
  writer_.leave();
  computation_.looked(false);
}

// Of calls like the one at hand, without it. `is_first`: it is the first look of a row.
void Session::begin_pending(bool is_first) {
  pending_ = thread_->event;
  pending_.kind = trace::EventKind::call;
  // MPI refused it: it moves nothing of what it was meant to.
  pending_.send = trace::Endpoint();
  pending_.bytes = Bytes();
  pending_.reduction = machine::Reduction::none;
  pending_.compute = Time();
  pending_.steps = 0;
  pending_.count = 0;
  pending_busy_ = Time();
  pending_is_first_ = is_first;
  pending_may_be_idle_ = may_be_idle_;
  pending_syncs_ = thread_->fn == Fn::MPI_Win_sync;
  has_pending_ = true;
}

// The first look of a row, as long as others like it follow.
void Session::hold_pending() {
  pending_.enter = pending_.leave - pending_busy_;
  held_ = pending_;
  has_held_ = true;
}

void Session::write_pending() {
  if (!has_pending_) return;
  if (std::exchange(has_held_, false)) write_alone(held_);
  settle_readings();
  if (pending_syncs_ && pending_.count > most_syncs_.count)
    most_syncs_ = {pending_.count, pending_.site};
  has_pending_ = pending_is_first_ = false;
  pending_.enter = pending_.leave - pending_busy_;
  if (others_called_)
    write_in_order(pending_);
  else
    write_alone(pending_);
}

// Only one thread has called so far.
void Session::write_alone(trace::Event& event, const trace::Counts* counts) {
  written_until_ = event.leave;
  joins_.write(event);
  writer_.write(event, counts);
}

void Session::add_steps(double steps) {
  if (wrapper_depth > 0) return;  // a function that MPI calls
  if (!annotations_.takes(steps)) return;
  if (several_threads_)
    add_threads_steps(steps);
  else if (initial_thread)
    computation_.add_steps(steps);
  else
    others_steps_ += steps;
}

trace::NameId Session::name_id(Fn fn) {
  std::int32_t& id = name_ids_[static_cast<std::size_t>(fn)];
  if (id == 0) id = static_cast<std::int32_t>(writer_.define_name(capture::name_of(fn))) + 1;
  return static_cast<trace::NameId>(id - 1);
}

trace::CommId Session::comm_id(CommInfo& comm) {
  if (comm.id == UINT32_MAX) comm.id = writer_.define_comm(comm.key, comm.members);
  return comm.id;
}

Time Session::call_cost(Fn fn) {
  std::int64_t& cost = call_costs_[static_cast<std::size_t>(fn)];
  if (cost == 0)
    cost = timing_->local_call(capture::name_of(fn), comms.world_size()).count_ps() + 1;
  return Time::ps(cost - 1);
}

Time Session::call_cost(Fn fn, Bytes bytes) {
  return machine::moving_time(*timing_, capture::name_of(fn), comms.world_size(), bytes);
}

Time Session::wall_now() const {
  return Time::ns(std::max<std::int64_t>(monotonic_ns() - wall_zero_ns_, 0));
}

}  // namespace foretrace::capture
