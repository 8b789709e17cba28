// What depends on who comes first: wildcards, probes, tests, waiting for any.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "models.hpp"
#include "topology/builders.hpp"

namespace foretrace::sim {
namespace {

using testing::ElementsAre;

constexpr int kAsk = 1;
constexpr int kStop = 2;
constexpr int kTask = 10;  // and its number

// The first worker that asks gets the next task.
RankTask farmer(ModelRank& rank, int tasks, Notes<int>& sources) {
  sources.begin(rank);
  int next = 0;
  for (int stopped = 0; stopped < rank.size() - 1;) {
    const Received ask = co_await rank.recv(kAnySource, kAsk);
    sources.add(rank, ask.source);
    if (next == tasks) ++stopped;
    co_await rank.send(ask.source, Bytes(0), next == tasks ? kStop : kTask + next);
    if (next < tasks) ++next;
  }
}

RankTask worker(ModelRank& rank, const std::vector<Time>& tasks) {
  for (;;) {
    co_await rank.send(0, Bytes(0), kAsk);
    const Received answer = co_await rank.recv(0, kAnyTag);
    if (answer.tag == kStop) co_return;
    rank.compute(tasks.at(static_cast<std::size_t>(answer.tag - kTask)));
  }
}

// A message that is sent at t is at its receiver at t + 2.5, who leaves at
// t + 3. Asks of the workers 1, 2, 3 are there at 2.5, equal times by rank:
//
//     farmer leaves  task  worker  has it at  asks again at  is there at
//     3.0 -> 3.5     0     1       6.0        26.0           28.5
//     4.0 -> 4.5     1     2       7.0        12.0           14.5
//     5.0 -> 5.5     2     3       8.0        13.0           15.5
//     15.0 -> 15.5   3     2       18.0       23.0           25.5
//     16.0 -> 16.5   4     3       19.0       24.0           26.5
//     26.0 -> 26.5   stop  2       29.0
//     27.0 -> 27.5   stop  3       30.0
//     29.0 -> 29.5   stop  1       32.0
TEST(Farm, FirstFreeWorkerGetsTheNextTask) {
  const std::vector<Time> tasks{us(20), us(5), us(5), us(5), us(5)};
  Notes<int> sources(4);
  ModelProgram program(
      4,
      [&](ModelRank& rank) {
        return rank.rank() == 0 ? farmer(rank, 5, sources) : worker(rank, tasks);
      },
      Racing::yes);
  const Replayed r = run(program);
  EXPECT_THAT(sources[0], ElementsAre(1, 2, 3, 2, 3, 2, 3, 1));
  EXPECT_EQ(r.result.ranks[0].time, tenths(295));
  EXPECT_EQ(r.result.ranks[1].time, us(32));
  EXPECT_EQ(r.result.ranks[2].time, us(29));
  EXPECT_EQ(r.result.ranks[3].time, us(30));
  EXPECT_EQ(r.event(0, 3).recv.peer, WorldRank(2));
  EXPECT_TRUE(r.event(0, 3).recv.any_source);
}

// On the data sheet a header is there when its send begins: rank 2 at 10,
// rank 1 at 20. recv of 800 bytes: 110 from the send on, 70 from the receive on.
TEST(Wildcard, ByArrivalOnTheDataSheet) {
  Notes<int> sources(3);
  const auto body = [&](ModelRank& rank) -> RankTask {
    sources.begin(rank);
    if (rank.rank() > 0) {
      rank.compute(us(rank.rank() == 1 ? 20 : 10));
      co_await rank.send(0, Bytes(800), 7);
      co_return;
    }
    for (int i = 0; i < 2; ++i) {
      const Received got = co_await rank.recv(kAnySource, 7);
      sources.add(rank, got.source);
      EXPECT_EQ(got.bytes, Bytes(800));
      EXPECT_EQ(got.tag, 7);
    }
  };
  ModelProgram program(3, body, Racing::yes);
  const Replayed r = run(program, {});
  EXPECT_THAT(sources[0], ElementsAre(2, 1));
  EXPECT_EQ(r.leave(0, 1), us(120));
  EXPECT_EQ(r.leave(0, 2), us(190));  // 120 + recvmin 70; 20 + 110 is past
}

// The one that was posted first gets the message, also if the later one names it.
TEST(Wildcard, PostedOnesAreServedInTheirOrder) {
  Notes<int> tags(2);
  const auto body = [&](ModelRank& rank) -> RankTask {
    tags.begin(rank);
    if (rank.rank() == 1) {
      rank.compute(us(1));
      co_await rank.send(0, Bytes(0), 5);
      co_await rank.send(0, Bytes(0), 6);
      co_await rank.send(0, Bytes(0), 5);
      co_return;
    }
    std::array<ModelRequest, 3> requests;
    requests[0] = co_await rank.irecv(1, Bytes(0), kAnyTag);
    requests[1] = co_await rank.irecv(1, Bytes(0), 5);
    requests[2] = co_await rank.irecv(kAnySource, Bytes(0), kAnyTag);
    for (const Completed& one : co_await rank.wait_all(requests)) tags.add(rank, one.message.tag);
  };
  ModelProgram program(2, body, Racing::yes);
  run(program);
  EXPECT_THAT(tags[0], ElementsAre(5, 5, 6));
}

TEST(Waiting, AnyOfSeveral) {
  Notes<int> seen(3);
  const auto body = [&](ModelRank& rank) -> RankTask {
    seen.begin(rank);
    if (rank.rank() > 0) {
      rank.compute(us(rank.rank() == 1 ? 10 : 4));
      co_await rank.send(0, Bytes(0), rank.rank());
      co_return;
    }
    std::array<ModelRequest, 2> requests;
    requests[0] = co_await rank.irecv(1, Bytes(0), 1);
    requests[1] = co_await rank.irecv(2, Bytes(0), 2);
    for (int i = 0; i < 3; ++i) {
      const Completed one = co_await rank.wait_any(requests);
      seen.add(rank, one.index);
      seen.add(rank, one.message.source);
    }
  };
  ModelProgram program(3, body, Racing::yes);
  const Replayed r = run(program);
  EXPECT_THAT(seen[0], ElementsAre(1, 2, 0, 1, -1, kProcNull));
  EXPECT_EQ(r.leave(0, 3), us(7));   // 4 + 2.5, + 0.5
  EXPECT_EQ(r.leave(0, 4), us(13));  // 10 + 2.5, + 0.5
  EXPECT_EQ(r.leave(0, 5), us(13));  // of nothing
  EXPECT_EQ(r.wait(0, 3), tenths(65));
}

// Ports without a gap, so that messages can be there at once.
SimulateOptions no_gap() {
  SimulateOptions options = loggps();
  options.network.loggps.gap = Time();
  return options;
}

TEST(Waiting, AnyOfTwoAtOnceTakesTheFirstListed) {
  Notes<int> seen(3);
  const auto body = [&](ModelRank& rank) -> RankTask {
    seen.begin(rank);
    if (rank.rank() > 0) {
      co_await rank.send(0, Bytes(0));
      co_return;
    }
    std::array<ModelRequest, 2> requests;
    requests[1] = co_await rank.irecv(1, Bytes(0));
    requests[0] = co_await rank.irecv(2, Bytes(0));
    seen.add(rank, (co_await rank.wait_any(requests)).message.source);
    seen.add(rank, (co_await rank.wait_any(requests)).message.source);
  };
  ModelProgram program(3, body, Racing::yes);
  run(program, no_gap());
  EXPECT_THAT(seen[0], ElementsAre(2, 1));
}

// 1 and 2 are there at 2.5: both overheads, 3.5. Rank 3's 100 us later.
TEST(Waiting, SomeTakesAllThatAreThere) {
  Notes<int> seen(4);
  const auto body = [&](ModelRank& rank) -> RankTask {
    seen.begin(rank);
    if (rank.rank() > 0) {
      if (rank.rank() == 3) rank.compute(us(100));
      co_await rank.send(0, Bytes(0));
      co_return;
    }
    std::array<ModelRequest, 3> requests;
    for (int i = 0; i < 3; ++i)
      requests[static_cast<std::size_t>(i)] = co_await rank.irecv(i + 1, Bytes(0));
    for (int i = 0; i < 2; ++i) {
      for (const Completed& one : co_await rank.wait_some(requests)) seen.add(rank, one.index);
      seen.add(rank, -1);
    }
  };
  ModelProgram program(4, body, Racing::yes);
  const Replayed r = run(program, no_gap());
  EXPECT_THAT(seen[0], ElementsAre(0, 1, -1, 2, -1));
  EXPECT_EQ(r.leave(0, 4), tenths(35));
  EXPECT_EQ(r.leave(0, 5), us(103));
}

// Polls at 0, 0.1, ...: each takes 0.1 us. The message is there at 2.5.
TEST(Probing, LoopLetsVirtualTimePass) {
  Notes<int> seen(2);
  const auto body = [&](ModelRank& rank) -> RankTask {
    seen.begin(rank);
    if (rank.rank() == 1) {
      co_await rank.send(0, Bytes(1), 3);
      co_return;
    }
    int in_vain = 0;
    std::optional<Received> found;
    while (!(found = co_await rank.iprobe(kAnySource, kAnyTag))) ++in_vain;
    seen.add(rank, in_vain);
    EXPECT_EQ(rank.now(), tenths(25));
    const Received got = co_await rank.recv(found->source, found->tag);
    EXPECT_EQ(got.bytes, found->bytes);
    EXPECT_EQ(got.tag, 3);
    EXPECT_EQ(rank.now(), us(3));
  };
  ModelProgram program(2, body, Racing::yes);
  const Replayed r = run(program);
  EXPECT_THAT(seen[0], ElementsAre(25));
  EXPECT_EQ(r.result.ranks[0].time, us(3));
}

// With 1 us of work between them polls begin at 1, 2.1, 3.2.
TEST(Probing, WorkBetweenPolls) {
  Notes<int> seen(2);
  const auto body = [&](ModelRank& rank) -> RankTask {
    seen.begin(rank);
    if (rank.rank() == 1) {
      co_await rank.send(0, Bytes(0));
      co_return;
    }
    int polls = 0;
    do {
      rank.compute(us(1));
      ++polls;
    } while (!co_await rank.iprobe(1));
    seen.add(rank, polls);
    co_await rank.recv(1);
  };
  ModelProgram program(2, body, Racing::yes);
  const Replayed r = run(program);
  EXPECT_THAT(seen[0], ElementsAre(3));
  EXPECT_EQ(r.result.ranks[0].time, tenths(37));
}

TEST(Probing, BlocksUntilAMessageIsThereAndLeavesIt) {
  const auto body = [&](ModelRank& rank) -> RankTask {
    if (rank.rank() > 0) {
      rank.compute(us(rank.rank()));
      co_await rank.send(0, Bytes(static_cast<std::uint64_t>(rank.rank())), 4);
      co_return;
    }
    const Received seen = co_await rank.probe(kAnySource, 4);
    EXPECT_EQ(seen.source, 1);
    EXPECT_EQ(seen.bytes, Bytes(1));
    EXPECT_EQ(rank.now(), tenths(35));  // 1 + 2.5
    EXPECT_EQ((co_await rank.recv(2, 4)).source, 2);
    EXPECT_EQ((co_await rank.recv(1, 4)).source, 1);
    EXPECT_EQ((co_await rank.probe(kProcNull)).source, kProcNull);
    EXPECT_TRUE((co_await rank.iprobe(kProcNull)).has_value());
    EXPECT_FALSE((co_await rank.iprobe(1, 4)).has_value());
  };
  ModelProgram program(3, body, Racing::yes);
  run(program);
}

// Tests at 0, 0.1, ...; the one at 2.5 completes it and takes the overhead.
TEST(Testing, LoopLetsVirtualTimePass) {
  Notes<int> seen(2);
  const auto body = [&](ModelRank& rank) -> RankTask {
    seen.begin(rank);
    if (rank.rank() == 1) {
      co_await rank.send(0, Bytes(1), 3);
      co_return;
    }
    ModelRequest request = co_await rank.irecv(1, Bytes(1), 3);
    int in_vain = 0;
    std::optional<Received> got;
    while (!(got = co_await rank.test(request))) ++in_vain;
    seen.add(rank, in_vain);
    EXPECT_EQ(got->source, 1);
    EXPECT_EQ(got->tag, 3);
    EXPECT_EQ(got->bytes, Bytes(1));
    EXPECT_FALSE(request);
    EXPECT_TRUE((co_await rank.test(request)).has_value());  // of nothing
  };
  ModelProgram program(2, body, Racing::yes);
  const Replayed r = run(program);
  EXPECT_THAT(seen[0], ElementsAre(25));
  EXPECT_EQ(r.event(0, 27).kind, trace::EventKind::complete);
  EXPECT_EQ(r.leave(0, 27), us(3));
}

// Messages are there at 2.5 and 12.5. Tests begin at 2, 4.1, 4.2, 4.6, 12.7, ...
TEST(Testing, AnySomeAll) {
  const auto body = [&](ModelRank& rank) -> RankTask {
    if (rank.rank() > 0) {
      if (rank.rank() == 2) rank.compute(us(10));
      co_await rank.send(0, Bytes(0));
      co_return;
    }
    std::array<ModelRequest, 2> requests;
    requests[0] = co_await rank.irecv(2, Bytes(0));
    requests[1] = co_await rank.irecv(1, Bytes(0));
    rank.compute(us(2));
    EXPECT_FALSE((co_await rank.test_any(requests)).has_value());
    rank.compute(us(2));
    EXPECT_FALSE(co_await rank.test_all(requests));
    EXPECT_EQ(rank.now(), tenths(42));
    const auto some = co_await rank.test_some(requests);
    EXPECT_EQ(some.size(), 1u);
    EXPECT_EQ(some[0].index, 1);
    EXPECT_EQ(some[0].message.source, 1);
    EXPECT_EQ(rank.now(), tenths(46));  // 4.2 + 0.5, of which the test in vain right before was 0.1
    EXPECT_FALSE(co_await rank.test_all(requests));
    rank.compute(us(8));
    EXPECT_TRUE(co_await rank.test_all(requests));
    EXPECT_EQ(rank.now(), tenths(132));  // 4.7 + 8, + 0.5: it has worked since the test in vain
    EXPECT_TRUE((co_await rank.test_any(requests)).has_value());
    EXPECT_TRUE(co_await rank.test_all(requests));
    EXPECT_EQ((co_await rank.test_some(requests)).size(), 0u);
  };
  ModelProgram program(3, body, Racing::yes);
  run(program);
}

// Whoever is asked again and again, alone or through links that messages share.
TEST(Farm, SameTwiceOnSharedLinks) {
  const machine::Topology mesh = machine::make_topology("mesh:3x3?latency=1us&bandwidth=1GB/s");
  const std::vector<Time> tasks(40, us(3));
  std::vector<Replayed> runs;
  for (int i = 0; i < 2; ++i) {
    Notes<int> sources(9);
    ModelProgram program(
        9,
        [&](ModelRank& rank) {
          return rank.rank() == 0 ? farmer(rank, 40, sources) : worker(rank, tasks);
        },
        Racing::yes);
    SimulateOptions options = loggps();
    options.network.kind = NetworkKind::flow;
    options.network.topology = &mesh;
    runs.push_back(run(program, options));
    EXPECT_EQ(sources[0].size(), 48u);
  }
  EXPECT_EQ(runs[0].trace.ranks, runs[1].trace.ranks);
  EXPECT_EQ(runs[0].result.stats.messages, 96u);
}

template <class Call>
std::string refusal(Call call) {
  ModelProgram program(2, [&](ModelRank& rank) -> RankTask {
    if (rank.rank() == 1) co_await call(rank);
  });
  try {
    run(program);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Racing, MustBeSaid) {
  EXPECT_EQ(refusal([](ModelRank& rank) { return rank.recv(kAnySource); }),
            "rank 1 of the model program, at 0.000 us: a receive from any source depends on what "
            "comes first; make the ModelProgram with Racing::yes");
  using testing::HasSubstr;
  EXPECT_THAT(refusal([](ModelRank& rank) { return rank.recv(0, kAnyTag); }),
              HasSubstr("with any tag depends"));
  EXPECT_THAT(refusal([](ModelRank& rank) { return rank.irecv(kAnySource, Bytes(1)); }),
              HasSubstr("Racing::yes"));
  EXPECT_THAT(refusal([](ModelRank& rank) { return rank.iprobe(0); }), HasSubstr("a probe"));
  ModelRequest none;
  EXPECT_THAT(refusal([&](ModelRank& rank) { return rank.test(none); }), HasSubstr("a test"));
  EXPECT_THAT(refusal([&](ModelRank& rank) {
                return rank.wait_any({&none, 1});
              }),
              HasSubstr("any or some"));
}

}  // namespace
}  // namespace foretrace::sim
