// Session: the capture library's state in one process between MPI_Init and
// MPI_Finalize: the rank's clock, its events on their way to the trace, and
// the tables of communicators and requests.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/called_back.hpp"
#include "base/in_calls.hpp"
#include "base/sent_data.hpp"
#include "base/thread_calls.hpp"
#include "callers/call_sites.hpp"
#include "callers/fortran_calls.hpp"
#include "capture/handlers/comm_table.hpp"
#include "capture/handlers/functions.hpp"
#include "capture/handlers/request_table.hpp"
#include "capture/host/computation.hpp"
#include "capture/host/idle_polls.hpp"
#include "capture/host/settings.hpp"
#include "capture/host/turn_lock.hpp"
#include "capture/predict/piggyback.hpp"
#include "capture/session/calling_thread.hpp"
#include "capture/session/clock_sync.hpp"
#include "capture/session/found_look.hpp"
#include "capture/session/joins.hpp"
#include "capture/session/look_choices.hpp"
#include "machine/choice_order.hpp"
#include "machine/clock_wait.hpp"
#include "machine/look_row.hpp"
#include "machine/machine_model.hpp"
#include "machine/moving.hpp"
#include "machine/timing.hpp"
#include "trace/annotations.hpp"
#include "trace/event.hpp"
#include "trace/trace_writer.hpp"

namespace foretrace::capture {

class Session {
 public:
  // After the real MPI_Init; collective. Leaves the session inactive, with a
  // line on standard error, where it cannot work.
  void start(Fn fn);
  // Before the real MPI_Finalize; collective.
  void stop(Fn fn);
  // MPI_Abort was called.
  void abort(Fn fn, int code);
  // The process ends by itself, without MPI_Finalize.
  void leave();
  // This process is a child of the one whose session it is.
  void leave_to_parent();

  bool started() const { return active_; }
  // The calls that follow are looked at even where those of the program are not (--start never).
  void look_at_the_end() { settings_.logs_calls = true; }
  // Whether the program's calls are looked at.
  bool active() const { return active_ && settings_.logs_calls; }
  // Whether the program may call MPI from another thread than the one that
  // initialised it; and whether it has done so.
  bool several_threads() const { return several_threads_; }
  bool others_called() const { return others_called_; }
  bool predicting() const { return timing_.has_value(); }
  // A receive, or a look for a message, that names no source.
  void note_wildcard() { ++wildcards_; }
  // Of what concerns no other rank; between this one and `peer` (not valid: anybody); in a
  // collective.
  const machine::Timing& timing() const { return *timing_; }
  // `untouched`: of a message of such data.
  const machine::Timing& timing_with(WorldRank peer, bool untouched = false) const {
    return timing_->on(machine::of_data(paths_.between(comms.world_rank(), peer), untouched));
  }
  // Of this rank, for its messages to and from `peer`.
  machine::Port& port_with(WorldRank peer) {
    return timing_->port(ports_, paths_.between(comms.world_rank(), peer));
  }
  const machine::Timing& timing_in(const CommInfo& comm, bool untouched = false) const {
    return timing_->has_paths() || untouched
               ? timing_->on(machine::of_data(paths_.within(comm.members), untouched))
               : *timing_;
  }
  // Whether anybody asks if what is sent is untouched (sent_data).
  bool follows_data() const { return !predicting() || timing_->knows_untouched(); }
  bool virtual_wtime() const { return predicting() && settings_.virtual_wtime; }

  // The thread that makes the call at hand.
  CallingThread& thread() { return *thread_; }

