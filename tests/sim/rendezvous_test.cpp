// Requests and answers of rendezvous behind other messages, by hand (docs/networks.md,
// "Control messages", "flow" and "packet").
#include <gtest/gtest.h>

#include <string>

#include "loggps_options.hpp"
#include "programs.hpp"
#include "topology/builders.hpp"

namespace foretrace::sim {
namespace {

using machine::SendMode;

// Links of 1 us and 1 GB/s (1 ns a byte), o_s = g = 0, S = 1000 bytes.
class Links {
 public:
  Links(NetworkKind kind, const std::string& shape, Time overhead_recv = {})
      : topology_(machine::make_topology(shape + "?latency=1us&bandwidth=1GB/s")) {
    options_.network.kind = kind;
    options_.network.topology = &topology_;
    options_.network.packet_size = Bytes(1000);
    machine::LogGPSTimes& times = options_.network.loggps;
    times.overhead_send = times.gap = Time();
    times.overhead_recv = overhead_recv;
    times.latency = us(1);
    times.sync_threshold = Bytes(1000);
  }
  Links& pieces(std::uint64_t bytes) {
    options_.network.piece = Bytes(bytes);
    return *this;
  }
  Replayed run(Programs& source) {
    source.finalize_all();
    return replay(source, options_);
  }

