// What SentData takes as untouched.
#include "base/sent_data.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

namespace foretrace {
namespace {

constexpr std::uint64_t kBytes = 4096;

class SentDataTest : public testing::Test {
 protected:
  bool send(std::uint64_t to = 1) { return sent_.send(data_.data(), data_.size(), to); }

  SentData sent_;
  std::vector<char> data_ = std::vector<char>(kBytes, 'a');
};

TEST_F(SentDataTest, TheSameAgainToTheSame) {
  EXPECT_FALSE(send()) << "never sent before";
  EXPECT_TRUE(send());
  EXPECT_TRUE(send());
  EXPECT_FALSE(send(2)) << "that one has not had it";
  EXPECT_TRUE(send(2));
  EXPECT_FALSE(sent_.send(data_.data(), kBytes / 2, 1)) << "another message";
}

TEST_F(SentDataTest, WrittenInBetween) {
  for (const std::size_t at : {std::size_t{0}, kBytes - 1}) {
    send();
    ++data_[at];
    EXPECT_FALSE(send()) << at;
    EXPECT_TRUE(send()) << at;
  }
  std::ranges::fill(data_, 'b');
  EXPECT_FALSE(send());
}

TEST_F(SentDataTest, ReceivedIntoInBetween) {
  for (const std::size_t at : {std::size_t{0}, kBytes - 1}) {
    send();
    sent_.receive(data_.data() + at, 100);
    EXPECT_FALSE(send()) << at;
    EXPECT_TRUE(send()) << at;
  }
  sent_.receive(data_.data() - 100, 100);
  sent_.receive(data_.data() + kBytes, 100);
  sent_.receive(data_.data() + 100, 0);
  EXPECT_TRUE(send()) << "beside it, and nothing";
  sent_.receive(data_.data() + 100, 1);
  EXPECT_FALSE(send());
}

TEST_F(SentDataTest, ShortMessagesAreNotFollowed) {
  EXPECT_FALSE(sent_.send(data_.data(), SentData::kLeast - 1, 1));
  EXPECT_FALSE(sent_.send(data_.data(), SentData::kLeast - 1, 1));
  EXPECT_TRUE(sent_.is_empty());
  sent_.send(data_.data(), SentData::kLeast, 1);
  EXPECT_FALSE(sent_.is_empty());
  EXPECT_TRUE(sent_.send(data_.data(), SentData::kLeast, 1));
}

TEST_F(SentDataTest, ForgetsWhatWasSentFirst) {
  std::vector<std::vector<char>> many(65, data_);
  for (const auto& each : many) sent_.send(each.data(), each.size(), 1);
  EXPECT_TRUE(sent_.send(many[1].data(), kBytes, 1));
  EXPECT_TRUE(sent_.send(many[64].data(), kBytes, 1));
  EXPECT_FALSE(sent_.send(many[0].data(), kBytes, 1));
  EXPECT_FALSE(sent_.send(many[1].data(), kBytes, 1)) << "in its place";
}

// By the share of 32 lines: here of all 64, which lie two apart.
TEST_F(SentDataTest, WhatIsWrittenAgain) {
  send();
  EXPECT_EQ(sent_.rewritten(), 0U) << "never sent before";
  send();
  EXPECT_EQ(sent_.rewritten(), 0U) << "not written";
  std::ranges::fill(data_, 'b');
  send();
  EXPECT_EQ(sent_.rewritten(), kBytes);
  std::ranges::fill_n(data_.begin(), kBytes / 2, 'c');
  send();
  EXPECT_EQ(sent_.rewritten(), kBytes / 2);
  send();
  EXPECT_EQ(sent_.rewritten(), 0U) << "once";
  std::ranges::fill(data_, 'd');
  sent_.receive(data_.data(), 1);
  send();
  EXPECT_EQ(sent_.rewritten(), 0U) << "received into";
}

// As a device's memory may be.
TEST_F(SentDataTest, LeavesWhatCannotBeRead) {
  void* const memory = ::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_FALSE(sent_.send(memory, kBytes, 1));
  EXPECT_FALSE(sent_.send(memory, kBytes, 1));
  ::munmap(memory, kBytes);
  EXPECT_FALSE(sent_.send(nullptr, kBytes, 1));
}

}  // namespace
}  // namespace foretrace