  // A call that does nothing, for what its interval shows.
  Time interval_of_nothing();
  // The program calls from a function that MPI has called: its call stands before the one at hand,
  // which goes on when that is over.
  void begin_nested();
  void end_nested();
  // A call begins: what follows until the program goes on is not its computation.
  void enter_call() {
    if (!others_called_) in_calls_.begin();
    if (several_threads_)
      take_turn();
    else
      computation_.stop(thread_->computed);
    thread_->goes_on = false;
  }
  // The program goes on from here, whatever was done since the event's end.
  void go_on() { computation_.resume(); }
  // What Fortran calls from this place are (callers/fortran_calls.hpp), which takes its time.
  bool judge_call(const char* name, const void* return_address);
  // Several threads: begin and end of a call. In between, what others may have to
  // be let in for stands between the other two (see LetOthersIn).
  void take_turn();
  void end_turn();
  void let_others_in();
  void come_back();
  // The event at hand says who takes part: others may overtake it.
  void may_split() { thread_->may_split = true; }
  void forget_thread(CallingThread& thread);
  // Of the calling thread (thread_calls::Watcher).
  std::optional<Position> threads_position();
  bool go_on_from(const Position& from, const thread_calls::Waited& waited);
  void joined_thread();
  Time on_clock(Time computed) const;
  bool counts_waits() const { return computation_.counts_waits(); }
  Time in_calls() const { return in_calls_.passed(); }

  // An event begins: the computation before it ends here. One at a time and thread.
  trace::Event& open(trace::EventKind kind, Fn fn);
  bool is_in_event() const { return active() && thread_->in_event; }
  // It ends now (by the recording's clock; in virtual time it took nothing).
  void close();
  // It ends at `leave` of the virtual clock, having waited for `wait`.
  void close_at(Time leave, Time wait);

  // A look at requests has found what found_look() is to name, and ends at `leave`. False: it is
  // to end as others do. Call begin_found() before the rank's ports are asked.
  bool begin_found();
  // Whether the look at hand is the first one at `about` (a number for what it looks for) since
  // work that moved the clock, or since the program read that, with nothing but looks in between,
  // under predict: what it finds too early is not there yet. (Where nothing moves the clock it
  // would never be there.) What others of the host do until then, they have done afterwards.
  bool hides_finds(std::uint64_t about);
  // What it looks for is here, but comes later. Who reads a clock between its looks may wait for
  // long, so each look takes a thousandth of the time since the first one.
  void note_hidden_find();
  // So long a look has waited here for others, which is not how long looks go on.
  void leave_out_of_looks(std::int64_t ns) { looks_since_ns_ += ns; }
  // Under predict: the event at hand puts this data together before all else that it does.
  void pack(const trace::Endpoint& data) {
    if (!predicting() || data.piece == 0) return;
    thread_->packing = timing_with(data.peer).packing(data.bytes, Bytes(data.piece));
    thread_->event.enter += thread_->packing;
  }
  // Under predict, at the end of each call: others see how far the rank is, or that it may do
  // nothing but wait (`is_idle`).
  void show_clock(bool is_idle) {
    if (!predicting()) return;
    if (others_called_ || is_idle)
      piggyback.show_waiting();
    else
      piggyback.show(now_);
  }
  // When it looks, as far as the program can tell.
  Time look_time() const;
  void close_found(Time leave, Time wait);
  FoundLook& found_look() { return found_; }
  // Whether a call about these variables, none of which has an active request, shows that nobody
  // cared what the last look found. `looks`: it looks itself. Then that look is to be taken back,
  // before the call opens its event.
  bool asks_again(std::span<const void* const> variables, bool looks) const;
  void take_back_found();

  // It ends now and has no partners, whatever it was opened as; such calls in a
  // row are merged into one event. Under predict it takes what the model says.
  void close_as_call();
  // The same for a reading of the virtual clock; returns the seconds.
  double close_as_reading();
  // The same for one of the real clock, which showed that.
  void close_as_reading_of(double seconds);
  // Where the call at hand stands in the program: "life+0x4b09"; empty: not known.
  std::string place() const { return place_of(thread_->event.site); }
  std::string place_of(trace::SiteId site) const { return sites_.describe(site); }

