// Return addresses by guess and by unwinding, through frames with and without
// a fixed size.
#include "callers/stack_walk.hpp"

#include <alloca.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace foretrace::callers {
namespace {

struct Walk {
  bool guessed = false;
  Chain guess;
  Chain truth;
};

// In the place of a wrapper.
[[gnu::noinline]] Walk walk(StackWalker& walker) {
  const auto address = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  const auto cfa = reinterpret_cast<std::uint64_t>(__builtin_dwarf_cfa());
  Walk result;
  result.guessed = walker.guess(address, cfa, result.guess);
  walker.unwind(address, cfa, result.truth);
  return result;
}

[[gnu::noinline]] Walk through_array(StackWalker& walker, std::size_t bytes) {
  auto* array = static_cast<volatile char*>(alloca(bytes));
  for (std::size_t i = 0; i < bytes; ++i) array[i] = 1;
  Walk result = walk(walker);
  array[0] = 2;
  return result;
}

[[gnu::noinline]] Walk outer(StackWalker& walker, int depth) {
  Walk result = depth > 0 ? outer(walker, depth - 1) : walk(walker);
  asm volatile("" ::: "memory");
  return result;
}

bool same(const Chain& x, const Chain& y) {
  return x.depth == y.depth && x.frames == y.frames;
}

TEST(StackWalker, GuessesWhatItHasUnwound) {
  StackWalker walker(4);
  Walk walks[2];
  for (Walk& each : walks) each = outer(walker, 3);
  EXPECT_FALSE(walks[0].guessed);
  ASSERT_TRUE(walks[1].guessed);
  EXPECT_EQ(walks[1].guess.depth, 4u);
  EXPECT_TRUE(same(walks[1].guess, walks[1].truth));
  EXPECT_TRUE(same(walks[0].truth, walks[1].truth));
}

TEST(StackWalker, DepthOne) {
  StackWalker walker(1);
  Walk walks[2];
  for (Walk& each : walks) each = outer(walker, 1);
  ASSERT_TRUE(walks[1].guessed);
  EXPECT_EQ(walks[1].guess.depth, 1u);
  EXPECT_TRUE(same(walks[1].guess, walks[1].truth));
}

// The frame's size differs from call to call: whatever is guessed, the truth is
// found; and a guess never leaves the stack.
TEST(StackWalker, FramesOfVaryingSize) {
  StackWalker walker(3);
  Chain first;
  for (const std::size_t bytes : {64u, 64u, 4096u, 32u, 3'000'000u, 64u, 4096u}) {
    const Walk walk = through_array(walker, bytes);
    EXPECT_EQ(walk.truth.depth, 3u);
    if (first.depth == 0) first = walk.truth;
    EXPECT_TRUE(same(walk.truth, first)) << bytes;
  }
}

TEST(StackWalker, LeavesOutWhatItIsTold) {
  const auto in_program = reinterpret_cast<std::uint64_t>(&walk);
  const auto in_library = reinterpret_cast<std::uint64_t>(&::malloc);
  const StackWalker all(1);
  EXPECT_FALSE(all.is_left_out(in_program));
  EXPECT_FALSE(all.is_left_out(16));
  const StackWalker without_program(1, reinterpret_cast<const void*>(in_program));
  EXPECT_TRUE(without_program.is_left_out(in_program));
  EXPECT_FALSE(without_program.is_left_out(in_library));
}

}  // namespace
}  // namespace foretrace::callers
