// What the calling thread executed.
#include "compute/work_counter.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace foretrace::compute {
namespace {

thread_local unsigned long first_object;
thread_local unsigned long second_object;

// One test: what registers with the process stays.
TEST(WorkCounter, AddsUpTheBlocksOfAllObjects) {
  WorkCounter before;
  EXPECT_THROW(before.open(Counter::blocks), Error) << "nobody counts yet";
  EXPECT_FALSE(before.is_open());

  add_block_counter([] { return &first_object; });
  add_block_counter([] { return &second_object; });
  first_object = 1000;
  WorkCounter counter;
  counter.open(Counter::blocks);
  counter.resume();
  EXPECT_EQ(counter.stop(), 0u);
  first_object += 3;
  second_object += 4;
  EXPECT_EQ(counter.stop(), 7u);
  counter.resume();
  ++second_object;
  EXPECT_EQ(counter.stop(), 1u);
}

// Where the kernel has no counters it must say so and not count nothing.
TEST(WorkCounter, InstructionsOrAnError) {
  WorkCounter counter;
  try {
    check_instructions();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("counted:blocks"), std::string::npos);
    EXPECT_THROW(counter.open(Counter::instructions), Error);
    return;
  }
  counter.open(Counter::instructions);
  const auto loop = [&counter](int turns) {
    counter.resume();
    for (int i = 0; i < turns; ++i) asm volatile("" : : : "memory");
    return counter.stop();
  };
  loop(1000);
  const std::uint64_t few = loop(1000);
  EXPECT_GE(few, 1000u);
  EXPECT_GE(loop(100'000), few + 99'000);
}

}  // namespace
}  // namespace foretrace::compute