  // The call at hand is over: what functions of the program took that MPI called in it is
  // computation after it. A recording by the wall clock has it in the call.
  void leave_call() {
    if (!others_called_) in_calls_.end();
    if (called_back.calls == 0) return;
    const Time took = take_called_back().took;
    if (settings_.clock != trace::Clock::wall) computation_.add_work(thread_->computed, took);
  }

  // What a call takes that has an equation of its own name; predict only.
  Time call_cost(Fn fn);
  Time call_cost(Fn fn, Bytes bytes);

  void add_steps(double steps);
  // The program's own marks (include/foretrace.h).
  void phase_begin(const char* name);
  void phase_end(const char* name);
  void mark(const char* name, double value);
  // Whether the kernel is to be executed (--sample).
  bool kernel_begin(const char* name, double key);
  void kernel_end(const char* name);
  // MPI_Pcontrol: from now on only what a replay needs is logged, or all again.
  void set_logging(bool on);

  trace::CommId comm_id(CommInfo& comm);

  CommTable comms;
  RequestTable requests;
  Piggyback piggyback;
  machine::AccessPort accesses;  // predict
  machine::ChoiceOrder choices;  // predict
  LookChoices look_choices;
  SentData sent_data;

 private:
  bool open_trace();
  void start_prediction();
  void leave_out_calls();
  void place_ranks();
  std::string start_computation();
  trace::SiteId site();
  void begin_event(trace::Event& event, trace::EventKind kind, trace::NameId name, const char* text,
                   bool goes_on = false);
  void write_event();
  void end_as_call();
  void settle_found();
  void settle_readings();
  void show_clocks();
  void watch_clocks();
  void note_reading_before_look();
  void note_row_that_gives_up();
  Time shown_time();
  void begin_pending(bool is_first);
  void hold_pending();
  void write_pending();
  void write_alone(trace::Event& event, const trace::Counts* counts = nullptr);
  void end_row();
  void start_threads(bool several_may_call);
  CallingThread& new_thread();
  void let_rows_end();
  Position position(CallingThread& thread) const;
  void reach(CallingThread& thread);
  void hold_up_until(const Position& from, const thread_calls::Waited& waited);
  Time beside_clock() const;
  void advance(trace::Event& event);
  void add_threads_steps(double steps);
  void post_waiting();
  void post(CallingThread& thread);
  bool complete_posted(trace::Event& event, bool refused);
  void write_threads_event(bool refused);
  void write_in_order(trace::Event& event, const trace::Counts* counts = nullptr);
  void annotate(trace::EventKind kind, const char* name, std::uint32_t annotation, double value);
  std::uint32_t annotation_number(const char* name);
  // Of what the run did: each in a line. Collective.
  void complain();
  void complain_of_phases() const;
  void complain_of_silence();
  bool complain_of_losses() const;
  void complain_of_waits();
  void complain_of_looks();
  void complain_of_working_looks();
  void complain_of_order();
  void complain_of_choices();
  void complain_of_limits();
  void complain_of_locks();
  void complain_of_fetches();
  void complain_of_syncs();
  void complain_of_pacing();
  void complain_of_announcing_threads();
  void complain_of_roots() const;
  void complain_of_sleep();
  void complain_of_crowding();
  void complain_of_threads_locks();
  void complain_of_unawaited_threads();
  void complain_of_threads();
  void tell(const std::string& note);
  std::vector<std::string> all_notes() const;
  void finish_trace(bool lost, const trace::Clocks& clocks, const std::vector<std::string>& notes);
  trace::NameId name_id(Fn fn);
  Time wall_now() const;

  bool active_ = false;
  Settings settings_;
  std::optional<machine::MachineModel> model_;
  std::optional<machine::Timing> timing_;
  std::vector<std::int32_t> hosts_;  // by rank, where it runs
  std::vector<std::int32_t> nodes_;  // by rank, where it is placed
  machine::RankPaths paths_;         // of those
  machine::Ports ports_;             // of this rank, under predict
  trace::RunFile file_;              // rank 0: the trace, as long as the run goes on
  trace::TraceWriter writer_;
  callers::CallSites sites_{this};
  Computation computation_;
  Time now_;  // cpu: CPU time so far; virtual: the rank's clock; wall: last reading
  ClockSync clocks_;
  std::int64_t wall_zero_ns_ = 0;
  bool logging_ = true;
  Time unlogged_;  // computation before calls that were not logged
  double unlogged_steps_ = 0;

