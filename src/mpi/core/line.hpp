// Line: the postings behind the functions of rank.hpp, block.hpp, gathered.hpp and request.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/in_calls.hpp"
#include "callers/call_sites.hpp"
#include "compute/kernel_sampler.hpp"
#include "compute/work_counter.hpp"
#include "machine/clock_wait.hpp"
#include "mpi/core/few.hpp"
#include "mpi/core/function.hpp"
#include "mpi/core/simulator.hpp"
#include "mpi/core/thread_work.hpp"
#include "shared/own_clock.hpp"
#include "shared/shared_memory.hpp"
#include "sim/operation.hpp"
#include "trace/annotations.hpp"
#include "trace/event.hpp"

namespace foretrace::mpi {

class Ends;

// This process's line to the simulator.
class Line {
 public:
  // MPI_Init: finds the simulator. Ends the process if there is none.
  void open();
  // After MPI_Finalize nothing is posted any more.
  void close();
  bool is_open() const { return slot_ != nullptr; }
  // Whether this is a child that the rank's process has forked: it is none of the run, posts
  // nothing, and ends where it would have to.
  bool is_childs() const { return forked_ns_ != 0; }
  // Where nothing is posted any more: the rank's time, and in a child what has passed since.
  Time time_beyond() const;

  int rank() const { return rank_; }
  int size() const { return size_; }

  // A record of this kind with the current function's name.
  Record record(trace::EventKind kind) const;
  // Posts it, with the computation before it; waits for room, not for an answer.
  void post(Record& record);
  // Posts what is no operation and waits for nothing.
  void tell(const Record& record) { append(record); }
  // Posts it and waits for the answer, which is good until the next one.
  const Answer& ask(Record& record);
  // The same for a call that looks whether something is there (Test, Iprobe).
  // A program that does so again and again without a result looks for longer and
  // longer: the simulator repeats the call until something is there. `about` tells
  // what it looks for: the number of a request, or kNoRequest and more. `waits`: the call ends
  // only when something is there.
  // `ends`: of what it looks for, where they may be known. nullptr: a test completes those that
  // have ended at let_go(), of a test_any the first; a probe finds a message. The simulator gets
  // to know.
  const Answer* poll(Record& record, std::uint64_t about, bool waits, Ends* ends = nullptr);
  Time let_go() const { return clock_.let_go(); }
  // As far as it is known: what is posted next begins then or later.
  Time now() const { return clock_.floor(); }
  static constexpr std::uint64_t kNoRequest = std::uint64_t{1} << 63;
  // The other requests that it looked for meanwhile, to be watched as well; none
  // if it is not that far.
  Few<std::uint64_t> looked_for_besides(std::uint64_t number);
  // For a completing call: the numbers of its requests, and what became of them.
  void list_requests(Record& record, std::span<const std::uint64_t> numbers);
  // For others: a block of the heap with these numbers, which the simulator frees.
  static void list(Record& record, std::span<const std::uint64_t> numbers);
  const Result* results(const Answer& answer);
  void free_results(const Answer& answer);

  std::uint64_t new_serial() { return ++serials_; }

  // Whether the program may run ahead of the simulator. Not one that may withdraw messages:
  // whether such a one has been received is the simulator's to say.
  bool may_run_ahead() const { return may_run_ahead_; }
  // Whether all that was posted will complete whatever other ranks do. Not so after a
  // blocking send that waits for its receiver, until the next answer.
  bool is_sure() const { return sure_; }
  void hangs_on_receiver() { sure_ = false; }
  // Waits until the simulator has completed all that was posted.
  void catch_up();
  // The same where the rank may have gone on without it: for what ranks do to each other
  // by other means than messages.
  void meet_others() {
    if (ahead_) catch_up();
  }
  // Waits until it is the call's turn in virtual time: until its next posting, nothing happens that
  // is later.
  void take_turn();
  // What every call begins with from now on; nullptr: nothing.
  void at_entry(void (*begin)(Fn)) { at_entry_ = begin; }
  // What `post` posts is not the call at hand, which remains to be told of.
  template <class Post>
  auto aside(Post post) {
    const bool said = at_hand_.said;
    auto result = post();
    at_hand_.said = said;
    return result;
  }
  // Waits for the simulator in every call from now on.
  void stop_running_ahead() { may_run_ahead_ = false; }
  // Whether what the rank does by itself may end before the simulator knows of it. So it may
  // where others wait for the rank by the memory that they share, and the simulator for them.
  bool may_pass_time() const { return may_pass_time_ && sure_; }
  // What was posted last completes without an answer.
  void run_ahead() { ahead_ = true; }
  // It has got this message, as a blocking receive; has completed these.
  void received(const KnownTransfer& message) { clock_.received(message); }
  void completed(std::span<const KnownTransfer> transfers) { clock_.completed(transfers); }
  // When a message leaves that is sent by what is posted next; kNoClock if that is not known.
  std::int64_t depart(const Record& record);
  // No message that was sent so far leaves after this; Time::max() if that is not known.
  Time sent_by() const { return clock_.sent_by(); }
  // Posts a call that takes nothing but time; when it leaves.
  std::int64_t pass_time(Record& record);
  // The program does something else than look for messages, or looks for something
  // that no message brings: its next look is not one of many in a row.
  // `gave_up`: not so if the last one found something, or others that look for the same follow.
  void forget_polls(bool gave_up = true);
  // How many readings of MPI_Wtime the one at hand stands for, since the program sleeps between its
  // readings; to be asked once for each.
  std::uint32_t readings_for_sleep();
  void has_shown(Time clock) { clock_wait_.showed(clock); }
  // Gives up the core until so many more messages are there (inbox.hpp).
  void sleep_until(std::uint32_t wanted, std::uint32_t further);

