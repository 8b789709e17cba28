// Where the buffers of a repetition lie, warm and cold.
#include "measure/core/buffer_pool.hpp"

#include <gtest/gtest.h>

#include <set>

namespace foretrace::measure {
namespace {

TEST(Buffers, WarmOnesStayAndAreWritten) {
  Buffers buffers(BufferChoice::warm, 1000, 1 << 20);
  char* const send = buffers.send();
  char* const recv = buffers.recv();
  EXPECT_GE(recv - send, 1000);
  std::fill(send, send + 1000, 7);
  buffers.next(100);
  EXPECT_EQ(buffers.send(), send);
  EXPECT_EQ(buffers.recv(), recv);
  double first = 0;
  std::memcpy(&first, send + 64, sizeof first);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(send[128], 7) << "beyond what is sent";
}

TEST(Buffers, LargeWarmOnesBeginElsewhereInAPageAfterAMove) {
  constexpr std::uint64_t kLargest = 65536;
  Buffers buffers(BufferChoice::warm, kLargest, 0);
  char* const send = buffers.send();
  char* const recv = buffers.recv();
  std::set<std::ptrdiff_t> sent, received;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    buffers.move(kLargest, seed);
    for (const std::ptrdiff_t by : {buffers.send() - send, buffers.recv() - recv}) {
      EXPECT_GE(by, 0);
      EXPECT_LT(by, 4096);
      EXPECT_EQ(by % 64, 0) << "a line of the cache";
    }
    sent.insert(buffers.send() - send);
    received.insert(buffers.recv() - recv);
    EXPECT_GE(buffers.recv() - buffers.send(), static_cast<std::ptrdiff_t>(kLargest));
    // The sanitizers see it where the last byte is outside.
    std::fill(buffers.recv(), buffers.recv() + kLargest, 7);
    buffers.next(kLargest);
  }
  EXPECT_GT(sent.size(), 20u);
  EXPECT_GT(received.size(), 20u);
  EXPECT_NE(sent, received);
  char* const again = (buffers.move(kLargest, 3), buffers.recv());
  buffers.move(kLargest, 4);
  buffers.move(kLargest, 3);
  EXPECT_EQ(buffers.recv(), again);
  buffers.move(kLargest - 1, 3);
  EXPECT_EQ(buffers.send(), send) << "a small one";
  EXPECT_EQ(buffers.recv(), recv);
}

TEST(Buffers, ColdOnesMoveToPlacesThatNobodyTouched) {
  constexpr std::uint64_t kPool = 1 << 20;
  Buffers buffers(BufferChoice::cold, 1000, kPool);
  std::set<char*> seen;
  char* const first = buffers.send();
  for (int i = 0; i < 50; ++i) {
    seen.insert(buffers.send());
    char* const before = buffers.send();
    std::fill(buffers.send(), buffers.send() + 1000, 7);
    buffers.next(1000, 500);
    EXPECT_EQ(*buffers.send(), Buffers(BufferChoice::warm, 1, 0).send()[0]) << "not written";
    EXPECT_GE(std::abs(buffers.send() - before), 1000 + 4096);
    EXPECT_EQ(buffers.recv() - buffers.send(), static_cast<std::ptrdiff_t>(kPool / 2));
    EXPECT_LE(buffers.send() + 1000, first + kPool / 2);
  }
  EXPECT_EQ(seen.size(), 50u);
}

TEST(Buffers, ThePoolBeginsAgainAtItsEnd) {
  // Places for 64 bytes and a stride of 4160 more in 4 * 4096: the fourth would
  // reach beyond.
  Buffers buffers(BufferChoice::cold, 4096, 0);
  char* const first = buffers.send();
  int places = 1;
  for (buffers.next(64); buffers.send() != first; buffers.next(64)) ++places;
  // 0, 4224 and 8448: from 12672 on there are no 4096 bytes up to 16384.
  EXPECT_EQ(places, 3);
}

TEST(Buffers, AllPlacesHoldNumbersThatAreQuickToAdd) {
  Buffers buffers(BufferChoice::cold, 64, 1 << 16);
  for (int i = 0; i < 20; ++i, buffers.next(64)) {
    double value = 0;
    std::memcpy(&value, buffers.recv(), sizeof value);
    EXPECT_EQ(value, 1);
  }
}

}  // namespace
}  // namespace foretrace::measure
