#include "analysis/traffic.hpp"

#include <gtest/gtest.h>

#include "trace_builder.hpp"

namespace foretrace {
namespace {

using analysis::Traffic;
using analysis::traffic_of;
using test::TraceBuilder;

TEST(Traffic, CountsWhatIsSentByPair) {
  TraceBuilder b(3);
  b.send(0, 2, 1, 100, Time(), Time::ns(5));
  b.send(0, 2, 9, 11, Time(), Time::ns(5));
  b.send(0, 1, 1, 0, Time(), Time::ns(5));
  b.isend(2, 1, 0, 1, 7, Time(), Time::ns(1));
  b.recv(1, 0, 1, 0, Time(), Time::ns(5));
  const Traffic traffic = traffic_of(b.trace());
  ASSERT_EQ(traffic.pairs.size(), 3u);
  const auto is = [&](std::size_t i, int from, int to, std::uint64_t messages,
                      std::uint64_t bytes) {
    const analysis::TrafficPair& pair = traffic.pairs[i];
    EXPECT_EQ(pair.from.value, from);
    EXPECT_EQ(pair.to.value, to);
    EXPECT_EQ(pair.messages, messages);
    EXPECT_EQ(pair.bytes.count, bytes);
  };
  is(0, 0, 1, 1, 0);
  is(1, 0, 2, 2, 111);
  is(2, 2, 0, 1, 7);
}

TEST(Traffic, DurationsGoIntoPowersOfTwo) {
  TraceBuilder b(1);
  b.init(0);
  // Calls of 1, 2, 3, 4 and 1024 ns, and one without duration.
  for (const int ns : {1, 2, 3, 4, 1024, 0}) b.send(0, 0, 1, 8, Time(), Time::ns(ns));
  b.finalize(0, Time::ns(2000));
  const Traffic traffic = traffic_of(b.trace());
  ASSERT_EQ(traffic.durations.size(), 2u);
  EXPECT_EQ(traffic.durations[0].state, "COMPUTE");
  EXPECT_EQ(traffic.durations[0].bins[10], 1u);  // 1024 to 2048 ns
  const analysis::Durations& sends = traffic.durations[1];
  EXPECT_EQ(sends.state, "MPI_Send");
  EXPECT_EQ(sends.count, 5u);
  EXPECT_EQ(sends.time, Time::ns(1034));
  EXPECT_EQ(sends.bins[0], 1u);
  EXPECT_EQ(sends.bins[1], 2u);
  EXPECT_EQ(sends.bins[2], 1u);
  EXPECT_EQ(sends.bins[10], 1u);
}

}  // namespace
}  // namespace foretrace
