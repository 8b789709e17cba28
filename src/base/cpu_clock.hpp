// CpuClock: the CPU time that the calling thread spends between two MPI calls.
//
// The kernel's thread CPU clock costs a system call. Here another clock stands
// in for it as long as the thread was never switched out: the monotonic clock, or
// the processor's counter where its rate is known. The thread leaves a mark in its
// rseq area, which the kernel clears when it pre-empts, moves or interrupts the
// thread. Where the mark is gone (or rseq is not there) the kernel's clock is
// read instead. Knows nothing of MPI.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/thread_usage.hpp"
#include "base/ticks.hpp"
#include "base/time.hpp"

#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define FORETRACE_HAVE_RSEQ 1
#else
#define FORETRACE_HAVE_RSEQ 0
#endif

namespace foretrace {

class CpuClock {
 public:
  // Begins an interval on the calling thread.
  void resume();
  // Begins one where the calling thread began.
  void resume_at_birth();
  // CPU time of the calling thread since resume(), in whole nanoseconds, less what
  // reading the clock takes; zero if another thread called resume().
  Time stop() const;
  // In the intervals so far. Less than kLeastWait in one of them counts as nothing.
  const Waits& waits() const { return waits_; }

  // From now on all clocks of the process read the processor's counter, if the
  // kernel trusts it. No interval may be under way. Its rate is measured since
  // `begin`; sleeps until that is kLeastBaseNs ago.
  static void use_counter(const TickReading& begin);
  static constexpr std::int64_t kLeastBaseNs = 5'000'000;
  // From now on what reading the clock takes is no computation. No interval may be
  // under way; use_counter() does it, too.
  static void leave_out_reading();
  // Nor is so much more of every interval: the way from resume() to the program and from there to
  // stop(). Those during which the thread was switched out keep it.
  static void leave_out(Time more);

 private:
  // The counter's rate is known to some millionths. So what it says is used for
  // so long, and the kernel's clock is read again after that.
  static constexpr std::int64_t kLongestNs = 1'000'000;

  static bool undisturbed();
  static std::int64_t to_ns(std::uint64_t ticks) {
    return static_cast<std::int64_t>((ticks * ns_per_tick_ + (std::uint64_t{1} << 31)) >> 32);
  }
  void ask_kernel() const;
  void resume_slowly();
  Time stop_slowly() const;
  void note_wait(std::int64_t cpu_ns) const;

  inline static std::uint64_t ns_per_tick_ = 0;  // times 2^32; 0: the monotonic clock is read
  inline static std::uint64_t empty_ticks_ = 0;  // or nanoseconds, of the clock that is read
  inline static std::uint64_t longest_ticks_ = kLongestNs;

  const void* thread_ = nullptr;
  std::uint64_t start_ = 0;  // at resume(): ticks, or monotonic nanoseconds
  // The CPU time when the other clock was last compared with it, on this thread;
  // good as long as the mark stands.
  std::uint64_t compared_ = 0;
  std::int64_t compared_cpu_ns_ = 0;
  mutable Waits waits_;
  // When it was asked last: some milliseconds before start_ at most, or at any time if the thread
  // has not been switched out since.
  mutable ThreadUsage usage_;
  mutable std::uint64_t usage_at_ = 0;  // ticks, or monotonic nanoseconds
  // Of the interval that began there so much without a core is noted.
  mutable std::uint64_t noted_start_ = 0;
  mutable std::int64_t noted_ns_ = 0;
};

#if FORETRACE_HAVE_RSEQ

// A critical section that no instruction lies in. The kernel reads it when it
// switches the thread out, finds the instruction pointer outside, and clears
// rseq_cs. It insists on the signature in front of the abort address.
struct RseqMark {
  std::uint32_t signature = RSEQ_SIG;
  std::uint32_t target = 0;
  rseq_cs section{};
};
extern RseqMark rseq_mark;

// Where the C library has not registered its area, nobody sets the mark.
inline bool CpuClock::undisturbed() {
  const auto* area = reinterpret_cast<const rseq*>(
      static_cast<const char*>(__builtin_thread_pointer()) + __rseq_offset);
  return __atomic_load_n(&area->rseq_cs, __ATOMIC_RELAXED) ==
         reinterpret_cast<std::uint64_t>(&rseq_mark.section);
}

#else

inline bool CpuClock::undisturbed() {
  return false;
}

#endif

// Both look at the mark after the clock: a switch before the look is noticed now,
// one after it by the next.
inline void CpuClock::resume() {
  if (ns_per_tick_ != 0 && thread_ == __builtin_thread_pointer()) {
    start_ = read_ticks(true);
    if (undisturbed() && start_ - compared_ < longest_ticks_) return;
  }
  resume_slowly();
}

inline Time CpuClock::stop() const {
  if (ns_per_tick_ != 0 && thread_ == __builtin_thread_pointer()) {
    const std::uint64_t passed = read_ticks(true) - start_;
    if (passed < longest_ticks_ && undisturbed())
      return Time::ns(to_ns(passed > empty_ticks_ ? passed - empty_ticks_ : 0));
  }
  return stop_slowly();
}

}  // namespace foretrace
