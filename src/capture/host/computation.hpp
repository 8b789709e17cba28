// Computation: what the program did between two calls, and the time it takes.
//
// Record keeps what was measured and counted; predict turns it into virtual time
// at once, as the settings say. Knows nothing of MPI.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cpu_clock.hpp"
#include "base/slept.hpp"
#include "base/wait_meter.hpp"
#include "capture/host/settings.hpp"
#include "compute/kernel_sampler.hpp"
#include "compute/node_ranks.hpp"
#include "compute/rule.hpp"
#include "compute/work_counter.hpp"
#include "machine/machine_model.hpp"
#include "machine/timing.hpp"
#include "trace/event.hpp"

namespace foretrace::capture {

class Computation {
 public:
  // What one thread of the program has computed since its last call.
  struct Thread {
    CpuClock cpu;
    compute::Work added;  // announced, or of kernels that were left out
    // CPU time when it made its call; not set: it still counts.
    std::optional<Time> used;
    Time slept;           // and waited, where that counts
    Time slept_aside;     // between the looks of a row (put_sleep_aside())
    Time slept_between;   // between calls, as asked for: since the beginning,
    Time slept_before{};  // and all that the thread slept until its last call
    WaitMeter waits{};
  };

  // `model`: of a prediction, else nullptr; its step becomes what one count
  // takes. Throws Error and UsageError where this program, machine or model does
  // not offer it. `ranks`: of every rank's node; `slower`: how much longer this one computes.
  // Returns what the user should know; empty: nothing.
  std::string start(const Settings& settings, machine::MachineModel* model, WorldRank rank,
                    const std::vector<compute::NodeRanks>& ranks, double slower);
  // The rules of the model that start() was given.
  void predict_with(const machine::Timing& timing) { timing_ = &timing; }

  // `thread` makes a call. One that waits for its turn first says what it had
  // used before.
  void on(Thread& thread) { thread_ = &thread; }
  void stop(Thread& thread) const {
    thread.slept_between += slept_ever - std::exchange(thread.slept_before, slept_ever);
    if (!needs_cpu_) return;
    thread.used = thread.cpu.stop();
    const Slept slept = take_slept();
    thread.slept += slept.asked + thread.waits.take(thread.cpu, slept.passed, counts_waits_);
  }

  // Work of ours before the call that the program makes is known to be one.
  template <class Work>
  auto leave_out(Work work);

  // The program goes on.
  void resume();
  // It makes a call, or comes to a mark: sets the event's steps and compute time.
  // Throws Error where the run cannot be what it is predicted as.
  void end(trace::Event& event, const char* name);
  // What came of a call that looked for something.
  void looked(bool found) {
    if (rule_) rule_->looked(found);
  }

  // By a thread that runs the program: what it has computed since its last call, as far as that
  // can be told before the next one. What this function takes is none of it.
  Time at_reading(Thread& thread) const;
  // The same on the line on which threads wait for each other; and what it takes there that another
  // thread computed, and the other way round. Where computation follows a rule (--compute), that
  // line has it as it was measured.
  Time until_reading(Thread& thread) const;
  Time on_clock(Time computed) const;
  Time off_clock(Time held_up) const;

  // What the last interval took as measured, whatever time that was given.
  Time measured() const { return measured_; }
  // Whether waits for files or other processes take time; from now on they do not.
  bool counts_waits() const { return counts_waits_.load(std::memory_order_relaxed); }
  void leave_waits_out() { counts_waits_.store(false, std::memory_order_relaxed); }
  // What the thread has done since its last event does not count.
  void forget_interval() {
    thread_->used = thread_->slept = Time();
    if (counts()) counter_.resume();
  }
  // By `thread`, in all, outside of MPI.
  static Time slept_ever_by(const Thread& thread) {
    return thread.slept_between + slept_ever - thread.slept_before;
  }
  // What the thread slept since its last call is put aside: it counts only if the looks that it is
  // between end without finding anything. False: it did not sleep.
  bool put_sleep_aside() {
    const Time slept = std::exchange(thread_->slept, Time());
    thread_->slept_aside += slept;
    return slept > Time();
  }
  Time sleep_aside() const { return thread_->slept_aside; }
  void set_sleep_aside(Time slept) { thread_->slept_aside = slept; }
  // It is part of the interval at hand.
  void count_sleep_aside() { thread_->slept += std::exchange(thread_->slept_aside, Time()); }

