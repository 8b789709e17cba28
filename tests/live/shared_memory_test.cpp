#include "live/shared_memory.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace foretrace::live {
namespace {

constexpr int kRank = 0;

void wait_until_it_wishes(Slot& slot) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (slot.wants_room.load() == 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << "the rank no longer waits for room";
    std::this_thread::yield();
  }
}

// The wish of a rank whose ring was filled again at once may be granted for
// the room that it has already used: then nothing unread may be overwritten.
TEST(Ring, WishGrantedForRoomThatIsUsedIsMadeAgain) {
  SharedMemory::create(1, 1);
  count_running(1);
  Slot& slot = SharedMemory::slot(kRank);
  slot.cores.store(1);
  slot.posted.store(kRing);
  std::atomic<bool> has_room{false};
  std::thread rank([&] {
    wait_for_room(kRank, kRing);
    has_room.store(true);
  });
  wait_until_it_wishes(slot);
  slot.wants_room.store(0);
  let_go_on(kRank);
  wait_until_it_wishes(slot);
  EXPECT_FALSE(has_room.load());
  for (std::uint32_t i = 1; i < kRing / 2; ++i) EXPECT_FALSE(make_room(kRank)) << i;
  EXPECT_TRUE(make_room(kRank));
  let_go_on(kRank);
  rank.join();
  EXPECT_TRUE(has_room.load());
  EXPECT_FALSE(make_room(kRank)) << "nobody waits";
}

}  // namespace
}  // namespace foretrace::live