  CallingThread first_thread_;
  CallingThread* thread_ = &first_thread_;  // whose turn it is
  // Calls of the program in calls of MPI: what stands for their thread meanwhile. So many are open.
  std::deque<CallingThread> nested_;
  std::size_t open_nested_ = 0;
  bool several_threads_ = false;
  bool others_called_ = false;
  std::atomic<bool> unasked_call_ = false;  // by another thread, where no other may call
  InCalls in_calls_;
  std::uint64_t threads_made_ = 0;          // that have called
  std::optional<std::uint64_t> announcer_;  // since then: who said last what it computes,
  bool several_announce_ = false;           // and whether others have, too
  TurnLock turn_;
  std::deque<CallingThread> other_threads_;
  std::vector<CallingThread*> free_threads_;
  std::vector<CallingThread*> waiting_;  // in MPI, with an event begun
  Time written_until_;                   // the last event's leave time
  Joins joins_;
  Time hidden_;                          // computation beside others' that is in no event
  std::uint64_t overtaken_calls_ = 0;    // of threads, by those of others
  Position reached_;                     // by threads that ended, or call nothing
  double steps_now_ = 0;                 // of the rank, as now_
  std::atomic<double> others_steps_{0};  // by threads that may not call
  bool others_announced_ = false;        // such threads did

  trace::Event pending_;  // the calls that are being merged
  bool has_pending_ = false;
  Time pending_busy_;  // time inside them
  bool pending_may_be_idle_ = false;
  bool pending_syncs_ = false;  // calls of MPI_Win_sync
  struct Row {
    std::uint64_t count = 0;
    trace::SiteId site = 0;
  };
  Row most_syncs_;                 // in a row
  bool pending_is_first_ = false;  // the first look of a row
  trace::Event held_;              // that one, when those that follow it are pending
  bool has_held_ = false;

  FoundLook found_;

  // The last readings of the real clock in the pending event that come from one place: how many,
  // the first and the last of them, and what the event had computed until the first.
  struct Readings {
    trace::SiteId site = 0;
    std::uint32_t count = 0;
    double first = 0;
    double last = 0;
    Time computed;
  };
  std::optional<Readings> readings_;
  Time waited_by_clock_;  // in such rows, where they were a wait

