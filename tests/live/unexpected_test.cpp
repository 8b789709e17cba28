// Messages that have come and that no named receive gets (mpi/core/unexpected.hpp).
#include "mpi/core/unexpected.hpp"

#include <gtest/gtest.h>

#include "sim/operation.hpp"

namespace foretrace::mpi {
namespace {

using live::Envelope;
using live::kNoClock;

Envelope message(int source, std::uint64_t number, int tag, std::int64_t sent) {
  Envelope out;
  out.source = source;
  out.number = number;
  out.tag = tag;
  out.sent = sent;
  return out;
}

Envelope pattern(int source, int tag) {
  return message(source, 0, tag, kNoClock);
}

TEST(Unexpected, ChannelsKeepTheirOrder) {
  Unexpected all;
  all.add(message(1, 1, 5, 10));
  all.add(message(1, 2, 6, 20));
  all.add(message(1, 3, 5, 30));
  all.add(message(2, 1, 5, 5));
  EXPECT_EQ(all.size(), 4u);
  EXPECT_EQ(all.take_first(pattern(1, 5))->number, 1u);
  EXPECT_EQ(all.take_first(pattern(1, 5))->number, 3u);
  EXPECT_FALSE(all.take_first(pattern(1, 5)));
  EXPECT_FALSE(all.take_first(pattern(3, 5)));
  EXPECT_EQ(all.take(1, 2)->tag, 6);
  EXPECT_FALSE(all.take(1, 2));
  EXPECT_EQ(all.size(), 1u);
}

// Given back, a message is where it was.
TEST(Unexpected, WhatComesBackIsWhereItWas) {
  Unexpected all;
  for (std::uint64_t number = 1; number <= 3; ++number) all.add(message(0, number, 7, 1));
  const Envelope first = *all.take(0, 1);
  all.add(first);
  EXPECT_EQ(all.take_first(pattern(0, 7))->number, 1u);
}

TEST(Unexpected, TheFirstIsTheOneSentFirst) {
  Unexpected all;
  EXPECT_EQ(*all.first(pattern(-1, sim::kAnyTag)), nullptr);
  all.add(message(4, 1, 1, 30));
  all.add(message(3, 1, 2, 20));
  all.add(message(2, 1, 2, 20));
  const auto any = [&] { return *all.first(pattern(-1, sim::kAnyTag)); };
  EXPECT_EQ(any()->source, 2);  // at one instant the lower rank's
  EXPECT_EQ((*all.first(pattern(-1, 1)))->source, 4);
  EXPECT_EQ((*all.first(pattern(-1, sim::kAnyTag), {{2, 1}}))->source, 3);
  EXPECT_EQ(*all.first(pattern(-1, 9)), nullptr);
  // Who knows when it is seen? Behind a sender's message that is known it does not matter.
  all.add(message(2, 2, 2, kNoClock));
  EXPECT_EQ(any()->number, 1u);
  all.take(2, 1);
  EXPECT_FALSE(all.first(pattern(-1, sim::kAnyTag)));
}

// A million that come before the first is wanted: no matter of hours.
TEST(Unexpected, ManyAreTakenFromTheFront) {
  constexpr std::uint64_t kMany = 1'000'000;
  Unexpected all;
  for (std::uint64_t number = 1; number <= kMany; ++number) all.add(message(0, number, 1, 1));
  for (std::uint64_t number = 1; number <= kMany; ++number)
    ASSERT_EQ(all.take_first(pattern(0, 1))->number, number);
  EXPECT_EQ(all.size(), 0u);
}

}  // namespace
}  // namespace foretrace::mpi