  // Whether Event::steps are counts, not steps that the program announced.
  bool counts() const { return counter_.is_open(); }
  // Whether sleep takes no time in the prediction at hand, since that measures nothing.
  bool leaves_sleep_out() const { return timing_ && compute::leaves_sleep_out(spec_.kind); }
  // Whether computation is what the program announces; and whether it has done so.
  bool is_announced() const { return timing_ && spec_.kind == compute::Kind::annotated; }
  bool announced() const { return announced_; }
  void add_work(Thread& thread, Time cpu) const {
    if (needs_cpu_) thread.added.cpu += cpu;
  }
  void add_steps(double steps) { add_steps(*thread_, steps); }
  void add_steps(Thread& thread, double steps) {
    if (counts()) return;
    thread.added.steps += steps;
    announced_ = announced_ || steps != 0;
  }
  // foretrace.h's kernels: whether the one at hand is to be executed.
  bool kernel_begin(const char* name, double key);
  void kernel_end(const char* name);
  // What was left out, for the end of rank 0's run; empty: nothing.
  std::string kernel_summary() const { return sampler_.summary(); }

  // Calls that become one event compute together: what `merged` and `event`
  // compute in one. In `event` is what its own computation was taken for.
  Time together(const trace::Event& merged, const trace::Event& event) const;

 private:
  compute::Work so_far() const;
  compute::Work at_reading_of(Thread& thread) const;
  Time time_of(const compute::Work& work) const;
  Time time_of(const compute::Work& work, const trace::Event& event, const char* name);

  compute::Spec spec_;
  double scale_ = 1;
  Time measured_;
  double slower_ = 1;
  bool needs_cpu_ = true;
  std::atomic<bool> counts_waits_ = true;  // read by threads that wait for their turn
  std::unique_ptr<compute::Rule> rule_;
  const machine::Timing* timing_ = nullptr;
  Thread* thread_ = nullptr;
  compute::WorkCounter counter_;
  compute::KernelSampler sampler_;
  std::uint64_t calls_ = 0;
  bool announced_ = false;
};

inline void Computation::resume() {
  thread_->slept_before = slept_ever;
  if (needs_cpu_) {
    thread_->cpu.resume();
    thread_->used.reset();
    // MPI's own sleep is none of the program's.
    thread_->slept = Time();
    take_slept();
    note_back_from_mpi();
  }
  if (counts()) counter_.resume();
}

template <class Work>
auto Computation::leave_out(Work work) {
  if (needs_cpu_) thread_->added.cpu += thread_->cpu.stop();
  if (counts()) thread_->added.steps += static_cast<double>(counter_.stop());
  const auto result = work();
  if (needs_cpu_) thread_->cpu.resume();
  if (counts()) counter_.resume();
  return result;
}

inline compute::Work Computation::so_far() const {
  compute::Work work = thread_->added;
  if (needs_cpu_)
    work.cpu += (thread_->used ? *thread_->used : thread_->cpu.stop()) + thread_->slept;
  if (counts()) work.steps += static_cast<double>(counter_.stop());
  return work;
}

inline void Computation::end(trace::Event& event, const char* name) {
  const compute::Work work = so_far();
  thread_->added = {};
  ++calls_;
  announced_ = announced_ || work.steps != 0;
  event.steps = work.steps;
  measured_ = work.cpu;
  event.compute = timing_ ? time_of(work, event, name) : work.cpu;
}

}  // namespace foretrace::capture