  // By any thread that runs the program.
  void add_steps(double steps);
  // The call at hand has called a function of the program for so long: computation after the call.
  void compute_in_call(Time took) {
    if (measured_ == Measured::cpu) work_->compute += took;
  }

  // The calling thread's computation is what is spoken of from now on.
  void take_over();
  // How far the thread is; it has waited for another that was there, where it is now or later
  // (`exactly`: not later); it has ended; it has waited for the end of another.
  Time position(ThreadWork& work);
  void hold_up_until(ThreadWork& work, Time from, bool exactly);
  void end_thread(ThreadWork& work);
  void join_thread(ThreadWork& work);
  // The process has threads from now on, which would share the core that it follows.
  void follow_no_more() { follow_no_core(followed_); }
  // Another thread than the first one calls.
  void tell_of_threads() const;
  // What it takes on the rank's clock that a thread of it computed.
  static Time on_clock(Time computed);
  // Whether waits for files or other processes count: by any thread.
  bool counts_waits() const;
  // What has passed, really, in calls since they were first asked for.
  Time in_calls() const { return in_calls_.passed(); }
  void ask_for_in_calls() { in_calls_.ask(); }
  // The thread that calls may have to wait for the rank's clock, as in a call.
  void begin_reading() {
    if (!several_) in_calls_.begin();
  }
  void end_reading() {
    if (!several_) in_calls_.end();
  }

  // The program's own marks (include/foretrace.h), and MPI_Pcontrol: from the
  // next call on only what the simulator must know is posted, or all again.
  void phase_begin(const char* name);
  void phase_end(const char* name);
  void mark(const char* name, double value);
  // Whether the kernel is to be executed (--sample).
  bool kernel_begin(const char* name, double key);
  void kernel_end(const char* name);
  void set_logging(bool on);
  // At the program's end: says which phases were not opened or not closed.
  void complain_of_phases() const;
  // What the thread that initialised MPI waited by other means than MPI.
  const WaitMeter& waits() const { return first_.waits; }
  // What it slept between its calls.
  Time slept() const { return first_.slept_between; }
  bool several_called() const { return several_; }
  // Whether threads announced something that may not call.
  bool others_announced() const { return others_announced_; }
  // What threads announced since several have called.
  Time announced_beside_others() const { return announced_; }
  // In looks that it gave up and that may have taken longer than on a machine.
  Time looked_for_nothing() const { return looked_for_nothing_; }

  // The generated entries.
  void enter(Fn function, const callers::CallPoint& point);
  // Where in the program the call at hand is, as Record::site.
  std::uint64_t site() const { return at_hand_.site; }
  void leave(Fn function);
  // One in another, in a function of the program's; the other goes on after it.
  void enter_nested(Fn function, const callers::CallPoint& point);
  void leave_nested(Fn function);
  // In a call that is none: what the interval before it showed.
  Time interval_of_nothing();
  // For threads that take turns: the call at hand, which a thread goes on with later.
  struct CallAtHand {
    callers::CallPoint point;
    std::uint64_t site = 0;
    bool for_library = false;  // the Fortran library makes it for itself
    bool said = false;         // it has posted something,
    bool goes_on = false;      // and an operation at that
  };
  const CallAtHand& call_at_hand() const { return at_hand_; }
  void go_on(const CallAtHand& call) {
    at_hand_ = call;
    take_over();
  }