 private:
  machine::Topology topology_;
  SimulateOptions options_ = loggps();
};

Programs late_exchange(Time late) {
  Programs source(2);
  source.sendrecv(0, 1, 1, 100'000);
  source.sendrecv(1, 0, 0, 100'000, late);
  return source;
}

// Rank 0 sends 100,000 bytes that need nobody to rank 1, then 2,000 by rendezvous to `to`.
Programs behind_bulk(int to) {
  Programs source(3);
  source.send(0, 1, 100'000, {}, 0, SendMode::buffered);
  source.send(0, to, 2000, {}, 1);
  source.recv(to, 0, 2000, {}, 1);
  source.recv(1, 0, 100'000);
  return source;
}

// Both answers are on their way at 1 us, the data flows from 2 to 102.
TEST(Rendezvous, AnswersAheadOfData) {
  Programs source = late_exchange({});
  const Replayed run = Links(NetworkKind::flow, "full:2").run(source);
  EXPECT_EQ(run.leave(0, 0), us(103));
  EXPECT_EQ(run.leave(1, 0), us(103));
}

// The example of the page: rank 0's answer at 6 us waits for its data to end at 106.
TEST(Rendezvous, AnswerBehindData) {
  Programs source = late_exchange(us(5));
  const Replayed run = Links(NetworkKind::flow, "full:2").run(source);
  EXPECT_EQ(run.leave(0, 0), us(208));
  EXPECT_EQ(run.leave(1, 0), us(207));
}

// Rank 1 is 1.5 us late. Its answer is back at 2.5, when its request is there, too: the data goes
// first.
TEST(Rendezvous, LaterByMoreThanTheLatency) {
  Programs source = late_exchange(ns(1500));
  const Replayed run = Links(NetworkKind::flow, "full:2").run(source);
  EXPECT_EQ(run.leave(0, 0), ns(204'500));
}

// o_r = 1 us: rank 1 answers at 2, and that is taken in at 4. Its request is taken in at 3.5,
// before the data: the answer is taken in at 5.5. The data flows until 104 and 105.5.
TEST(Rendezvous, LaterByLessThanLatencyAndOverheads) {
  Programs source = late_exchange(ns(1500));
  const Replayed run = Links(NetworkKind::flow, "full:2", us(1)).run(source);
  EXPECT_EQ(run.leave(0, 0), ns(107'500));
  EXPECT_EQ(run.leave(1, 0), ns(106'500));
}

// The request leaves at 100, is there at 101 and answered until 102; its data until 104.
TEST(Rendezvous, FlowKeepsTheOrderOfAWay) {
  Programs source = behind_bulk(1);
  EXPECT_EQ(Links(NetworkKind::flow, "full:3").run(source).leave(0, 1), us(104));
}

// Another way by the same link: two links of 1 us each way. The answer is back at 4, and
// the data has half of the link: 4 us.
TEST(Rendezvous, FlowSharesWithOtherWays) {
  Programs source = behind_bulk(2);
  EXPECT_EQ(Links(NetworkKind::flow, "crossbar:3").run(source).leave(0, 1), us(8));
}

// All packets of the bulk go before: the request's byte has left at 100,001 ns. It and the
// answer's take 1001 ns each.
TEST(Rendezvous, PacketsWaitInTheirQueue) {
  Programs source = behind_bulk(1);
  EXPECT_EQ(Links(NetworkKind::packet, "full:3").run(source).leave(0, 1),
            ns(100'000 + 2 * 1001 + 2000));
}

// Data to rank 1 leaves from 4004 ns on, in pieces of 10,000 bytes; at 50,000 a request to rank 2
// comes, and leaves at 54,005. It is there at 56,006, the answer back at 58,008. The sixth piece
// leaves until 64,005, then the data to rank 2.
TEST(Rendezvous, DataTakesTurns) {
  Programs source(3);
  source.isend(0, 1, 100'000, 1);
  source.send(0, 2, 2000, us(50));
  source.wait(0, {1});
  source.recv(1, 0, 100'000);
  source.recv(2, 0, 2000);
  Links links(NetworkKind::packet, "crossbar:3");
  EXPECT_EQ(links.pieces(10'000).run(source).leave(0, 1), ns(66'005));
}

// 100,000 bytes by rendezvous; at 50 us an eager message to the same rank.
Programs eager_behind_data() {
  Programs source(2);
  source.isend(0, 1, 100'000, 1);
  source.send(0, 1, 0, us(50), 1);
  source.wait(0, {1});
  source.irecv(1, 0, 100'000, 1);
  source.recv(1, 0, 0, {}, 1);
  source.wait(1, {1});
  return source;
}

// The data leaves from 2002 ns on, its fifth piece until 52,002.
TEST(Rendezvous, PacketsLeaveBetweenPieces) {
  Programs source = eager_behind_data();
  const Replayed run = Links(NetworkKind::packet, "full:2").pieces(10'000).run(source);
  EXPECT_EQ(run.leave(1, 1), ns(53'003));
  EXPECT_EQ(run.leave(0, 2), ns(102'003));
}

// From 2 us on; its fifth piece ends at 52.
TEST(Rendezvous, FlowPausesBetweenPieces) {
  Programs source = eager_behind_data();
  const Replayed run = Links(NetworkKind::flow, "full:2").pieces(10'000).run(source);
  EXPECT_EQ(run.leave(1, 1), us(53));
  EXPECT_EQ(run.leave(0, 2), us(102));
}

// AnswerBehindData, in pieces: it leaves at 16 us, and rank 1's data flows from 17 to 117.
TEST(Rendezvous, AnswerBetweenPieces) {
  Programs source = late_exchange(us(5));
  const Replayed run = Links(NetworkKind::flow, "full:2").pieces(10'000).run(source);
  EXPECT_EQ(run.leave(0, 0), us(118));
  EXPECT_EQ(run.leave(1, 0), us(117));
}

// Rank 0's request has the medium before rank 2's bulk, its answer waits until 100 us.
TEST(Rendezvous, TheMediumIsTaken) {
  Programs source(4);
  source.send(0, 1, 2000);
  source.recv(1, 0, 2000);
  source.send(2, 3, 100'000, {}, 0, SendMode::buffered);
  source.recv(3, 2, 100'000);
  EXPECT_EQ(Links(NetworkKind::bus, "bus:4").run(source).leave(0, 0), us(103));
}

// L = 1000, o_s = 100, o_r = 10, g = 50 ns, G = 0.5 ns: rank 1's 801 bytes hold its port
// from 1000 to 1450, where the answer to the request of 1110 waits. It is taken in at 2460.
TEST(Rendezvous, AnswerAtABusyPort) {
  Programs source(3);
  source.send(0, 1, 2001);
  source.irecv(1, 0, 2001, 1);
  source.send(1, 2, 801, ns(1000));
  source.wait(1, {1});
  source.recv(2, 1, 801);
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 0), ns(2460 + 100 + 1000));
  EXPECT_EQ(run.leave(1, 2), ns(3560 + 1000 + 10));
}

// Rank 2's 801 bytes come at 1100 and hold the port until 1550; the request comes at 1110.
TEST(Rendezvous, RequestAtABusyPort) {
  Programs source(3);
  source.send(0, 1, 2001, ns(10));
  source.send(2, 1, 801);
  source.irecv(1, 0, 2001, 1);
  source.irecv(1, 2, 801, 2);
  source.wait(1, {1, 2});
  source.finalize_all();
  const Replayed run = replay(source, loggps());
  EXPECT_EQ(run.leave(0, 0), ns(1560 + 1010 + 100 + 1000));
  EXPECT_EQ(run.wait(0, 0), Time());
}

// A receiver that comes at 5 us is waited for from 1 us on, and no longer.
TEST(Rendezvous, WaitIsTheReceiversLateness) {
  Programs source(2);
  source.send(0, 1, 2000);
  source.recv(1, 0, 2000, us(5));
  const Replayed run = Links(NetworkKind::flow, "full:2").run(source);
  EXPECT_EQ(run.leave(0, 0), us(8));
  EXPECT_EQ(run.wait(0, 0), us(4));
}

}  // namespace
}  // namespace foretrace::sim
