// Stations that collide, by hand; how much of the medium many of them use, by Metcalfe and Boggs.
#include "architecture/ethernet.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.hpp"

namespace foretrace::architecture {
namespace {

using entity::Ps;

constexpr Ps kUs = 1'000'000;
constexpr Ps kGap = 9'600'000;                       // 96 bits of 100 ns
constexpr Ps kSlot = 51'200'000;                     // 512 bits
constexpr Ps kLong = (64 + 8 * 1518) * Ps{100'000};  // 1,500 bytes of data
constexpr Ps kShort = (64 + 8 * 64) * Ps{100'000};   // the shortest frame

struct Through {
  std::uint64_t frame = 0;
  Ps begin = 0;
  Ps end = 0;
  bool operator==(const Through&) const = default;
};

class Cable {
 public:
  explicit Cable(std::vector<Ps> distances, const EthernetSettings& settings = {})
      : medium("cable", settings, std::move(distances), [this](std::uint64_t frame, Ps begin) {
          sent.push_back({frame, begin, kernel.now()});
          if (refill) refill(frame);
        }) {
    kernel.add(medium, "cable");
  }
  void offer(int station, std::uint64_t bytes, std::uint64_t frame) {
    medium.offer(kernel, station, bytes, frame);
  }

  entity::Kernel kernel;
  std::vector<Through> sent;
  std::function<void(std::uint64_t)> refill;
  Ethernet medium;
};

// A seed with which the stations' first back-offs are these numbers of slots.
std::uint64_t seed_with(const std::vector<std::uint32_t>& slots) {
  for (std::uint64_t seed = 1;; ++seed) {
    bool found = true;
    for (std::size_t s = 0; s < slots.size(); ++s)
      found = found && entity::Random(seed << 32 | s).below(2) == slots[s];
    if (found) return seed;
  }
}

TEST(Ethernet, SendsAloneFrameByFrame) {
  Cable cable({kUs, kUs});
  cable.offer(0, 1500, 1);
  cable.offer(0, 1, 2);
  cable.kernel.run();
  // The second after the gap; one byte is padded to the shortest frame.
  const Ps second = kLong + kGap;
  EXPECT_THAT(cable.sent,
              testing::ElementsAre(Through{1, 0, kLong}, Through{2, second, second + kShort}));
  EXPECT_EQ(cable.medium.counts().collisions, 0U);
}

TEST(Ethernet, WaitsForAFrameThatItHears) {
  Cable cable({kUs, 3 * kUs});
  cable.offer(0, 1500, 1);
  cable.kernel.run(5 * kUs);  // it is heard since 4 us
  cable.offer(1, 1500, 2);
  cable.kernel.run();
  const Ps second = kLong + 4 * kUs + kGap;
  EXPECT_THAT(cable.sent,
              testing::ElementsAre(Through{1, 0, kLong}, Through{2, second, second + kLong}));
  EXPECT_EQ(cable.medium.counts().deferred, 1U);
  EXPECT_EQ(cable.medium.counts().collisions, 0U);
}

TEST(Ethernet, BacksOffAfterACollision) {
  EthernetSettings settings;
  settings.seed = seed_with({0, 1});
  Cable cable({2 * kUs, 2 * kUs}, settings);
  cable.offer(0, 1500, 1);
  cable.offer(1, 1500, 2);
  cable.kernel.run();
  // Both begin at 0, hear each other at 4 us, send their preamble to 6.4 and jam to 9.6. Station 0
  // tries again at once, hears station 1's jam to 13.6, and waits for the gap. Station 1 would
  // begin at 9.6 + 51.2 = 60.8, hears station 0, and waits for its end.
  const Ps first = 13'600'000 + kGap;
  const Ps second = first + kLong + 4 * kUs + kGap;
  EXPECT_THAT(cable.sent, testing::ElementsAre(Through{1, first, first + kLong},
                                               Through{2, second, second + kLong}));
  EXPECT_EQ(cable.medium.counts().collisions, 2U);
  EXPECT_EQ(cable.medium.counts().most_attempts, 2);
}

TEST(Ethernet, CollidesAsLongAsTheSignalIsUnderWay) {
  // The second begins 1 ps before the first's signal is there.
  for (const auto& [offered, collisions] : {std::pair{4 * kUs - 1, 2U}, {4 * kUs + 1, 0U}}) {
    Cable cable({2 * kUs, 2 * kUs});
    cable.offer(0, 1500, 1);
    cable.kernel.run(offered);
    cable.offer(1, 1500, 2);
    cable.kernel.run(30 * kUs);
    EXPECT_EQ(cable.medium.counts().collisions, collisions);
  }
}

TEST(Ethernet, DoesNotLetWhoHasSentGoFirstAlways) {
  // Station 0's next frame is heard when station 1, which waits since, ends its gap: they collide.
  Cable cable({2 * kUs, 2 * kUs});
  cable.offer(0, 1500, 1);
  cable.offer(0, 1500, 2);
  cable.kernel.run(10 * kUs);
  cable.offer(1, 1500, 3);
  cable.kernel.run(kLong + 2 * kGap + 4 * kUs);
  EXPECT_EQ(cable.medium.counts().collisions, 2U);
}

TEST(Ethernet, GivesAFrameUpAfterItsLastAttempt) {
  EthernetSettings settings;
  settings.attempts = 1;
  settings.retry = 1000 * kUs;
  Cable cable({2 * kUs, 2 * kUs}, settings);
  cable.offer(0, 1500, 1);
  cable.kernel.run(kUs);
  cable.offer(1, 1500, 2);
  // They hear each other at 5 and 4 us, jam to 9.6 and 10.6, and begin anew 1,000 us later, 1 us
  // apart as before.
  cable.kernel.run(900 * kUs);
  EXPECT_EQ(cable.medium.counts().given_up, 2U);
  cable.kernel.run(1100 * kUs);
  EXPECT_EQ(cable.medium.counts().given_up, 4U);
  EXPECT_EQ(cable.sent.size(), 0U);
}

TEST(Ethernet, RefusesStationsTooFarApart) {
  EXPECT_THROW(Cable({15 * kUs, 15 * kUs}), Error);
  EXPECT_NO_THROW(Cable({14 * kUs, 14 * kUs}));
}

// The share of time with frames that get through, when `stations` always have one to send.
double efficiency(int stations, std::uint64_t bytes, const EthernetSettings& settings, Ps distance,
                  std::size_t frames) {
  Cable cable(std::vector<Ps>(static_cast<std::size_t>(stations), distance), settings);
  cable.refill = [&](std::uint64_t station) {
    cable.offer(static_cast<int>(station), bytes, station);
  };
  for (int s = 0; s < stations; ++s) {
    cable.offer(s, bytes, static_cast<std::uint64_t>(s));
    cable.offer(s, bytes, static_cast<std::uint64_t>(s));
  }
  while (cable.sent.size() < frames) cable.kernel.step();
  return static_cast<double>(frames) * static_cast<double>(cable.medium.duration(bytes)) /
         static_cast<double>(cable.kernel.now());
}

// Metcalfe and Boggs (1976), section 6: stations that each send with probability 1/Q in a slot.
double formula(double stations, double bits, double slot_bits) {
  const double a = std::pow(1 - 1 / stations, stations - 1);
  return bits / (bits + (1 - a) / a * slot_bits);
}

TEST(Ethernet, IsAsEfficientAsTheFormulaForLongFrames) {
  // 4,096 bits, slots of 48 bits, as in their table. Short frames and many stations differ:
  // docs/architecture-examples.md says how much, and why.
  EthernetSettings three;
  three.bytes_per_second = 3e6 / 8;
  three.slot = 48;
  three.gap = three.jam = three.preamble = 0;
  three.header = 0;
  three.minimum = 6;
  for (const int stations : {2, 3, 5, 10})
    EXPECT_NEAR(efficiency(stations, 512, three, 4 * kUs, 4000), formula(stations, 4096, 48), 0.02)
        << stations;
}

TEST(Ethernet, CollidesAsOftenAsTwoStationsMust) {
  // Two frames at once collide; after the k-th collision again with the probability 2^-k. So
  // 1 + 1/2 + 1/2/4 + 1/2/4/8 + ... = 1.6416 times on average.
  constexpr int kRuns = 20'000;
  double sum = 0;
  double squares = 0;
  for (int run = 0; run < kRuns; ++run) {
    EthernetSettings settings;
    settings.seed = static_cast<std::uint64_t>(run);
    Cable cable({2 * kUs, 2 * kUs}, settings);
    cable.offer(0, 1500, 1);
    cable.offer(1, 1500, 2);
    cable.kernel.run();
    ASSERT_EQ(cable.sent.size(), 2U);
    const double collisions = static_cast<double>(cable.medium.counts().collisions) / 2;
    sum += collisions;
    squares += collisions * collisions;
  }
  double expected = 0;
  for (int k = 0; k < 16; ++k) expected += std::pow(0.5, k * (k + 1) / 2);
  const double mean = sum / kRuns;
  const double deviation = std::sqrt(squares / kRuns - mean * mean);
  EXPECT_NEAR(mean, expected, 2.576 * deviation / std::sqrt(kRuns));  // 99 %
}

}  // namespace
}  // namespace foretrace::architecture
