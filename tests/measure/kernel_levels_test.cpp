#include "measure/core/kernel_levels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace foretrace::measure {
namespace {

constexpr std::uint64_t kKi = 1024;
constexpr std::uint64_t kMi = 1024 * kKi;

std::string text(const CacheSizes& caches) {
  std::ostringstream out;
  for (const KernelLevel& level : kernel_levels(caches))
    out << level.name << ' ' << level.bytes / kKi << "K ";
  return out.str();
}

// 4 cores share the third cache: an eighth of it is half of a core's share.
TEST(KernelLevels, HalfOfEachCacheAndTwiceTheLast) {
  EXPECT_EQ(text({.l1 = 32 * kKi, .l2 = kMi, .l3 = 64 * kMi, .memory = 8192 * kMi, .cores = 4}),
            "l1 16K l2 512K l3 8192K memory 131072K ");
}

// A core's share of the third cache (1 MiB) is not beyond the second.
TEST(KernelLevels, AShareIsBeyondTheCacheBefore) {
  EXPECT_EQ(text({.l1 = 32 * kKi, .l2 = 2 * kMi, .l3 = 64 * kMi, .memory = 1 << 30, .cores = 32}),
            "l1 16K l2 1024K l3 4096K ");
  EXPECT_EQ(text({.l1 = 32 * kKi, .l2 = 2 * kMi, .l3 = 4 * kMi, .memory = 1 << 30, .cores = 2}),
            "l1 16K l2 1024K memory 8192K ");
}

TEST(KernelLevels, UnknownCachesAreLeftOut) {
  EXPECT_EQ(text({.memory = 1 << 30}), "");
  EXPECT_EQ(text({.l1 = 32 * kKi, .l2 = 256 * kKi, .memory = 1 << 30, .cores = 2}),
            "l1 16K l2 128K memory 512K ");
}

TEST(KernelLevels, ThisMachine) {
  const CacheSizes caches = find_cache_sizes();
  EXPECT_GT(caches.memory, 0u);
  EXPECT_GE(caches.cores, 1);
  EXPECT_LE(caches.l1, caches.l2 + (caches.l2 == 0 ? caches.l1 : 0));
}

}  // namespace
}  // namespace foretrace::measure
