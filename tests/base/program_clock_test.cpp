#include "base/program_clock.hpp"

#include <gtest/gtest.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "base/ticks.hpp"

namespace foretrace {
namespace {

Time passed;  // virtual
bool inside_mpi = false;

std::optional<Time> shown() {
  return inside_mpi ? std::nullopt : std::optional(passed);
}

std::int64_t read_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

class ProgramClock : public testing::Test {
 protected:
  ProgramClock() {
    passed = Time();
    inside_mpi = false;
    program_clock::start(shown);
  }
  ~ProgramClock() override { program_clock::stop(passed); }
};

TEST_F(ProgramClock, EachClockShowsVirtualTime) {
  const std::int64_t real_time = read_ns(CLOCK_REALTIME);
  const std::int64_t monotonic = read_ns(CLOCK_MONOTONIC);
  const std::int64_t coarse = read_ns(CLOCK_MONOTONIC_COARSE);
  const auto steady = std::chrono::steady_clock::now();
  const time_t seconds = time(nullptr);
  timeval day{};
  gettimeofday(&day, nullptr);
  tms usage{};
  const clock_t ticks = times(&usage);
  timespec utc{};
  ASSERT_EQ(timespec_get(&utc, TIME_UTC), TIME_UTC);
  // The same moment for all of them.
  EXPECT_EQ(read_ns(CLOCK_REALTIME), real_time);
  EXPECT_EQ(utc.tv_nsec, real_time % 1'000'000'000);
  EXPECT_EQ(day.tv_usec, real_time % 1'000'000'000 / 1000);
  EXPECT_EQ(seconds, real_time / 1'000'000'000);

  passed = Time::ns(10'000'000'123) + Time::ps(999);
  EXPECT_EQ(read_ns(CLOCK_REALTIME) - real_time, 10'000'000'123);
  EXPECT_EQ(read_ns(CLOCK_MONOTONIC) - monotonic, 10'000'000'123);
  EXPECT_EQ(read_ns(CLOCK_MONOTONIC_COARSE) - coarse, 10'000'000'123);
  EXPECT_EQ((std::chrono::steady_clock::now() - steady).count(), 10'000'000'123);
  EXPECT_EQ((times(&usage) - ticks) / sysconf(_SC_CLK_TCK), 10);
  time_t later = 0;
  EXPECT_EQ(time(&later), later);
  EXPECT_EQ(later, (real_time + 10'000'000'123) / 1'000'000'000);
}

TEST_F(ProgramClock, WhatIsNotTheProgramsIsReal) {
  passed = Time::from_seconds(1000);
  const std::int64_t shown_to_program = read_ns(CLOCK_MONOTONIC);
  EXPECT_LT(read_ns(CLOCK_PROCESS_CPUTIME_ID), 900'000'000'000);
  inside_mpi = true;
  EXPECT_LT(read_ns(CLOCK_MONOTONIC), shown_to_program - 900'000'000'000);
  inside_mpi = false;
  {
    const program_clock::Real real;
    EXPECT_LT(read_ns(CLOCK_MONOTONIC), shown_to_program - 900'000'000'000);
    EXPECT_FALSE(program_clock::is_virtual());
  }
  EXPECT_LT(monotonic_ns(), shown_to_program - 900'000'000'000);
  EXPECT_TRUE(program_clock::is_virtual());
  std::thread([&] {
    EXPECT_LT(read_ns(CLOCK_MONOTONIC), shown_to_program - 900'000'000'000);
  }).join();
  EXPECT_EQ(read_ns(CLOCK_MONOTONIC), shown_to_program);
}

TEST_F(ProgramClock, GoesOnAfterTheEnd) {
  passed = Time::from_seconds(1000);
  const std::int64_t last = read_ns(CLOCK_MONOTONIC);
  program_clock::stop(passed);
  const std::int64_t next = read_ns(CLOCK_MONOTONIC);
  EXPECT_GE(next, last);
  EXPECT_LT(next, last + 100'000'000'000);
  const std::int64_t after = read_ns(CLOCK_MONOTONIC);
  EXPECT_GE(after, next);  // real time passes
  while (read_ns(CLOCK_MONOTONIC) == after) {
  }
}

TEST_F(ProgramClock, GoesOnInAChild) {
  passed = Time::from_seconds(1000);
  const std::int64_t last = read_ns(CLOCK_MONOTONIC);
  const pid_t child = fork();
  if (child == 0) {
    passed = Time::from_seconds(1'000'000);
    const std::int64_t now = read_ns(CLOCK_MONOTONIC);
    _exit(now >= last && now < last + 100'000'000'000 ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace foretrace
