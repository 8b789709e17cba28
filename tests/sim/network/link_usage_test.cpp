#include "sim/network/link_usage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace foretrace::sim {
namespace {

using machine::LinkId;
using testing::ElementsAre;

std::vector<std::int64_t> ps(const std::vector<Time>& times) {
  std::vector<std::int64_t> out;
  for (const Time time : times) out.push_back(time.count_ps());
  return out;
}

TEST(LinkUsage, AddsUpByLinkNumber) {
  LinkUsage usage;
  usage.carried(LinkId(7), Bytes(100), Time::ps(0), Time::ps(50));
  usage.carried(LinkId(2), Bytes(10), Time::ps(10), Time::ps(15));
  usage.carried(LinkId(7), Bytes(1), Time::ps(60), Time::ps(61), 0);  // a message's second packet
  const std::vector<LinkLoad> loads = usage.loads();
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_EQ(loads[0].link, LinkId(2));
  EXPECT_EQ(loads[0].messages, 1U);
  EXPECT_EQ(loads[0].bytes, Bytes(10));
  EXPECT_EQ(loads[0].busy, Time::ps(5));
  EXPECT_EQ(loads[1].link, LinkId(7));
  EXPECT_EQ(loads[1].messages, 1U);
  EXPECT_EQ(loads[1].bytes, Bytes(101));
  EXPECT_EQ(loads[1].busy, Time::ps(51));
}

// Bins of 1,024 ps. 512 ps before the first border, a whole bin, 256 ps behind
// the second border.
TEST(LinkUsage, DividesASpanAtTheBorders) {
  LinkUsage usage;
  usage.carried(LinkId(0), Bytes(1), Time::ps(512), Time::ps(2048 + 256));
  EXPECT_EQ(usage.bin_width(), Time::ps(1024));
  EXPECT_THAT(ps(usage.history(LinkId(0))), ElementsAre(512, 1024, 256));
}

// Busy for 896 of 1,792 ps: half of each bin's part.
TEST(LinkUsage, SpreadsBusyEvenly) {
  LinkUsage usage;
  usage.carried(LinkId(0), 1, Bytes(1), Time::ps(896), Time::ps(512), Time::ps(2048 + 256));
  EXPECT_THAT(ps(usage.history(LinkId(0))), ElementsAre(256, 512, 128));
}

// A border belongs to the bin behind it, a span's end to the one before it.
TEST(LinkUsage, BordersAreExact) {
  LinkUsage usage;
  usage.carried(LinkId(0), Bytes(1), Time::ps(0), Time::ps(1024));
  EXPECT_THAT(ps(usage.history(LinkId(0))), ElementsAre(1024));
  usage.carried(LinkId(0), Bytes(1), Time::ps(1024), Time::ps(1025));
  EXPECT_THAT(ps(usage.history(LinkId(0))), ElementsAre(1024, 1));
  // No span at all, but busy: at its time.
  usage.carried(LinkId(0), 1, Bytes(1), Time::ps(3), Time::ps(2048), Time::ps(2048));
  EXPECT_THAT(ps(usage.history(LinkId(0))), ElementsAre(1024, 1, 3));
}

// 64 bins of 1,024 ps end at 65,536 ps; the next picosecond doubles the width.
// Bin 1 becomes part of bin 0, bins 62 and 63 become bin 31.
TEST(LinkUsage, WidthDoublesWhenTimeGrows) {
  LinkUsage usage;
  usage.carried(LinkId(0), Bytes(1), Time::ps(0), Time::ps(10));
  usage.carried(LinkId(0), Bytes(1), Time::ps(1024), Time::ps(1044));
  usage.carried(LinkId(1), Bytes(1), Time::ps(2048), Time::ps(2078));
  usage.carried(LinkId(1), Bytes(1), Time::ps(62 * 1024), Time::ps(64 * 1024));
  EXPECT_EQ(usage.bin_width(), Time::ps(1024));
  EXPECT_EQ(usage.bins(), 64);
  usage.carried(LinkId(0), Bytes(1), Time::ps(65536), Time::ps(65537));
  EXPECT_EQ(usage.bin_width(), Time::ps(2048));
  ASSERT_EQ(usage.bins(), 33);
  std::vector<std::int64_t> zero(33), one(33);
  zero[0] = 30;
  zero[32] = 1;
  one[1] = 30;
  one[31] = 2048;
  EXPECT_EQ(ps(usage.history(LinkId(0))), zero);
  EXPECT_EQ(ps(usage.history(LinkId(1))), one);
  // Many doublings at once: 1 s needs bins of 2^34 ps (64 * 2^33 < 10^12).
  usage.carried(LinkId(0), Bytes(1), Time::ps(1'000'000'000'000), Time::ps(1'000'000'000'001));
  EXPECT_EQ(usage.bin_width(), Time::ps(std::int64_t{1} << 34));
  EXPECT_EQ(usage.history(LinkId(0)).front(), Time::ps(31));
  EXPECT_EQ(usage.history(LinkId(0)).back(), Time::ps(1));
}

TEST(LinkUsage, HistorySumsUpToBusy) {
  LinkUsage usage;
  std::uint32_t random = 1;
  const auto next = [&random](std::uint32_t bound) {
    random = random * 1664525 + 1013904223;
    return static_cast<std::int64_t>((random >> 8) % bound);
  };
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t from = next(1000) * i;
    const std::int64_t length = next(100'000);
    const std::int64_t busy = length == 0 ? 0 : next(static_cast<std::uint32_t>(length));
    usage.carried(LinkId(static_cast<int>(next(20))), 1, Bytes(1), Time::ps(busy), Time::ps(from),
                  Time::ps(from + length));
  }
  for (const LinkLoad& load : usage.loads()) {
    const std::vector<Time> history = usage.history(load.link);
    EXPECT_LE(usage.bins(), LinkUsage::kBins);
    EXPECT_EQ(std::accumulate(history.begin(), history.end(), Time()), load.busy);
    for (const Time time : history) EXPECT_GE(time, Time());
  }
}

TEST(LinkUsage, UnusedLinksHaveNothing) {
  LinkUsage usage;
  EXPECT_TRUE(usage.loads().empty());
  EXPECT_TRUE(usage.history(LinkId(3)).empty());
  usage.carried(LinkId(0), Bytes(1), Time::ps(0), Time::ps(10));
  EXPECT_THAT(ps(usage.history(LinkId(3))), ElementsAre(0));
}

}  // namespace
}  // namespace foretrace::sim
