// Which executions of a kernel are made, and what the others are said to take.
#include "compute/kernel_sampler.hpp"

#include <gtest/gtest.h>

namespace foretrace::compute {
namespace {

class Sampler : public testing::Test {
 protected:
  // An execution that takes `work` if it is made; what the rank is told it took.
  Work execute(const char* name, double key, Work work, int calls_inside = 0) {
    const KernelSampler::Answer answer = sampler_.begin(name, key, so_far_, calls_);
    ran_ = answer.runs;
    if (!ran_) {
      so_far_ += answer.work;
      return answer.work;
    }
    so_far_ += work;
    calls_ += static_cast<std::uint64_t>(calls_inside);
    sampler_.end(name, so_far_, calls_);
    return work;
  }

  KernelSampler sampler_{2};
  Work so_far_{Time::ns(7), 1};
  std::uint64_t calls_ = 3;
  bool ran_ = false;
};

TEST_F(Sampler, GivesOutTheSamplesInTurn) {
  execute("k", 1, {Time::ns(10), 4});
  EXPECT_TRUE(ran_);
  execute("k", 1, {Time::ns(30), 6});
  EXPECT_TRUE(ran_);
  for (int round = 0; round < 2; ++round) {
    Work work = execute("k", 1, {});
    EXPECT_FALSE(ran_);
    EXPECT_EQ(work.cpu, Time::ns(10));
    EXPECT_EQ(work.steps, 4);
    work = execute("k", 1, {});
    EXPECT_EQ(work.cpu, Time::ns(30));
    EXPECT_EQ(work.steps, 6);
  }
  EXPECT_EQ(sampler_.left_out(), (std::vector<std::pair<std::string, std::uint64_t>>{{"k", 4}}));
  EXPECT_EQ(sampler_.summary(), "rank 0 left out 4 of k");
}

TEST_F(Sampler, EachNameAndKeyIsAKernel) {
  for (const double key : {1.0, 2.0, 3.0})
    for (const char* name : {"a", "b"})
      for (int i = 0; i < 3; ++i) {
        execute(name, key, {});
        EXPECT_EQ(ran_, i < 2) << name << key;
      }
}

TEST_F(Sampler, KernelsThatMakeCallsAlwaysRun) {
  for (int i = 0; i < 5; ++i) {
    execute("k", 0, {Time::ns(1), 0}, i == 1 ? 1 : 0);
    EXPECT_TRUE(ran_);
  }
  EXPECT_EQ(sampler_.refused(), std::vector<std::string>{"k"});
  EXPECT_TRUE(sampler_.left_out().empty());
}

TEST_F(Sampler, WhatIsInsideBelongsToTheOuterOne) {
  for (int i = 0; i < 3; ++i) {
    const KernelSampler::Answer outer = sampler_.begin("outer", 0, so_far_, calls_);
    EXPECT_EQ(outer.runs, i < 2);
    if (!outer.runs) {
      EXPECT_EQ(outer.work.cpu, Time::ns(20)) << "four executions of 5 ns";
      break;
    }
    for (int j = 0; j < 4; ++j) execute("inner", 0, {Time::ns(5), 0});
    sampler_.end("outer", so_far_, calls_);
  }
}

TEST_F(Sampler, AnEndWithoutABeginningIsNothing) {
  sampler_.end("never", so_far_, calls_);
  EXPECT_TRUE(sampler_.left_out().empty());
}

TEST(KernelSampler, WithoutANumberEverythingRuns) {
  KernelSampler sampler;
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(sampler.begin("k", 0, {}, 0).runs);
}

}  // namespace
}  // namespace foretrace::compute
