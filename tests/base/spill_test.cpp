// Memory that lies in a file once there is much of it.
#include "base/spill.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace foretrace {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

void fill(char* at, std::size_t bytes, char with) {
  std::fill_n(at, bytes, with);
}
bool holds(const char* at, std::size_t bytes, char what) {
  return std::all_of(at, at + bytes, [what](char c) { return c == what; });
}

TEST(Spill, FirstPartIsMemory) {
  Spill spill(64 * kMiB);
  void* const first = spill.take(16 * kMiB);
  EXPECT_EQ(spill.in_file(), 0U);
  void* const second = spill.take(48 * kMiB + 1);
  EXPECT_GT(spill.in_file(), 48 * kMiB);
  spill.give(second, 48 * kMiB + 1);
  EXPECT_EQ(spill.in_file(), 0U);
  spill.give(first, 16 * kMiB);
}

TEST(Spill, PiecesDoNotOverlap) {
  struct Piece {
    char* at;
    std::size_t bytes;
    char with;
  };
  Spill spill(0);
  std::mt19937 random(1);
  std::vector<Piece> pieces;
  for (int i = 0; i < 400; ++i) {
    const std::size_t bytes = std::size_t{1} << (12 + random() % 11);
    const char with = static_cast<char>(random());
    char* const at = static_cast<char*>(spill.take(bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 64, 0U);
    fill(at, bytes, with);
    pieces.push_back({at, bytes, with});
    if (random() % 3 != 0) continue;
    std::swap(pieces[random() % pieces.size()], pieces.back());
    const Piece gone = pieces.back();
    EXPECT_TRUE(holds(gone.at, gone.bytes, gone.with));
    spill.give(gone.at, gone.bytes);
    pieces.pop_back();
  }
  for (const Piece& piece : pieces) EXPECT_TRUE(holds(piece.at, piece.bytes, piece.with));
  const std::size_t most = spill.in_file();
  EXPECT_GT(most, 0U);
  for (const Piece& piece : pieces) spill.give(piece.at, piece.bytes);
  for (const Piece& piece : pieces) spill.take(piece.bytes);
  EXPECT_EQ(spill.in_file(), most);
}

// A folder that takes no file is passed over. Where a file may not grow, the rest is memory.
TEST(Spill, WithoutRoomItIsMemory) {
  ASSERT_EQ(::setenv("TMPDIR", "/proc", 1), 0);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit less{100 * kMiB, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &less), 0);
  Spill spill(0);
  std::vector<char*> pieces;
  for (char with = 'a'; with < 'm'; ++with) {
    pieces.push_back(static_cast<char*>(spill.take(16 * kMiB)));
    fill(pieces.back(), 16 * kMiB, with);
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(spill.in_file(), 96 * kMiB);
  char with = 'a';
  for (char* const piece : pieces) {
    EXPECT_TRUE(holds(piece, 16 * kMiB, with++));
    spill.give(piece, 16 * kMiB);
  }
  ::unsetenv("TMPDIR");
}

TEST(Spill, Allocator) {
  std::vector<std::uint32_t, SpillAllocator<std::uint32_t>> numbers;
  for (std::uint32_t i = 0; i < 1'000'000; ++i) numbers.push_back(i);
  for (std::uint32_t i = 0; i < 1'000'000; ++i) ASSERT_EQ(numbers[i], i);
}

}  // namespace
}  // namespace foretrace
