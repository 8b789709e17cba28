// Waits for ports and links that other messages use.
#include <gtest/gtest.h>

#include "explained.hpp"
#include "topology/builders.hpp"

namespace foretrace::explain {
namespace {

// Nobody is late, but another message has the receiver's port.
TEST(Waits, ForPortsAreContention) {
  sim::NetworkOptions network;
  network.kind = sim::NetworkKind::loggps;
  network.loggps.latency = us(10);
  network.loggps.overhead_send = network.loggps.overhead_recv = us(1);
  network.loggps.gap_per_byte = 1e-9;
  Programs programs(3);
  send(programs, 0, 2, us(94), "send", 20001);
  send(programs, 1, 2, us(95), "send", 20001);
  recv(programs, 2, 0, us(5), "first", 20001);
  recv(programs, 2, 1, us(0), "second", 20001);
  programs.finalize_all();
  // Rank 0's message has the port from 105 to 125, rank 1's from 125 to 145. Rank 2 leaves at 126
  // and 146; the second time at 127, if the message had been there.
  const Explained explained = explain_program(programs, network);
  EXPECT_EQ(explained.explanation.time, us(146));
  const WaitGroup* second = explained.waits_at("second");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->kind, WaitKind::contention);
  EXPECT_EQ(second->time, us(19));
  // Until 94 the sender was late, then the message took its time.
  const WaitGroup* first = explained.waits_at("first");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, WaitKind::late_sender);
  EXPECT_EQ(first->time, us(120));
}

// On links that messages share: what a message takes longer than alone.
TEST(Waits, ForLinksAreContention) {
  const machine::Topology line = machine::make_topology("mesh:3?latency=1us&bandwidth=1GB/s");
  for (const auto kind :
       {sim::NetworkKind::flow, sim::NetworkKind::packet, sim::NetworkKind::bus}) {
    sim::NetworkOptions network;
    network.kind = kind;
    network.topology = &line;
    network.loggps.overhead_send = network.loggps.overhead_recv = us(1);
    const auto explained = [&](int senders) {
      Programs programs(3);
      for (int rank = 0; rank < senders; ++rank) {
        send(programs, rank, 2, us(95), "send", 20000);
        recv(programs, 2, rank, us(0), "recv", 20000);
      }
      programs.finalize_all();
      return explain_program(programs, network).explanation;
    };
    const Explanation alone = explained(1);
    EXPECT_EQ(alone.path.parts.queue, Time());
    EXPECT_GE(alone.path.parts.bytes, us(19));
    for (const WaitGroup& group : alone.waits) EXPECT_NE(group.kind, WaitKind::contention);
    // All 40000 bytes pass the last link, or the bus, at 1 byte a nanosecond.
    const Explanation both = explained(2);
    EXPECT_GE(both.path.parts.queue, us(18));
    Time contention;
    for (const WaitGroup& group : both.waits)
      if (group.kind == WaitKind::contention) contention += group.time;
    // By so much later is all there; the second message takes its receiver 1 us, too.
    EXPECT_EQ(contention, both.time - alone.time - us(1));
    EXPECT_LE(both.path.parts.bytes, alone.path.parts.bytes);
  }
}

}  // namespace
}  // namespace foretrace::explain
