#include "base/cpu_clock.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>

#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define FORETRACE_HAVE_RSEQ 1
#else
#define FORETRACE_HAVE_RSEQ 0
#endif

namespace foretrace {
namespace {

std::int64_t read_clock(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::int64_t thread_cpu_ns() {
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

#if FORETRACE_HAVE_RSEQ

// A critical section that no instruction lies in. The kernel reads it when it
// switches the thread out, finds the instruction pointer outside, and clears
// rseq_cs. It insists on the signature in front of the abort address.
struct Mark {
  std::uint32_t signature = RSEQ_SIG;
  std::uint32_t target = 0;
  rseq_cs section{};
};

Mark& mark() {
  static Mark instance = [] {
    Mark m;
    m.section.version = 0;
    m.section.flags = 0;
    return m;
  }();
  return instance;
}

rseq* thread_area() {
  if (__rseq_size == 0) return nullptr;
  return reinterpret_cast<rseq*>(static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset);
}

std::uint64_t mark_address() {
  static const std::uint64_t address = [] {
    Mark& m = mark();
    m.section.start_ip = reinterpret_cast<std::uint64_t>(&m.section);
    m.section.post_commit_offset = 1;
    m.section.abort_ip = reinterpret_cast<std::uint64_t>(&m.target);
    return reinterpret_cast<std::uint64_t>(&m.section);
  }();
  return address;
}

bool undisturbed() {
  const rseq* area = thread_area();
  return area && __atomic_load_n(&area->rseq_cs, __ATOMIC_RELAXED) == mark_address();
}

void set_mark() {
  if (rseq* area = thread_area())
    __atomic_store_n(&area->rseq_cs, mark_address(), __ATOMIC_RELAXED);
}

void clear_mark() {
  if (rseq* area = thread_area()) __atomic_store_n(&area->rseq_cs, 0, __ATOMIC_RELAXED);
}

#else

bool undisturbed() {
  return false;
}
void set_mark() {}
void clear_mark() {}

#endif

thread_local const char thread_identity = 0;

}  // namespace

std::int64_t monotonic_ns() {
  return read_clock(CLOCK_MONOTONIC);
}

void CpuClock::resume() {
  if (thread_ == &thread_identity && undisturbed()) {
    monotonic_ns_ = monotonic_ns();
    return;
  }
  thread_ = &thread_identity;
  // The mark first: a switch between the readings is noticed at stop().
  set_mark();
  const std::int64_t cpu = thread_cpu_ns();
  monotonic_ns_ = monotonic_ns();
  offset_ns_ = cpu - monotonic_ns_;
}

// As read from the CPU clock at its 0, where no mark was set.
void CpuClock::resume_at_birth() {
  thread_ = &thread_identity;
  monotonic_ns_ = 0;
  offset_ns_ = 0;
  clear_mark();
}

Time CpuClock::stop() const {
  if (thread_ != &thread_identity) return Time();
  const std::int64_t now = monotonic_ns();
  if (undisturbed()) return Time::ns(std::max<std::int64_t>(now - monotonic_ns_, 0));
  const std::int64_t cpu = thread_cpu_ns();
  return Time::ns(std::max<std::int64_t>(cpu - (monotonic_ns_ + offset_ns_), 0));
}

}  // namespace foretrace
