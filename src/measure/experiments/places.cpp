#include "measure/experiments/places.hpp"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <bit>
#include <random>

namespace foretrace::measure {

void move_places(const Group& group, std::uint64_t seed) {
  constexpr int kTag = 5;
  constexpr std::size_t kMostMessages = 8;
  constexpr std::size_t kMostBytes = 512;
  if (group.size < 2) return;
  std::array<char, kMostBytes> out{};
  std::array<char, kMostBytes> in{};
  std::mt19937_64 random(seed);
  const auto distances = static_cast<std::uint64_t>(
      std::bit_width(static_cast<unsigned>(group.size - 1)));  // 1, 2, 4, ... below the size
  for (std::uint64_t count = 1 + random() % kMostMessages; count > 0; --count) {
    const int bytes = static_cast<int>(random() % kMostBytes);
    const int distance = 1 << random() % distances;
    const int next = (group.rank + distance) % group.size;
    const int last = (group.rank + group.size - distance) % group.size;
    MPI_Sendrecv(out.data(), bytes, MPI_CHAR, next, kTag, in.data(), bytes, MPI_CHAR, last, kTag,
                 group.comm, MPI_STATUS_IGNORE);
  }
}

std::unique_ptr<char[]> take_some_heap(std::uint64_t seed) {
  constexpr std::uint64_t kMost = 32 * 4096;  // beyond that it would be memory of its own
  std::mt19937_64 random(seed);
  return std::make_unique_for_overwrite<char[]>(1 + random() % (kMost - 64));
}

// mallopt(3): a block of M_MMAP_THRESHOLD bytes or more is a mapping of its own. The first one that
// is freed moves the threshold to its size, and M_TRIM_THRESHOLD, from which on the heap's end is
// given back, to twice that.
void begin_heap_anew(std::uint64_t bytes) {
  constexpr std::uint64_t kFirst = 128 * 1024;
  constexpr std::uint64_t kMost = 32 * 1024 * 1024;
  constexpr std::uint64_t kPage = 4096;
  const bool is_moved = bytes >= kFirst;
  const std::uint64_t mapped = is_moved ? std::min(bytes + kPage, kMost) : kFirst;
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(mapped));
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(is_moved ? 2 * mapped : kFirst));
}

}  // namespace foretrace::measure