  machine::LookRow row_;      // of looks, as long as only one thread has called
  bool may_be_idle_ = false;  // the look at hand
  bool slept_between_looks_ = false;
  bool worked_ = false;  // work came before a look, and after that nothing but looks
  std::vector<std::uint64_t> looked_at_;  // since the last work
  // Since nothing was found: by this machine's clock (0: not looked yet) and the rank's.
  std::int64_t looks_since_ns_ = 0;
  Time looks_since_;
  bool read_clock_ = false;   // the program has read one since its last look
  bool is_by_clock_ = false;  // the look at hand hides finds for that alone
  // A recording's row of looks: the thread's work when the first one had found nothing (and what
  // the program has computed since), and whether the program reads a clock between them; and how
  // long such rows went on that found nothing.
  struct ClockedRow {
    Time began;
    bool reads_clock = false;
  };
  ClockedRow clocked_row_;
  Time gave_up_after_;
  std::uint64_t wildcards_ = 0;      // receives that name no source
  double announced_ = 0;             // steps of the rank's calls,
  double announced_at_looks_ = 0;    // of those before looks in vain,
  std::uint64_t working_looks_ = 0;  // and how many those are
  Time shown_;                       // the computer's clock, when it was read last
  machine::ClockWait clock_wait_;    // by readings of it
  Time idle_compute_;                // predict: what those of the row computed that may be idle,
  Time idle_cost_;                   // and what they took; the clock does not have it yet
  std::array<std::int32_t, static_cast<std::size_t>(Fn::kCount)>
      name_ids_{};  // 0: none, else id + 1
  std::array<std::int64_t, static_cast<std::size_t>(Fn::kCount)> call_costs_{};  // ps + 1
  trace::Annotations annotations_;
  std::vector<std::string> notes_;             // what this rank has told of the run's times
  std::vector<trace::NameId> annotation_ids_;  // by its numbers
};

extern Session session;

// Above 0 inside a wrapper: calls from there are the MPI library's, or of functions of the
// program's that it has called.
extern thread_local int wrapper_depth;
// Where the program made the call that a wrapper is handling.
extern thread_local callers::CallPoint program_call;
// The same of one that a function of the program makes which MPI has called, before its wrapper has
// begun; no address: there is none.
extern thread_local callers::CallPoint nested_call;
// The thread that initialised MPI.
extern thread_local bool initial_thread;

// Whether the program makes a call at `address` in one of MPI's, in a function that MPI has called
// (an error handler, one that deletes an attribute). Not told where several threads may call.
bool is_called_back(const void* address);

// The first thing in a wrapper; other calls inside one are not the program's.
inline void note_call(const void* address, const void* cfa) {
  if (wrapper_depth == 0)
    program_call = {address, cfa};
  else
    nested_call = is_called_back(address) ? callers::CallPoint{address, cfa} : callers::CallPoint();
}

// Whether the wrapper that begins handles a call of the program's.
inline bool is_of_program() {
  return wrapper_depth == 0 || nested_call.address != nullptr;
}

// As callers::is_programs_call(); to judge a place is no computation of the program's.
inline bool is_programs_call(const char* name, const void* return_address) {
  const auto known = callers::known_call(return_address);
  return known ? *known : session.judge_call(name, return_address);
}

// Marks the extent of a wrapper. False: just make the real call.
class Inside {
 public:
  Inside() : ours_(session.active() && is_of_program()) {
    if (!ours_) return;
    nests_ = wrapper_depth > 0;
    ++wrapper_depth;
    if (nests_) {
      outer_ = std::exchange(program_call, std::exchange(nested_call, callers::CallPoint()));
      session.begin_nested();
    } else {
      nested_call.address = nullptr;
      session.enter_call();
    }
  }
  ~Inside() {
    if (!ours_) return;
    // An error handler's exception goes through.
    if (session.is_in_event()) session.close_as_call();
    if (nests_) {
      session.end_nested();
      program_call = outer_;
    } else {
      session.leave_call();
      if (session.several_threads()) session.end_turn();
      end_idle_row();
    }
    --wrapper_depth;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  explicit operator bool() const { return ours_; }

 private:
  bool ours_;
  bool nests_ = false;
  callers::CallPoint outer_{};
};

// The extent of what a wrapper does for itself after its event's end, which may have to wait for
// other ranks: no computation of the program. (By the wall clock it does pass.)
class AfterEvent {
 public:
  AfterEvent() = default;
  ~AfterEvent() { session.go_on(); }
  AfterEvent(const AfterEvent&) = delete;
  AfterEvent& operator=(const AfterEvent&) = delete;
};

// The extent of what may wait for others, inside a wrapper: other threads of the
// program make their calls meanwhile.
class LetOthersIn {
 public:
  LetOthersIn() {
    session.piggyback.show_waiting();
    if (session.several_threads()) session.let_others_in();
  }
  ~LetOthersIn() {
    if (session.several_threads()) session.come_back();
  }
  LetOthersIn(const LetOthersIn&) = delete;
  LetOthersIn& operator=(const LetOthersIn&) = delete;
};

// Makes a call that may wait for others.
template <class RealCall>
auto wait_in(RealCall real) {
  const LetOthersIn others;
  return real();
}

}  // namespace foretrace::capture
