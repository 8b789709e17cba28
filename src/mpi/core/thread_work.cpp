// Several threads of one rank. The rank has one clock, which only goes forward: what a thread
// computes counts from the clock at the end of its last call, so threads that compute at the same
// time do not add up. It begins where its maker was then; who waits for its end goes on where it
// was at the end.
#include "mpi/core/thread_work.hpp"

#include <sys/single_threaded.h>

#include <algorithm>
#include <memory>

#include "base/program_clock.hpp"
#include "base/slept.hpp"
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

std::optional<Position> make_thread() {
  if (!line.is_open() || in_call() || !threads_may_call()) return std::nullopt;
  if (!this_thread) return thread_calls::begun_at();
  const program_clock::Real own;
  enter_library();
  const Position at{line.position(*this_thread)};
  leave_library();
  return at;
}

void join_thread() {
  if (!line.is_open() || in_call() || !this_thread) return;
  const program_clock::Real own;
  enter_library();
  line.join_thread(*this_thread);
  leave_library();
}

constexpr thread_calls::Watcher kWatcher{make_thread, join_thread};

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
      first_.since = clock_now();
    }
    const auto begun = thread_calls::begun_at();
    this_thread->since = begun ? begun->clock : first_.since;
    if (measured_ == Measured::cpu) this_thread->cpu.resume_at_birth();
  }
  work_ = this_thread;
}

// What was waited until a rank got a core is none of the program's; nor can it be told from waits
// for threads that wait in MPI.
bool Line::counts_waits() const {
  return waits_count_ && !several_ && SharedMemory::header().lendings.load() == lendings_;
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
  return since + computation(work);
}

void Line::reach(ThreadWork& work) {
  reached_ = std::max(reached_, work.since + so_far(work));
}

void Line::end_thread(ThreadWork& work) {
  if (slot_) reach(work);
  if (work_ == &work) work_ = &first_;
}

// It may have been any of those that have ended.
void Line::join_thread(ThreadWork& work) {
  if (several_) work.since += std::max(reached_ - (work.since + so_far(work)), Time());
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
  if (others_steps_.load(std::memory_order_relaxed) != 0) work.steps += others_steps_.exchange(0);
  if (!several_) return;
  const Time now = clock_now();
  const Time computed = computation(work);
  const Time due = std::max(std::max(work.since + computed, reached_) - now, Time());
  if (due == computed) return;
  const Header& header = SharedMemory::header();
  if (header.by_steps)
    work.steps = header.compute_step > 0 ? due.seconds() / header.compute_step : 0;
  else
    work.compute = header.compute_scale > 0 ? due.scaled(1 / header.compute_scale) : Time();
}

// The same thread goes on.
void Line::begin_work() {
  if (several_) work_->since = clock_now();
}

}  // namespace foretrace::mpi
