#include "shared/shared_memory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "shared/inbox.hpp"

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
  all_are_started();
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

// The simulator goes on when a rank is killed that holds a lock.
TEST(Locks, OfTheDeadAreTakenOver) {
  SharedMemory::create(1, 1);
  std::atomic<std::uint32_t>& word = SharedMemory::header().queue_lock;
  const pid_t process = ::fork();
  if (process == 0) {
    SharedMemory::be(kRank);
    new ShortLock(word);
    ::_exit(0);
  }
  SharedMemory::slot(kRank).process = process;
  ASSERT_EQ(::waitpid(process, nullptr, 0), process);
  EXPECT_NE(word.load(), 0U);
  { const ShortLock lock(word); }
  EXPECT_EQ(word.load(), 0U);
}

// One core, which the last of the ranks has; the others wait for it.
class Turns : public ::testing::Test {
 protected:
  static constexpr int kLast = 3;

  Turns() {
    SharedMemory::create(kLast + 1, 1);
    count_running(1);
    SharedMemory::slot(kLast).cores.store(1);
  }

  // Ranks in the order in which they get the core.
  static std::vector<int> order() {
    std::vector<int> ranks;
    for (int running = kLast; running >= 0;) {
      give_up_core(running);
      running = kLast;
      while (running >= 0 && SharedMemory::slot(running).go.exchange(0) == 0) --running;
      if (running >= 0) ranks.push_back(running);
    }
    return ranks;
  }
};

TEST_F(Turns, ComeInTheOrderOfWaiting) {
  all_are_started();
  for (const int rank : {1, 0, 2}) let_go_on(rank);
  put_off(1);
  EXPECT_EQ(order(), (std::vector{0, 2, 1}));
}

TEST_F(Turns, ComeFirstForTheLastThatIsPreferred) {
  all_are_started();
  for (const int rank : {0, 1, 2}) let_go_on(rank);
  prefer(1);
  prefer(2);
  EXPECT_EQ(order(), (std::vector{2, 1, 0}));
}

TEST_F(Turns, ComeWhenAllProcessesHaveBeenStarted) {
  for (const int rank : {0, 1}) let_go_on(rank);
  EXPECT_EQ(order(), std::vector<int>());
  EXPECT_TRUE(core_is_free());
  all_are_started();
  EXPECT_FALSE(core_is_free());
  EXPECT_EQ(SharedMemory::slot(0).go.load(), 1U);
}

// Rank 0 sleeps for two messages, and for two more to go on twice.
class Messages : public Turns {
 protected:
  Messages() {
    all_are_started();
    Inbox& inbox = SharedMemory::slot(0).inbox;
    inbox.wanted = 2;
    inbox.further = 2;
    let_go_on(1);
  }

  static void send(int count) {
    for (int i = 0; i < count; ++i) ASSERT_TRUE(inbox::deliver(0, {}));
  }
};

TEST_F(Messages, LetTheirReceiverGoOn) {
  send(1);
  let_go_on(2);
  send(1);
  EXPECT_EQ(order(), (std::vector{1, 2, 0}));
}

TEST_F(Messages, PutTheirReceiverOffWhileMoreAreToCome) {
  send(2);
  let_go_on(2);
  send(1);
  EXPECT_EQ(order(), (std::vector{1, 2, 0}));
}

TEST_F(Messages, PutTheirReceiverFirstWhenItCanGoOnTwice) {
  send(2);
  let_go_on(2);
  send(2);
  EXPECT_EQ(order(), (std::vector{0, 1, 2}));
}

}  // namespace
}  // namespace foretrace::live
