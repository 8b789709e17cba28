// Where simulators go wrong: empty messages, fractions of a nanosecond, short
// computations, the answer of a rendezvous, collectives on some ranks only.
#include <gtest/gtest.h>

#include "models.hpp"

namespace foretrace::sim {
namespace {

// (k-1) G must not become negative: an empty message takes what one byte does.
TEST(Trap, EmptyMessage) {
  for (const std::uint64_t bytes : {0, 1}) {
    ModelProgram program(2, [&](ModelRank& rank) -> RankTask {
      if (rank.rank() == 0) {
        co_await rank.send(1, Bytes(bytes));
        co_await rank.send(1, Bytes(bytes));
      } else {
        EXPECT_EQ((co_await rank.recv(0)).bytes, Bytes(bytes));
        co_await rank.recv(0);
      }
    });
    const Replayed r = run(program);
    EXPECT_EQ(r.leave(0, 1), Time::ns(500));
    EXPECT_EQ(r.leave(1, 1), us(3));
    EXPECT_EQ(r.leave(1, 2), tenths(35));  // there at 3, after the first one's overhead
  }
}

// 0.5 ns for one byte more; 0.08 ns: 1001 bytes stream for 80 ns.
TEST(Trap, GapBelowOneNanosecondPerByte) {
  const auto arrival = [](std::uint64_t bytes, double gap_per_byte) {
    ModelProgram program(2, [&](ModelRank& rank) -> RankTask {
      if (rank.rank() == 0)
        co_await rank.send(1, Bytes(bytes));
      else
        co_await rank.recv(0);
    });
    SimulateOptions options = loggps();
    options.network.loggps.gap_per_byte = gap_per_byte;
    return run(program, options).leave(1, 1);
  };
  EXPECT_EQ(arrival(2, 0.5e-9), us(3) + Time::ps(500));
  EXPECT_EQ(arrival(1001, 0.08e-9), us(3) + Time::ns(80));
  EXPECT_EQ(arrival(3, 0.0006e-9), us(3) + Time::ps(1));  // 1.2 ps
}

TEST(Trap, ShortComputationIsKept) {
  ModelProgram program(1, [](ModelRank& rank) -> RankTask {
    for (int i = 0; i < 1000; ++i) {
      rank.compute(Time::ps(999));
      co_await rank.send(kProcNull, Bytes(8));
    }
    rank.compute(Time::ps(1));
  });
  const Replayed r = run(program);
  EXPECT_EQ(r.result.time, Time::ps(999'001));
  EXPECT_EQ(r.result.ranks[0].compute, Time::ps(999'001));
}

// k = 65537: streams for 65536 * 0.5 ns = 32.768 us. The request leaves at 0.5 and
// is taken in at 3.
//   Receiver from 10 on: answer taken in at 12.5, data enters at 13, the sender is
//   free at 45.768, the last byte there at 47.768.
//   Receiver from 0 on: answer at 3, taken in at 5.5, data enters at 6.
TEST(Trap, RendezvousWaitsForTheAnswer) {
  for (const bool late : {true, false}) {
    ModelProgram program(2, [&](ModelRank& rank) -> RankTask {
      if (rank.rank() == 0) {
        co_await rank.send(1, Bytes(65537));
      } else {
        if (late) rank.compute(us(10));
        co_await rank.recv(0);
      }
    });
    const Replayed r = run(program);
    EXPECT_EQ(r.leave(0, 1), Time::ns(late ? 45'768 : 38'768));
    EXPECT_EQ(r.leave(1, 1), Time::ns(late ? 48'268 : 41'268));
    EXPECT_EQ(r.wait(0, 1), Time::ns(late ? 7'000 : 0));
  }
}

// The same for a wildcard: the request is its header.
TEST(Trap, RendezvousThroughAWildcard) {
  ModelProgram program(
      2,
      [&](ModelRank& rank) -> RankTask {
        if (rank.rank() == 0) {
          co_await rank.send(1, Bytes(65537));
        } else {
          rank.compute(us(10));
          const Received got = co_await rank.recv(kAnySource);
          EXPECT_EQ(got.bytes, Bytes(65537));
        }
      },
      Racing::yes);
  const Replayed r = run(program);
  EXPECT_EQ(r.leave(0, 1), Time::ns(45'768));
  EXPECT_EQ(r.leave(1, 1), Time::ns(48'268));
}

// A wildcard that is posted first: the answer goes out when the request is there.
TEST(Trap, RendezvousIntoAPostedWildcard) {
  ModelProgram program(
      2,
      [&](ModelRank& rank) -> RankTask {
        if (rank.rank() == 0) {
          rank.compute(us(1));
          co_await rank.ssend(1, Bytes(1));
        } else {
          ModelRequest request = co_await rank.irecv(kAnySource, Bytes(1), kAnyTag);
          EXPECT_EQ((co_await rank.wait(request)).source, 0);
        }
      },
      Racing::yes);
  const Replayed r = run(program);
  // Request out at 1.5, taken in at 4, answer taken in at 6.5, data enters at 7.
  EXPECT_EQ(r.leave(0, 1), us(7));
  EXPECT_EQ(r.leave(1, 2), tenths(95));
}

// bcast 100 + 2p with p = 3, from the root's start; who is not in it goes on.
TEST(Trap, CollectiveOnSomeRanks) {
  ModelComm even;
  ModelProgram program(5, [&](ModelRank& rank) -> RankTask {
    if (rank.rank() % 2 == 1) co_return;
    if (rank.rank() == 2) rank.compute(us(50));  // the root
    if (rank.rank() == 4) rank.compute(us(60));
    co_await rank.bcast(Bytes(8), 1, even);
  });
  even = program.add_comm({4, 2, 0});
  const Replayed r = run(program, {});
  EXPECT_EQ(r.result.ranks[0].time, us(156));
  EXPECT_EQ(r.result.ranks[1].time, us(0));
  EXPECT_EQ(r.result.ranks[2].time, us(156));
  EXPECT_EQ(r.result.ranks[4].time, us(166));
}

// Message by message, a communicator of three ranks is like a world of three.
TEST(Trap, ExpandedCollectiveOnSomeRanks) {
  const AlgorithmTable table("openmpi");
  SimulateOptions options = loggps();
  options.algorithms = &table;
  const auto calls = [](ModelRank& rank, ModelComm comm) -> Task<> {
    rank.compute(us(5 * rank.rank(comm)));
    co_await rank.bcast(Bytes(5000), 1, comm);
    co_await rank.allreduce(Bytes(64), comm);
    co_await rank.gather(Bytes(100), 2, comm);
    co_await rank.barrier(comm);
  };
  ModelComm even;
  ModelProgram some(5, [&](ModelRank& rank) -> RankTask {
    if (rank.rank() % 2 == 0) co_await calls(rank, even);
  });
  even = some.add_comm({4, 2, 0});
  ModelProgram world(3, [&](ModelRank& rank) -> RankTask { return calls(rank, kWorld); });
  const Replayed a = run(some, options);
  const Replayed b = run(world, options);
  for (int local = 0; local < 3; ++local) {
    EXPECT_EQ(a.result.ranks[static_cast<std::size_t>(4 - 2 * local)].time,
              b.result.ranks[static_cast<std::size_t>(local)].time);
  }
  EXPECT_EQ(a.result.stats.messages, b.result.stats.messages);
  EXPECT_GT(b.result.time, us(20));
  EXPECT_GE(b.result.stats.messages, 10u);
}

// Racing or not, and expanded or not: a program without races takes the same times.
TEST(Trap, RacingAloneChangesNothing) {
  const AlgorithmTable table("mpich");
  for (const bool expanded : {false, true}) {
    SimulateOptions options = loggps();
    if (expanded) options.algorithms = &table;
    std::vector<Time> times;
    for (const Racing racing : {Racing::no, Racing::yes}) {
      ModelProgram program(
          6,
          [](ModelRank& rank) -> RankTask {
            const int n = rank.size();
            for (int step = 0; step < 5; ++step) {
              rank.compute(Time::ns(100 * ((rank.rank() * 7 + step) % 5)));
              ModelRequest in = co_await rank.irecv((rank.rank() + 1) % n, Bytes(300'000), step);
              co_await rank.send((rank.rank() + n - 1) % n, Bytes(step % 2 == 0 ? 100 : 300'000),
                                 step);
              co_await rank.wait(in);
              co_await rank.allreduce(Bytes(8));
            }
          },
          racing);
      times.push_back(run(program, options).result.time);
    }
    EXPECT_EQ(times[0], times[1]);
    EXPECT_GT(times[0], us(30));
  }
}

}  // namespace
}  // namespace foretrace::sim
