// The queue of events, statistics, coroutines.
#include <gmock/gmock.h>

#include <algorithm>

#include "foretrace_entity.hpp"

namespace foretrace::entity {
namespace {

TEST(EventQueue, GivesEventsByKeyAndThenInTheOrderOfPushing) {
  // Against a stable sort, with new events at and after the one that was taken.
  Random random(7);
  EventQueue queue;
  std::vector<Event> pending;
  std::uint64_t pushed = 0;
  const auto push = [&](std::uint64_t key) {
    const Event event{key, 0, 0, pushed++};
    queue.push(event);
    pending.push_back(event);
  };
  for (int i = 0; i < 50; ++i) push(random.below(1000));
  while (!queue.empty()) {
    const auto first = std::ranges::min_element(pending, [](const Event& a, const Event& b) {
      return std::pair(a.key, a.data) < std::pair(b.key, b.data);
    });
    if (random.below(3) == 0) {
      EXPECT_EQ(queue.least(), first->key);
    }
    const Event taken = queue.pop();
    ASSERT_EQ(taken.key, first->key);
    ASSERT_EQ(taken.data, first->data);
    pending.erase(first);
    if (pushed < 20'000)
      for (std::uint32_t n = random.below(3); n > 0; --n)
        push(taken.key + (random.below(4) == 0 ? random.below(1 << 20) : random.below(4)));
  }
  EXPECT_TRUE(pending.empty());
}

TEST(TimeAverage, IsTheIntegralOverTime) {
  TimeAverage queue;
  queue.set(10, 2);  // 0 until 10, 2 until 30, 5 until 40
  queue.set(30, 5);
  EXPECT_EQ(static_cast<std::int64_t>(queue.integral(40)), 2 * 20 + 5 * 10);
  EXPECT_DOUBLE_EQ(queue.average(40), 90.0 / 40);
  EXPECT_EQ(queue.most(), 5);
}

TEST(Histogram, CountsPowersOfTwo) {
  Histogram times;
  for (const int value : {0, 1, 2, 3, 4, 7, 8}) times.add(value);
  EXPECT_EQ(times.bins()[0], 1U);
  EXPECT_EQ(times.bins()[2], 2U);
  EXPECT_EQ(times.bins()[3], 2U);
  EXPECT_EQ(times.most(), 8);
  EXPECT_DOUBLE_EQ(times.mean(), 25.0 / 7);
}

class Echo final : public Behaviour {
 public:
  Task run() override {
    while (true) {
      const Received got = co_await receive();
      co_await delay(5);
      times.push_back(now());
      if (connected(0)) send(0, got.packet);
    }
  }
  std::vector<Ps> times;
};

class Once final : public Behaviour {
 public:
  Task run() override {
    co_await delay(100);
    Packet packet;
    packet.bytes = 10;
    send(0, packet);
    send(0, packet);
  }
};

TEST(Behaviour, SendsOverLinksThatTakeTheirTime) {
  Kernel kernel;
  Once from;
  Echo to;
  kernel.add(from, "from");
  kernel.add(to, "to");
  // 10 bytes at 3 ps each: leave at 130 and 160, are there 7 later, and are served 5 each.
  from.connect(0, {to.number(), 0, 7, 3.0, 0});
  kernel.start();
  kernel.run();
  EXPECT_THAT(to.times, testing::ElementsAre(142, 172));
}

class Stuck final : public Behaviour {
 public:
  Task run() override {
    while (true) co_await delay(0);
  }
};

TEST(Behaviour, ThatNeverLetsTimePassIsNamed) {
  Kernel kernel;
  Stuck stuck;
  kernel.add(stuck, "cache[3]");
  kernel.start();
  try {
    kernel.run();
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("cache[3]"));
  }
}

}  // namespace
}  // namespace foretrace::entity
