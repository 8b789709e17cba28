#include "base/cpu_clock.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace foretrace {
#if FORETRACE_HAVE_RSEQ

RseqMark rseq_mark;

namespace {

void put_in_area(std::uint64_t value) {
  if (__rseq_size == 0) return;
  auto* area =
      reinterpret_cast<rseq*>(static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset);
  __atomic_store_n(&area->rseq_cs, value, __ATOMIC_RELAXED);
}

void set_mark() {
  static const std::uint64_t address = [] {
    rseq_cs& section = rseq_mark.section;
    section.start_ip = reinterpret_cast<std::uint64_t>(&section);
    section.post_commit_offset = 1;
    section.abort_ip = reinterpret_cast<std::uint64_t>(&rseq_mark.target);
    return reinterpret_cast<std::uint64_t>(&section);
  }();
  put_in_area(address);
}

void clear_mark() {
  put_in_area(0);
}

}  // namespace

#else

namespace {
void set_mark() {}
void clear_mark() {}
}  // namespace

#endif

void CpuClock::use_counter(const TickReading& begin) {
  if (ns_per_tick_ != 0 || !has_even_counter()) return;
  const std::int64_t base = monotonic_ns() - begin.ns;
  if (base < kLeastBaseNs)
    std::this_thread::sleep_for(std::chrono::nanoseconds(kLeastBaseNs - base));
  const TickReading end = read_both_clocks();
  if (end.ticks <= begin.ticks) return;
  const double ns_per_tick =
      static_cast<double>(end.ns - begin.ns) / static_cast<double>(end.ticks - begin.ticks);
  // Products with kLongestNs have to fit: far from what counters do.
  if (!(ns_per_tick > 1e-3 && ns_per_tick < 1e3)) return;
  ns_per_tick_ = static_cast<std::uint64_t>(ns_per_tick * 0x1p32);
  longest_ticks_ = static_cast<std::uint64_t>(static_cast<double>(kLongestNs) / ns_per_tick);
  leave_out_reading();
}

// The least that an interval with nothing in it shows.
void CpuClock::leave_out_reading() {
  constexpr int kTimes = 100;
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  CpuClock clock;
  std::uint64_t least = kNone;
  for (int i = 0; i < kTimes; ++i) {
    clock.resume();
    const std::uint64_t passed = read_ticks(ns_per_tick_ != 0) - clock.start_;
    if (undisturbed()) least = std::min(least, passed);
  }
  clear_mark();  // the next clock begins anew
  empty_ticks_ = least == kNone ? 0 : least;
}

void CpuClock::leave_out(Time more) {
  const double ns = static_cast<double>(more.count_ps()) * 1e-3;
  const double ticks = ns_per_tick_ == 0 ? ns : ns * 0x1p32 / static_cast<double>(ns_per_tick_);
  empty_ticks_ += static_cast<std::uint64_t>(std::max(ticks, 0.0));
}

// The mark first: a switch between the readings is noticed at stop().
void CpuClock::resume_slowly() {
  const bool counter = ns_per_tick_ != 0;
  if (!counter && thread_ == __builtin_thread_pointer()) {
    start_ = static_cast<std::uint64_t>(monotonic_ns());
    if (undisturbed()) return;
  }
  // Asking takes some microseconds, and so is not done at every switch.
  constexpr std::uint64_t kSeldom = 4;
  const bool anew = thread_ != __builtin_thread_pointer();
  if (anew || read_ticks(counter) - usage_at_ > kSeldom * longest_ticks_) ask_kernel();
  thread_ = __builtin_thread_pointer();
  set_mark();
  compared_cpu_ns_ = now_on(CLOCK_THREAD_CPUTIME_ID);
  compared_ = start_ = read_ticks(counter);
}

// As read from the CPU clock at its 0, where no mark was set.
void CpuClock::resume_at_birth() {
  thread_ = __builtin_thread_pointer();
  start_ = compared_ = 0;
  compared_cpu_ns_ = 0;
  clear_mark();
}

Time CpuClock::stop_slowly() const {
  if (thread_ != __builtin_thread_pointer()) return Time();
  if (ns_per_tick_ == 0) {
    const auto now = static_cast<std::uint64_t>(monotonic_ns());
    if (undisturbed())
      return Time::ns(
          std::max<std::int64_t>(static_cast<std::int64_t>(now - start_ - empty_ticks_), 0));
  }
  const std::uint64_t since = start_ - compared_;
  const std::int64_t start_cpu =
      compared_cpu_ns_ + (ns_per_tick_ == 0 ? static_cast<std::int64_t>(since) : to_ns(since));
  const std::int64_t cpu = std::max<std::int64_t>(now_on(CLOCK_THREAD_CPUTIME_ID) - start_cpu, 0);
  note_wait(cpu);
  return Time::ns(cpu);
}

void CpuClock::ask_kernel() const {
  usage_ = ask_for_usage();
  usage_at_ = read_ticks(ns_per_tick_ != 0);
}

// At the end of an interval in which the thread was switched out.
void CpuClock::note_wait(std::int64_t cpu_ns) const {
  const std::uint64_t ticks = read_ticks(ns_per_tick_ != 0) - start_;
  const double passed =
      ns_per_tick_ == 0 ? static_cast<double>(ticks)
                        : static_cast<double>(ticks) * 0x1p-32 * static_cast<double>(ns_per_tick_);
  const std::int64_t without = static_cast<std::int64_t>(passed) - cpu_ns;
  const std::int64_t noted = noted_start_ == start_ ? noted_ns_ : 0;
  // From its birth on nothing is known of the monotonic clock.
  if (Time::ns(without - noted) < kLeastWait || start_ == 0) return;
  const ThreadUsage before = usage_;
  ask_kernel();
  if (usage_.queued < 0 || before.queued < 0) return;
  noted_start_ = start_;
  noted_ns_ = without;
  const Waits found = waits_between(before, usage_, Time::ns(without - noted));
  waits_.for_threads += found.for_threads;
  waits_.for_others += found.for_others;
}

}  // namespace foretrace
