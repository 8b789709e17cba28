// Several threads of one rank. The rank has one clock, which only goes forward: what a thread
// computes counts from the clock at the end of its last call, so threads that compute at the same
// time do not add up. It begins where its maker was then; who waits for its end goes on where it
// was at the end.
#include "mpi/core/thread_work.hpp"

#include <sys/single_threaded.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/program_clock.hpp"
#include "base/slept.hpp"
#include "base/threads_note.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/threads.hpp"

namespace foretrace::mpi {
namespace {

thread_local ThreadWork* this_thread = nullptr;

// Counts what a thread computed that makes no more calls.
struct Leaving {
  std::unique_ptr<ThreadWork> work;
  ~Leaving() {
    if (!work) return;
    const program_clock::Real own;
    enter_library();
    line.end_thread(*work);
    leave_library();
    this_thread = nullptr;
  }
};
thread_local Leaving leaving;

bool is_followed() {
  return line.is_open() && !in_call();
}

std::optional<Position> position() {
  if (!this_thread) return std::nullopt;
  const program_clock::Real own;
  enter_library();
  line.ask_for_in_calls();
  line.begin_reading();
  const Position at{line.position(*this_thread)};
  line.end_reading();
  leave_library();
  return at;
}

bool go_on(const Position& from, const thread_calls::Waited& waited) {
  if (!this_thread) return false;
  const program_clock::Real own;
  enter_library();
  line.begin_reading();
  line.hold_up_until(*this_thread, from.clock, !waited.worked);
  line.end_reading();
  leave_library();
  return true;
}

void join_thread() {
  if (!this_thread) return;
  const program_clock::Real own;
  enter_library();
  line.join_thread(*this_thread);
  leave_library();
}

constexpr thread_calls::Watcher kWatcher{.is_followed = is_followed,
                                         .position = position,
                                         .go_on = go_on,
                                         .joined = join_thread,
                                         .makes_thread = [] { line.follow_no_more(); },
                                         .on_clock = Line::on_clock,
                                         .counts_waits = [] { return line.counts_waits(); },
                                         .one_calls = [] { return !line.several_called(); },
                                         .in_calls = [] { return line.in_calls(); }};

}  // namespace

void Line::be_first_thread() {
  this_thread = &first_;
  first_.slept_before = slept_ever;
  thread_calls::watch(kWatcher);
}

// In the library, as all that follows but add_steps().
void Line::take_over() {
  if (__libc_single_threaded) return;
  if (!this_thread) {
    leaving.work = std::make_unique<ThreadWork>();
    this_thread = leaving.work.get();
    if (!several_) {
      several_ = true;
      in_calls_.stop();
      first_.since = clock_now();
    }
    const auto begun = thread_calls::begun_at();
    this_thread->since = begun ? begun->clock : first_.since;
    if (measured_ == Measured::cpu) this_thread->cpu.resume_at_birth();
  }
  work_ = this_thread;
}

// At once, since the run may stop there.
void Line::tell_of_threads() const {
  if (threads_may_call() || SharedMemory::header().told_of_threads.exchange(true)) return;
  std::fprintf(stderr, "foretrace: rank %d%s\n", rank_, kUnaskedThreads);
}

// What was waited until a rank got a core is none of the program's; nor can it be told from waits
// for threads that wait in MPI.
bool Line::counts_waits() const {
  return waits_count_ && !several_ && SharedMemory::header().lendings.load() == lendings_;
}

Time Line::on_clock(Time computed) {
  if (!SharedMemory::header().tells_compute.load(std::memory_order_acquire)) return computed;
  Record record;
  record.compute = computed.count_ps();
  return OwnClock::computation(record);
}

// So much on the rank's clock, as computation.
Time Line::off_clock(Time due) {
  const Header& header = SharedMemory::header();
  const double scale = header.compute_scale * SharedMemory::own_slower();
  return scale > 0 ? due.scaled(1 / scale) : Time();
}

// Of a thread that runs the program: this is none of it.
Time Line::so_far(ThreadWork& work) {
  if (measured_ == Measured::cpu) {
    work.stop();
    work.cpu.resume();
  }
  return computation(work);
}

Time Line::computation(const ThreadWork& work) const {
  Record record;
  record.compute = (work.compute + work.waited(counts_waits())).count_ps();
  record.steps = work.steps;
  return OwnClock::computation(record);
}

Time Line::position(ThreadWork& work) {
  so_far(work);
  const Time since = several_ ? work.since : clock_now();
  // Waiting for that is no wait of the program's.
  if (measured_ == Measured::cpu) work.cpu.resume();
  if (several_ || SharedMemory::header().tells_compute.load(std::memory_order_acquire))
    return since + computation(work);
  // As on_clock() has it.
  return since + work.compute + work.waited(counts_waits());
}

void Line::reach(ThreadWork& work) {
  reached_ = std::max(reached_, work.since + so_far(work));
}

void Line::end_thread(ThreadWork& work) {
  if (slot_) reach(work);
  if (work_ == &work) work_ = &first_;
}

void Line::hold_up_until(ThreadWork& work, Time from, bool exactly) {
  const Time held_up = from - position(work);
  if (!exactly && held_up <= Time()) return;
  if (several_)
    work.since += held_up;
  else
    note_held_up(off_clock(held_up), Time());
}

// It may have been any of those that have ended.
void Line::join_thread(ThreadWork& work) {
  if (several_) hold_up_until(work, reached_, false);
}

void Line::add_steps(double steps) {
  if (counter_.is_open() || !annotations_.takes(steps)) return;
  if (__libc_single_threaded || this_thread == &first_) {
    first_.steps += steps;
  } else if (!threads_may_call()) {
    others_steps_ += steps;
  } else {
    const program_clock::Real own;
    enter_library();
    take_over();
    work_->steps += steps;
    if (!work_->has_called) reach(*work_);
    leave_library();
  }
}

// What the thread at hand has computed that makes a call, less what the rank's clock has of it.
void Line::settle_work() {
  ThreadWork& work = *work_;
  work.has_called = true;
  if (others_steps_.load(std::memory_order_relaxed) != 0) {
    work.steps += others_steps_.exchange(0);
    others_announced_ = true;
  }
  if (!several_) return;
  const Time now = clock_now();
  const Time computed = computation(work);
  const Time due = std::max(std::max(work.since + computed, reached_) - now, Time());
  const Header& header = SharedMemory::header();
  const double step = header.compute_step * SharedMemory::own_slower();
  if (header.by_steps && work.steps != 0 && !counter_.is_open()) announced_ += due;
  if (due == computed) return;
  if (header.by_steps)
    work.steps = step > 0 ? due.seconds() / step : 0;
  else
    work.compute = off_clock(due);
}

// The same thread goes on.
void Line::begin_work() {
  if (several_) work_->since = clock_now();
}

}  // namespace foretrace::mpi