 private:
  void be_first_thread();
  Time clock_now();
  Time so_far(ThreadWork& work);
  Time computation(const ThreadWork& work) const;
  static Time off_clock(Time due);
  void reach(ThreadWork& work);
  void stop_work(bool calls = true);
  void settle_work();
  void begin_work();
  void resume_work();
  void take_compute(Record& record);
  void count_call(Record& record);
  void note_about(std::uint64_t about);
  bool has_worked() const;  // since its last call
  std::int64_t patience_of(const Record& record, bool waits) const;
  const Answer* find_out(Record& record, std::uint64_t look, Ends* ends, Foreseen& foreseen);
  static void let_children_go();
  void leave_to_parent();
  void must_be_open() const;
  void append(const Record& record);
  void hold_back(const Record& record);
  void let_out();
  void write(const Record& record);
  const Answer& exchange(Record& record);
  const Answer& wait_for_answer(Record& record);
  const Answer* wait_for_answer_or_messages(Record& record, Ends& ends, Foreseen& foreseen);
  Foreseen look_at(const Record& record, Ends& ends);
  const Answer& take_answer(const Record& record);
  void raise_floor(Time floor);
  bool find_site();
  void note_call(Fn function);
  void begin_call(Fn function);
  void publish_call(std::uint32_t call);
  void flush_call();
  void publish_names();
  void leave_out_calls();
  void show_clocks();
  // What the computer's clock shows the thread that called MPI_Init, outside of its calls.
  Time shown_time();
  std::uint32_t annotation_name(const char* name);
  void annotate(trace::EventKind kind, std::uint32_t name, double value);

  int rank_ = 0;
  int size_ = 0;
  Slot* slot_ = nullptr;
  std::int64_t forked_ns_ = 0;  // in a child: when, by the real clock
  std::uint32_t posted_ = 0;
  std::uint32_t held_back_ = 0;  // tests in vain that are not posted yet
  std::int32_t followed_ = 0;
  std::uint64_t serials_ = 0;
  bool may_run_ahead_ = false;
  bool may_pass_time_ = false;
  bool sure_ = true;
  bool ahead_ = false;  // of the simulator, since the last answer
  OwnClock clock_;
  Time floor_;  // as others know it
  Measured measured_ = Measured::nothing;
  compute::WorkCounter counter_;
  compute::KernelSampler sampler_;
  std::uint64_t calls_ = 0;  // and marks so far, for the sampler
  bool measuring_ = false;
  bool waits_count_ = true;                  // for files or other processes
  std::atomic<std::uint32_t> lendings_ = 0;  // when the program went on
  ThreadWork first_;                         // of the thread that initialised MPI
  ThreadWork* work_ = &first_;
  Time announced_;                       // since several threads have called
  std::atomic<double> others_steps_{0};  // by threads that may not call
  bool others_announced_ = false;        // such threads did
  std::atomic<bool> several_ = false;    // have called, or said what they compute
  InCalls in_calls_;
  Time reached_;             // by threads that ended, or call nothing
  int in_vain_ = 0;          // polls in a row
  int given_up_ = 0;         // the most after which the program did something else
  Time looked_for_nothing_;  // in rows of more than it had given up before
  static constexpr std::size_t kMostLookedFor = 16;
  std::uint64_t looked_for_[kMostLookedFor] = {};  // by these polls: so many
  std::size_t abouts_ = 0;
  bool more_abouts_ = false;       // than there is room for
  std::int64_t since_ = 0;         // virtual time of the first one
  std::int64_t last_look_ = 0;     // and of the last
  std::int64_t latest_ = 0;        // of the last answer, or look in vain
  std::uint32_t asked_ = 0;        // postings when the simulator was asked for the clock,
  Time told_;                      // and what it said
  machine::ClockWait clock_wait_;  // by readings of the computer's clock
  callers::CallSites call_sites_{this};
  CallAtHand at_hand_;
  void (*at_entry_)(Fn) = nullptr;
  std::vector<CallAtHand> outer_;  // that it is nested in
  bool has_call_ = false;
  Record call_;  // calls in a row, not posted yet
  trace::Annotations annotations_;
  bool logging_ = true;
  bool logging_next_ = true;  // after the call at hand
};

extern Line line;

}  // namespace foretrace::mpi
