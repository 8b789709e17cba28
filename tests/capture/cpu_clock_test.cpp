// CpuClock against the kernel's own clock of the thread; in a program of its own
// (cpu_clock_counter.cpp) the same with the processor's counter in between.
#include "base/cpu_clock.hpp"
#include "base/wait_meter.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

namespace foretrace::capture {
namespace {

using namespace std::chrono_literals;

double thread_seconds() {
  timespec now;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// How long the calling thread has waited for a core, as the kernel says; 0 if it does not.
double queued_seconds() {
  std::ifstream file("/proc/thread-self/schedstat");
  long long ran = 0;
  long long queued = 0;
  return file >> ran >> queued ? 1e-9 * static_cast<double>(queued) : 0;
}

// Computes for `seconds` of this thread's CPU time, without a system call in
// between that would hide how the clock does by itself.
void compute(double seconds) {
  volatile double sink = 1;
  for (const double end = thread_seconds() + seconds; thread_seconds() < end;)
    for (int i = 0; i < 20'000; ++i) sink = sink * 1.0000001;
}

// What passed neither on a core nor waiting for one: the thread slept, or the core was given to
// another machine, which the kernel takes out of the thread's clock; monotonic_ns() goes on.
class Gone {
 public:
  double seconds() const { return std::max(now() - start_, 0.0); }

 private:
  static double now() {
    const double ran = thread_seconds() + queued_seconds();
    return 1e-9 * static_cast<double>(monotonic_ns()) - ran;
  }
  const double start_ = now();
};

struct Both {
  double clock;   // by CpuClock
  double thread;  // by the kernel
  double gone;
};

template <class Action>
Both measure(Action action) {
  CpuClock clock;
  const Gone gone;
  clock.resume();
  const double start = thread_seconds();
  action();
  const double thread = thread_seconds() - start;
  const double sum = clock.stop().seconds();
  return {sum, thread, gone.seconds()};
}

// The sum over many intervals, as between the calls of a program; action(i) is in the i-th.
template <class Action>
Both add_up(Action action) {
  CpuClock clock;
  Time sum;
  const Gone gone;
  const double start = thread_seconds();
  for (int i = 0; i < 100; ++i) {
    clock.resume();
    action(i);
    sum += clock.stop();
  }
  return {sum.seconds(), thread_seconds() - start, gone.seconds()};
}

// The clocks say the same. But what is read instead of the kernel's clock while the thread is not
// switched out does not know that another machine had the core: that much it may say more.
void expect_equal(const Both& both, double slept = 0) {
  EXPECT_GE(both.clock, 0.95 * both.thread);
  EXPECT_LE(both.clock, 1.05 * both.thread + std::max(both.gone - slept, 0.0));
}

TEST(CpuClock, DoesNotCountSleep) {
  const Both both = measure([] { std::this_thread::sleep_for(200ms); });
  EXPECT_LT(both.clock, 0.02);
  EXPECT_GE(both.clock, 0);
}

TEST(CpuClock, DoesNotCountShortSleeps) {
  const Both both = add_up([](int) { std::this_thread::sleep_for(300us); });
  EXPECT_LT(both.clock, both.thread + 0.01);
}

// In which `action` ran.
template <class Action>
Waits waits_in(Action action) {
  CpuClock clock;
  clock.resume();
  action();
  clock.stop();
  return clock.waits();
}

TEST(CpuClock, KnowsAWaitForAnotherProcess) {
  const Waits waits = waits_in([] { ASSERT_EQ(std::system("sleep 0.2"), 0); });
  EXPECT_GE(waits.for_others.seconds(), 0.19);
  EXPECT_EQ(waits.for_threads, Time());
}

TEST(CpuClock, KnowsAWaitForAThreadThatComputes) {
  const Waits waits = waits_in([] { std::thread([] { compute(0.2); }).join(); });
  EXPECT_GE(waits.for_threads.seconds(), 0.1);
  EXPECT_EQ(waits.for_others, Time());
}

TEST(CpuClock, TakesNoComputationForAWait) {
  const Waits waits = waits_in([] { compute(0.1); });
  EXPECT_EQ(waits.for_others, Time());
  EXPECT_EQ(waits.for_threads, Time());
}

TEST(WaitMeter, LeavesSleepOut) {
  CpuClock clock;
  WaitMeter meter;
  const auto interval = [&](auto action) {
    clock.resume();
    action();
    clock.stop();
  };
  interval([] { std::this_thread::sleep_for(100ms); });
  const Time passed = clock.waits().for_others;
  ASSERT_GE(passed.seconds(), 0.0999);  // by a clock of its own
  EXPECT_EQ(meter.since(clock, passed), Time());
  EXPECT_EQ(meter.since(clock, Time()), passed);
  EXPECT_EQ(meter.since(clock, Time::ns(40'000'000)), passed - Time::ns(40'000'000));
  EXPECT_EQ(meter.take(clock, Time::ns(40'000'000), true), passed - Time::ns(40'000'000));
  EXPECT_EQ(meter.since(clock, Time()), Time());
  interval([] { std::this_thread::sleep_for(50ms); });
  EXPECT_EQ(meter.take(clock, Time(), false), Time());
  EXPECT_EQ(meter.counted(), passed - Time::ns(40'000'000));
  EXPECT_GE(meter.left_out().seconds(), 0.05);
}

TEST(CpuClock, CountsComputation) {
  const Both both = measure([] { compute(0.05); });
  EXPECT_GE(both.thread, 0.05);
  expect_equal(both);
}

TEST(CpuClock, CountsComputationAroundASleep) {
  double slept = 0;
  const Both both = measure([&slept] {
    compute(0.03);
    const Gone gone;
    std::this_thread::sleep_for(100ms);
    slept = gone.seconds();
    compute(0.03);
  });
  EXPECT_GE(slept, 0.09);
  expect_equal(both, slept);
}

// The clock of a thread that computed before anybody looked.
TEST(CpuClock, CountsFromTheThreadsBeginning) {
  double clock = 0;
  double thread = 0;
  std::thread([&] {
    compute(0.03);
    CpuClock born;
    born.resume_at_birth();
    compute(0.03);
    thread = thread_seconds();
    clock = born.stop().seconds();
  }).join();
  EXPECT_GE(clock, thread);
  EXPECT_NEAR(clock, thread, 0.05 * thread);
}

// None is counted twice or forgotten, also where the thread gives way in between.
TEST(CpuClock, AddsUpOverManyIntervals) {
  const Both both = add_up([](int i) {
    compute(0.0005);
    if (i % 10 == 0) ::sched_yield();
  });
  expect_equal(both);
}

TEST(CpuClock, AnIntervalIsNeverNegative) {
  CpuClock clock;
  for (int i = 0; i < 10'000; ++i) {
    clock.resume();
    ASSERT_GE(clock.stop(), Time());
  }
}

TEST(CpuClock, StopOnAnotherThreadIsZero) {
  CpuClock clock;
  clock.resume();
  compute(0.01);
  Time stopped = Time::max();
  std::thread([&] { stopped = clock.stop(); }).join();
  EXPECT_EQ(stopped, Time());
}

TEST(CpuClock, EachThreadCountsItself) {
  std::vector<Both> both(2);
  std::vector<std::thread> threads;
  for (Both& each : both) threads.emplace_back([&each] { each = measure([] { compute(0.05); }); });
  for (std::thread& thread : threads) thread.join();
  for (const Both& each : both) expect_equal(each);
}

// Keeps every core busy with two processes each, so that this one is switched
// out again and again.
class BusyMachine : public testing::Test {
 protected:
  void SetUp() override {
    const long cores = ::sysconf(_SC_NPROCESSORS_ONLN);
    for (long i = 0; i < 2 * std::min(cores, 8L); ++i) {
      const pid_t child = ::fork();
      if (child == 0)
        for (std::atomic<unsigned> n = 0;;) ++n;
      children_.push_back(child);
    }
  }
  void TearDown() override {
    for (const pid_t child : children_) ::kill(child, SIGKILL);
    for (const pid_t child : children_) ::waitpid(child, nullptr, 0);
  }
  std::vector<pid_t> children_;
};

TEST_F(BusyMachine, AgreesWithTheThreadsClock) {
  for (int round = 0; round < 3; ++round) {
    expect_equal(measure([] { compute(0.2); }));
  }
}

TEST(MonotonicNs, DoesNotRunBackwards) {
  std::int64_t last = monotonic_ns();
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t now = monotonic_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

// What an interval of 2,500 ns shows, at least. The time is taken from a clock: a number of steps
// takes some per cent more or less with the core's speed.
double shown_ns() {
  double least = 1e9;
  for (int i = 0; i < 2000; ++i) {
    CpuClock clock;
    clock.resume();
    const std::int64_t end = monotonic_ns() + 2500;
    while (monotonic_ns() < end) {
    }
    least = std::min(least, clock.stop().seconds() * 1e9);
  }
  return least;
}

TEST(CpuClock, LeavesOutWhatItIsTold) {
  const double before = shown_ns();
  CpuClock::leave_out(Time::ns(1000));
  const double after = shown_ns();
#if FORETRACE_HAVE_RSEQ
  EXPECT_NEAR(before - after, 1000, 200);
#else
  EXPECT_GT(after, before / 2);
#endif
}

}  // namespace
}  // namespace foretrace::capture
