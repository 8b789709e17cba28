// The ports of loggps by hand (docs/networks.md, "loggps"): fans, chains, exchanges of
// all size mixes; and the same fans on the networks that have links instead.
//
// In most tests L = 1000, o_s = 100, o_r = 10, g = 50 ns, G = 0.5 ns per byte, S = 1001
// bytes. Times in the comments are nanoseconds. A message of 401 bytes holds a port for
// 200, one of 2,001 bytes (a rendezvous) for 1000.
#include <gtest/gtest.h>

#include "loggps_options.hpp"
#include "programs.hpp"
#include "topology/builders.hpp"

namespace foretrace::sim {
namespace {

// L = 10 us, o = 1 us, g = 0, G = 80 ns.
SimulateOptions slow() {
  SimulateOptions options = loggps();
  machine::LogGPSTimes& times = options.network.loggps;
  times.latency = ns(10'000);
  times.overhead_send = times.overhead_recv = ns(1000);
  times.gap = Time();
  times.gap_per_byte = 80e-9;
  times.sync_threshold.reset();
  return options;
}

// Ranks 1 to n send `bytes` each to rank 0, which receives in their order.
Programs fan_in(int n, std::uint64_t bytes) {
  Programs source(n + 1);
  for (int r = 1; r <= n; ++r) {
    source.send(r, 0, bytes);
    source.recv(0, r, bytes);
  }
  source.finalize_all();
  return source;
}

// First bytes at 11,000; each message needs 99,999 * 80 = 7,999,920. The receive of
// the n-th leaves at 11,000 + n * 7,999,920, + 1000.
TEST(Ports, FifteenSendToOne) {
  Programs source = fan_in(15, 100'000);
  const Replayed run = replay(source, slow());
  for (int n = 1; n <= 15; ++n)
    EXPECT_EQ(run.leave(0, static_cast<std::size_t>(n - 1)), ns(12'000 + n * 7'999'920));
}

// Empty messages have only g between them: they come at 1100, 1150, 1200, 1250.
TEST(Ports, EmptyMessagesHaveTheGap) {
  Programs source = fan_in(4, 0);
  const Replayed run = replay(source, loggps());
  for (int n = 0; n < 4; ++n)
    EXPECT_EQ(run.leave(0, static_cast<std::size_t>(n)), ns(1110 + n * 50));
}

// 801, 1 and 0 bytes at once, by rank: through at 1500, 1550, 1600. They are received
// in the other order: 1610, then what is there costs 10 each.
TEST(Ports, OrderOfArrivalIsNotThatOfReceiving) {
  Programs source(4);
  source.send(1, 0, 801);
  source.send(2, 0, 1);
  source.send(3, 0, 0);
  source.recv(0, 3, 0);
  source.recv(0, 2, 1);
  source.recv(0, 1, 801);
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 0), ns(1610));
  EXPECT_EQ(run.leave(0, 1), ns(1620));
  EXPECT_EQ(run.leave(0, 2), ns(1630));
}

// Rank 2's message has the port from 1100 to 1500. Rank 1's comes at 1300, waits until
// 1550; it is received first.
TEST(Ports, FirstComeFirstServed) {
  Programs source(3);
  source.send(1, 0, 1, ns(200));
  source.send(2, 0, 801);
  source.recv(0, 1, 1);
  source.recv(0, 2, 801);
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 0), ns(1560));
  EXPECT_EQ(run.leave(0, 1), ns(1570));
}

// A rank that computes meanwhile finds all three in its port's past: 1300, 1550, 1800.
// At 10,000 each costs o_r alone.
TEST(Ports, PortWorksWhileTheRankComputes) {
  Programs source(4);
  for (int r = 1; r <= 3; ++r) {
    source.send(r, 0, 401);
    source.recv(0, r, 401, r == 1 ? ns(10'000) : Time());
  }
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 0), ns(10'010));
  EXPECT_EQ(run.leave(0, 2), ns(10'030));
  EXPECT_EQ(run.wait(0, 2), Time());
}

// The port works again at once: 1300; then nothing until 6100, 6300, and 6550.
TEST(Ports, IdlePortStartsAtOnce) {
  Programs source(4);
  source.send(1, 0, 401);
  source.send(2, 0, 401, ns(5000));
  source.send(3, 0, 401, ns(5000));
  for (int r = 1; r <= 3; ++r) source.recv(0, r, 401);
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 0), ns(1310));
  EXPECT_EQ(run.leave(0, 1), ns(6310));
  EXPECT_EQ(run.leave(0, 2), ns(6560));
}

// One to three: the sends start at 0, 250, 500; the messages are through at 1300,
// 1550, 1800, each at a port of its own.
TEST(Ports, OneSendsToThree) {
  Programs source(4);
  for (int r = 1; r <= 3; ++r) {
    source.send(0, r, 401);
    source.recv(r, 0, 401);
  }
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 2), ns(600));
  EXPECT_EQ(run.leave(1, 0), ns(1310));
  EXPECT_EQ(run.leave(2, 0), ns(1560));
  EXPECT_EQ(run.leave(3, 0), ns(1810));
}

// Requests start at 0 and 100, are there at 1110 and 1210; the receivers come at 10,000
// and answer until 11,010. Then the sender's port has the data one after the other:
// from 11,010 and from 11,010 + 50 + 1000 = 12,060; there at 11,110 + 1000 + 1000 and
// 12,160 + 2000.
TEST(Ports, DataOfRendezvousLeavesOneAfterTheOther) {
  Programs source(3);
  source.isend(0, 1, 2001, 1);
  source.isend(0, 2, 2001, 2);
  source.wait(0, {1, 2});
  source.recv(1, 0, 2001, ns(10'000));
  source.recv(2, 0, 2001, ns(10'000));
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 1), ns(200));
  EXPECT_EQ(run.leave(0, 2), ns(13'160));
  EXPECT_EQ(run.leave(1, 0), ns(13'120));
  EXPECT_EQ(run.leave(2, 0), ns(14'170));
}

// The port has the data of the rendezvous from 2120 to 3170: a send at 2500 starts then.
TEST(Ports, SendWaitsForTheDataOfARendezvous) {
  Programs source(3);
  source.isend(0, 1, 2001, 1);
  source.send(0, 2, 1, ns(2400));
  source.wait(0, {1});
  source.recv(1, 0, 2001);
  source.recv(2, 0, 1);
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 1), ns(3270));
  EXPECT_EQ(run.leave(1, 0), ns(4230));
  EXPECT_EQ(run.leave(2, 0), ns(4280));
}

// The requests are through the port at 1100 and 1150, so the data starts at 2120 and 2170.
// First bytes come at 3220 and 3270: through at 4220 and 4270 + 1000.
TEST(Ports, TwoRendezvousAtOneReceiver) {
  Programs posted(3);
  for (int r = 1; r <= 2; ++r) {
    posted.send(r, 0, 2001);
    posted.irecv(0, r, 2001, static_cast<std::uint64_t>(r));
  }
  posted.wait(0, {1, 2});
  posted.finalize_all();
  const Replayed run = replay(posted, loggps());
  EXPECT_EQ(run.leave(1, 0), ns(3220));
  EXPECT_EQ(run.leave(2, 0), ns(3270));
  EXPECT_EQ(run.leave(0, 2), ns(5280));
}

// A small message comes between: it starts at 2500, so it is there at 3600, behind
// the data that comes at 3220 and holds the port until 4270.
TEST(Ports, EagerMessageBehindARendezvous) {
  Programs source(3);
  source.send(1, 0, 2001);
  source.send(2, 0, 0, ns(2500));
  source.irecv(0, 1, 2001, 1);
  source.recv(0, 2, 0);
  source.wait(0, {1});
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 1), ns(4280));
  EXPECT_EQ(run.leave(0, 2), ns(4290));
}

// 0 to 1 to 2 to 3: each hop takes 100 + 1000 + 200 + 10.
TEST(Ports, Chain) {
  Programs source(4);
  source.send(0, 1, 401);
  for (int r = 1; r <= 3; ++r) {
    source.recv(r, r - 1, 401);
    if (r < 3) source.send(r, r + 1, 401);
  }
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(1, 0), ns(1310));
  EXPECT_EQ(run.leave(2, 0), ns(2620));
  EXPECT_EQ(run.leave(3, 0), ns(3930));
}

// Each of `ranks` posts receives from all, sends to all others and waits. Round robin:
// to the next rank first; else to rank 0 first.
Programs exchange(int ranks, std::uint64_t bytes, bool round_robin) {
  Programs source(ranks);
  for (int r = 0; r < ranks; ++r) {
    std::vector<std::uint64_t> requests;
    std::uint64_t serial = 0;
    for (int i = 1; i < ranks; ++i) {
      source.irecv(r, (r + i) % ranks, bytes, ++serial);
      requests.push_back(serial);
    }
    for (int i = 0; i < ranks; ++i) {
      const int to = round_robin ? (r + i) % ranks : i;
      if (to == r) continue;
      source.isend(r, to, bytes, ++serial);
      requests.push_back(serial);
    }
    source.wait(r, requests);
  }
  source.finalize_all();
  return source;
}

// Sends start at 0, 250, 500 everywhere, and no two messages meet: they are through at
// 1300, 1550, 1800.
TEST(Ports, AlltoallRoundRobin) {
  Programs source = exchange(4, 401, true);
  const Replayed run = replay(source, loggps());
  for (int r = 0; r < 4; ++r) EXPECT_EQ(run.leave(r, 6), ns(1810));
}

// The order of sends is 0, 1, 2, 3. Rank 0's messages all start at 0: through at 1300,
// 1550, 1800. Rank 3's are each sender's third: they start at 500, come at 1600, and are
// through at 1800, 2050, 2300. Ranks 1 and 2: rank 0's first starts at 0 (rank 1) and its
// second at 250 (rank 2). Rank 1 has 1100, 1350, 1350: 1300, 1550, 1800. Rank 2 has 1350
// twice (from 0 and 1) and 1600: 1550, 1800, 2050.
TEST(Ports, AlltoallInTheOrderOfRanks) {
  Programs source = exchange(4, 401, false);
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 6), ns(1810));
  EXPECT_EQ(run.leave(1, 6), ns(1810));
  EXPECT_EQ(run.leave(2, 6), ns(2060));
  EXPECT_EQ(run.leave(3, 6), ns(2310));
}

// Empty: sends start at 0, 100, 200. Rank 3's come at 1300 and are through at 1300, 1350,
// 1400; rank 0's at 1100, 1150, 1200.
TEST(Ports, AlltoallOfNothing) {
  Programs source = exchange(4, 0, false);
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 6), ns(1210));
  EXPECT_EQ(run.leave(3, 6), ns(1410));
}

// A rendezvous each way: requests start at 0, 100, 200 and are answered by posted receives
// at 1110, 1210, 1310: answers are taken in at 2120, 2220, 2320. Data starts at 2120, 3170,
// 4220; the third has left at 4320 + 1000, and is through at 5320 + 1000.
TEST(Ports, AlltoallByRendezvous) {
  Programs source = exchange(4, 2001, true);
  const Replayed run = replay(source, loggps());
  for (int r = 0; r < 4; ++r) EXPECT_EQ(run.leave(r, 6), ns(6330));
}

// A rank takes what is there first: 2's message (1550 at the port's end) behind 1's, which
// came at the same time; both are done in that order by one call.
TEST(Ports, WaitallInTheOrderOfThePort) {
  Programs source(3);
  source.irecv(0, 2, 401, 1);
  source.irecv(0, 1, 401, 2);
  source.wait(0, {1, 2});
  source.send(1, 0, 401);
  source.send(2, 0, 401);
  source.finalize_all();
  EXPECT_EQ(replay(source, loggps()).leave(0, 2), ns(1560));
}

// Two ranks of a node send to a third there, 100 + 20 + 100: no port. The fourth's comes
// over the network, and no port is held before.
TEST(Ports, NotInsideANode) {
  const machine::Topology topology =
      machine::make_topology("full:2?ranks_per_node=3&intra_latency=20ns&intra_bandwidth=1GB/s");
  Programs source(4);
  source.send(1, 0, 100);
  source.send(2, 0, 100);
  source.send(3, 0, 401);
  for (int r = 1; r <= 3; ++r) source.recv(0, r, r < 3 ? 100 : 401);
  source.finalize_all();
  SimulateOptions options = loggps();
  options.network.topology = &topology;
  const Replayed run = replay(source, options);
  EXPECT_EQ(run.leave(0, 0), ns(230));
  EXPECT_EQ(run.leave(0, 1), ns(240));
  EXPECT_EQ(run.leave(0, 2), ns(1310));
}

// ---- the same fan of 15 messages of 100,000 bytes where links, not ports, are shared:
// links of 10 us and 12.5 MB/s (80 ns a byte: 8,000,000 for a message), o = 1 us ----

Time last_of_fan(NetworkKind kind, const char* shape) {
  const machine::Topology topology =
      machine::make_topology(std::string(shape) + "?latency=10us&bandwidth=12.5MB/s");
  SimulateOptions options = slow();
  options.network.kind = kind;
  options.network.topology = &topology;
  options.network.packet_size = Bytes(100'000);
  Programs source = fan_in(15, 100'000);
  return replay(source, options).leave(0, 14);
}

// Links are never busy: two of them, 2 (10,000 + 8,000,000), for all at once; the receiver
// pays 15 times 1000.
TEST(Ports, HopsHasNone) {
  EXPECT_EQ(last_of_fan(NetworkKind::hops, "crossbar:16"), ns(1000 + 16'020'000 + 15'000));
}

// One after the other on the medium, 10,000 later there.
TEST(Ports, BusIsSharedOnce) {
  EXPECT_EQ(last_of_fan(NetworkKind::bus, "bus:16"), ns(1000 + 15 * 8'000'000 + 10'000 + 1000));
}

// All share the last link: they end together after 15 * 8,000,000, two links' latency
// later; then the receiver pays for each.
TEST(Ports, FlowIsSharedOnce) {
  EXPECT_EQ(last_of_fan(NetworkKind::flow, "crossbar:16"),
            ns(1000 + 15 * 8'000'000 + 20'000 + 15'000));
}

// Each is one packet: 8,000,000 on its first link, then one after the other on the last.
TEST(Ports, PacketIsSharedOnce) {
  EXPECT_EQ(last_of_fan(NetworkKind::packet, "crossbar:16"),
            ns(1000 + 8'010'000 + 15 * 8'000'000 + 10'000 + 1000));
}

}  // namespace
}  // namespace foretrace::sim
