// Coroutines: tasks within tasks, exceptions, wrong use, lifetime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <coroutine>
#include <stdexcept>

#include "models.hpp"

namespace foretrace::sim {
namespace {

using testing::HasSubstr;

std::string failure(ModelProgram& program) {
  try {
    run(program);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Task<int> round_trip(ModelRank& rank, int tag) {
  const int other = 1 - rank.rank();
  if (rank.rank() == 0) co_await rank.send(other, Bytes(1), tag);
  const Received got = co_await rank.recv(other, tag);
  if (rank.rank() == 1) co_await rank.send(other, Bytes(1), tag);
  co_return got.tag;
}

Task<> several(ModelRank& rank, int depth, int& sum) {
  if (depth == 0) co_return;
  sum += co_await round_trip(rank, depth);
  co_await several(rank, depth - 1, sum);
}

// A round trip takes 6 us at rank 0; rank 1 is done 0.5 us after its receive.
TEST(Nested, TasksOfTheSameRank) {
  int sum = 0;
  ModelProgram program(2, [&](ModelRank& rank) -> RankTask {
    int mine = 0;
    co_await several(rank, 4, mine);
    EXPECT_EQ(rank.now(), rank.rank() == 0 ? us(24) : tenths(215));
    sum = mine;
  });
  const Replayed r = run(program);
  EXPECT_EQ(sum, 10);
  EXPECT_EQ(r.result.time, us(24));
  EXPECT_EQ(r.result.stats.messages, 8u);
}

Task<std::string> fails_after_a_call(ModelRank& rank) {
  co_await rank.barrier();
  throw std::runtime_error("no luck");
  co_return "never";
}

TEST(Exceptions, PassThroughTasksAndCanBeCaught) {
  int caught = 0;
  ModelProgram program(2, [&](ModelRank& rank) -> RankTask {
    bool failed = false;
    try {
      co_await fails_after_a_call(rank);
    } catch (const std::runtime_error&) {
      failed = true;
    }
    caught += failed;
    co_await rank.barrier();
  });
  run(program);
  EXPECT_EQ(caught, 3 * 2);
}

TEST(Exceptions, NameTheRankAndItsTime) {
  ModelProgram program(3, [](ModelRank& rank) -> RankTask {
    rank.compute(us(7));
    co_await rank.call("MPI_Comm_rank");
    if (rank.rank() == 2) co_await fails_after_a_call(rank);
    co_await rank.barrier();
  });
  // 7 + comm_rank 0.5 + barrier 40.
  EXPECT_EQ(failure(program), "rank 2 of the model program, at 47.500 us: no luck");
}

TEST(Exceptions, OfTheFirstSection) {
  ModelProgram program(1, [](ModelRank&) -> RankTask { throw std::runtime_error("at once"); });
  EXPECT_EQ(failure(program), "rank 0 of the model program, at 0.000 us: at once");
}

TEST(WrongUse, CallWithoutAwait) {
  ModelProgram before(2, [](ModelRank& rank) -> RankTask {
    auto forgotten = rank.barrier();
    static_cast<void>(forgotten);
    co_await rank.send(kProcNull, Bytes(1));
  });
  EXPECT_THAT(failure(before), HasSubstr("MPI_Barrier was called without co_await, before "
                                         "MPI_Send"));
  ModelProgram last(2, [](ModelRank& rank) -> RankTask {
    auto forgotten = rank.barrier();
    static_cast<void>(forgotten);
    co_return;
  });
  EXPECT_THAT(failure(last), HasSubstr("MPI_Barrier was called without co_await"));
}

TEST(WrongUse, CallOfAnotherRank) {
  ModelRank* first = nullptr;
  ModelProgram program(2, [&](ModelRank& rank) -> RankTask {
    if (rank.rank() == 0) first = &rank;
    co_await rank.barrier();
    if (rank.rank() == 1) co_await first->barrier();
  });
  EXPECT_THAT(failure(program), HasSubstr("rank 1 of the model program"));
}

TEST(WrongUse, AwaitsSomethingElse) {
  ModelProgram program(1, [](ModelRank&) -> RankTask { co_await std::suspend_always(); });
  EXPECT_THAT(failure(program), HasSubstr("awaits something that is no call"));
}

TEST(WrongUse, TaskAwaitedTwice) {
  ModelProgram program(2, [](ModelRank& rank) -> RankTask {
    const Task<int> task = round_trip(rank, 1);
    co_await task;
    co_await task;
  });
  EXPECT_THAT(failure(program), HasSubstr("awaited twice"));
}

TEST(WrongUse, TaskOutsideOfAProgram) {
  const auto make = []() -> RankTask { co_return; };
  EXPECT_THROW(static_cast<void>(make()), Error);
}

TEST(WrongUse, Arguments) {
  const auto refused = [](auto call) {
    ModelProgram program(2, [&](ModelRank& rank) -> RankTask { co_await call(rank); });
    return failure(program);
  };
  EXPECT_THAT(refused([](ModelRank& r) { return r.send(2, Bytes(1)); }),
              HasSubstr("expected a peer from 0 to 1, found 2"));
  EXPECT_THAT(refused([](ModelRank& r) { return r.send(kAnySource, Bytes(1)); }),
              HasSubstr("found -2"));
  EXPECT_THAT(refused([](ModelRank& r) { return r.send(1, Bytes(1), -1); }),
              HasSubstr("expected a tag >= 0, found -1"));
  EXPECT_THAT(refused([](ModelRank& r) { return r.bcast(Bytes(1), 2); }),
              HasSubstr("expected a root from 0 to 1, found 2"));
  EXPECT_THAT(refused([](ModelRank& r) { return r.barrier(ModelComm{5}); }),
              HasSubstr("communicator 5 is not of this model program"));
  EXPECT_THROW(ModelProgram(0, nullptr), Error);
  ModelProgram program(2, nullptr);
  EXPECT_THROW(program.add_comm({0, 2}), Error);
  EXPECT_THROW(program.add_comm({1, 1}), Error);
  EXPECT_THROW(program.add_comm({}), Error);
}

TEST(Deadlock, NamesRanksAndCalls) {
  ModelProgram program(2, [](ModelRank& rank) -> RankTask {
    co_await rank.ssend(1 - rank.rank(), Bytes(8), 3);
    co_await rank.recv(1 - rank.rank(), 3);
  });
  EXPECT_THAT(
      failure(program),
      HasSubstr("rank 0 in event 2, MPI_Ssend to rank 1, tag 3, 8 bytes; rank 1 in event 2"));
}

TEST(Deadlock, WildcardThatNobodyServes) {
  ModelProgram program(
      2,
      [](ModelRank& rank) -> RankTask {
        if (rank.rank() == 0) co_await rank.recv(kAnySource, 3);
      },
      Racing::yes);
  EXPECT_THAT(failure(program), HasSubstr("rank 0 in event 2, MPI_Recv from any rank, tag 3"));
}

TEST(Deadlock, AnyAndProbesToo) {
  ModelProgram any(
      2,
      [](ModelRank& rank) -> RankTask {
        if (rank.rank() == 1) co_return;
        ModelRequest request = co_await rank.irecv(1, Bytes(8), 3);
        co_await rank.wait_any({&request, 1});
      },
      Racing::yes);
  EXPECT_THAT(failure(any), HasSubstr("MPI_Waitany of a receive from rank 1, tag 3"));
  ModelProgram probe(
      2,
      [](ModelRank& rank) -> RankTask {
        if (rank.rank() == 0) co_await rank.probe(1, kAnyTag);
      },
      Racing::yes);
  EXPECT_THAT(failure(probe), HasSubstr("MPI_Probe from rank 1, any tag"));
}

struct Counted {
  explicit Counted(int& count) : live(count) { ++live; }
  ~Counted() { --live; }
  int& live;
};

// Ranks run one after the other here: never more than one coroutine.
TEST(Lifetime, MadeWhenNeededAndGoneAtTheEnd) {
  int live = 0;
  int most = 0;
  ModelProgram program(100, [&](ModelRank& rank) -> RankTask {
    const Counted counted(live);
    most = std::max(most, live);
    co_await rank.send(kProcNull, Bytes(1));
  });
  run(program);
  EXPECT_EQ(live, 0);
  EXPECT_EQ(most, 1);
}

TEST(Lifetime, BlockedCoroutinesGoWithTheProgram) {
  int live = 0;
  {
    ModelProgram program(2, [&](ModelRank& rank) -> RankTask {
      const Counted counted(live);
      co_await several(rank, 1, live);
      co_await rank.recv(1 - rank.rank(), 9);
    });
    live = 0;
    EXPECT_NE(failure(program), "");
  }
  // several() has added the tag 1 for each rank.
  EXPECT_EQ(live, 2);
}

Task<> large(ModelRank& rank, char& sum) {
  volatile char page[10'000] = {};
  page[9'999] = static_cast<char>(rank.rank());
  co_await rank.barrier();
  sum = static_cast<char>(sum + page[9'999]);
}

TEST(Memory, LargeFramesAndReuse) {
  char sum = 0;
  ModelProgram program(20, [&](ModelRank& rank) -> RankTask {
    for (int i = 0; i < 3; ++i) co_await large(rank, sum);
  });
  run(program);
  const std::size_t once = program.memory();
  sum = 0;
  for (int i = 0; i < 5; ++i) run(program);
  EXPECT_EQ(program.memory(), once);
  EXPECT_EQ(sum, static_cast<char>(5 * 3 * 3 * 190));
}

TEST(Repeat, SameTraceTwice) {
  const auto once = [] {
    ModelProgram program(
        8,
        [](ModelRank& rank) -> RankTask {
          if (rank.rank() == 0) {
            for (int i = 0; i < 70; ++i) {
              const Received got = co_await rank.recv(kAnySource);
              rank.compute(Time::ns(300 * got.source));
            }
            co_return;
          }
          for (int i = 0; i < 10; ++i) {
            rank.compute(Time::ns(1700 + 37 * (rank.rank() * i % 11)));
            co_await rank.send(0, Bytes(8));
          }
        },
        Racing::yes);
    return run(program);
  };
  const Replayed first = once();
  const Replayed second = once();
  EXPECT_EQ(first.trace.ranks, second.trace.ranks);
  EXPECT_GT(first.result.time, us(50));
}

}  // namespace
}  // namespace foretrace::sim
