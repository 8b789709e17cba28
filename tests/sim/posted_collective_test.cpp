// Non-blocking collectives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

#include "base/error.hpp"
#include "reacting_source.hpp"
#include "sim/trace_source.hpp"

namespace foretrace::sim {
namespace {

using machine::Cost;
using testing::ElementsAre;
using testing::HasSubstr;

// The barrier of 3 that is entered at 0, 20 and 50 ends at 50 + 40.
TEST(PostedCollective, EndsWhenABlockingOneWouldLeave) {
  for (const bool races : {true, false}) {
    ReactingSource p(3);
    p.icollective(0, Cost::barrier, 1);
    p.complete(0, {1});
    p.icollective(1, Cost::barrier, 1, us(20));
    p.complete(1, {1}, Completing::all, us(100));
    p.icollective(2, Cost::barrier, 9, us(50));
    p.complete(2, {9}, Completing::all, us(10));
    p.finalize_all();
    const Reaction r = react(p, {}, races);
    EXPECT_EQ(r.leave(0, 0), us(0));
    EXPECT_EQ(r.leave(0, 1), us(90));
    EXPECT_EQ(r.wait(0, 1), us(90));
    EXPECT_EQ(r.leave(1, 1), us(120));  // it had ended: nothing to wait for
    EXPECT_EQ(r.wait(1, 1), us(0));
    EXPECT_EQ(r.leave(2, 1), us(90));
    EXPECT_FALSE(r.of(0, 1).completions.at(0).source.valid());
    EXPECT_THAT(r.of(0, 1).payloads, ElementsAre(0u));
    EXPECT_EQ(r.trace.ranks[2][0].kind, trace::EventKind::icollective);
    EXPECT_EQ(r.trace.ranks[2][0].request, 9u);
  }
}

// Bcast of 3 ranks, 100 + 2 * 3: members wait for the root alone, which waits
// for nobody. Reduce, 306: the root for all.
TEST(PostedCollective, WaitsForWhomTheBlockingOneWaits) {
  ReactingSource p(3);
  for (int r = 0; r < 3; ++r) {
    p.icollective(r, Cost::bcast, 1, us(r == 2 ? 500 : 10 * r), 1);
    p.icollective(r, Cost::reduce, 2, {}, 0);
    p.complete(r, {1});
    p.complete(r, {2});
  }
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.leave(0, 2), us(116));  // root at 10
  EXPECT_EQ(r.leave(1, 2), us(116));
  EXPECT_EQ(r.leave(2, 2), us(606));
  EXPECT_EQ(r.leave(0, 3), us(806));  // the last at 500
  EXPECT_EQ(r.leave(1, 3), us(316));  // its own at 10
}

// Several at once, completed in another order, with blocking ones and messages
// between: the n-th call of each belongs to the n-th collective.
TEST(PostedCollective, OrderOfCallsDecides) {
  for (const bool races : {true, false}) {
    ReactingSource p(2);
    for (int r = 0; r < 2; ++r) {
      p.icollective(r, Cost::barrier, 1, us(r == 1 ? 100 : 0));
      p.icollective(r, Cost::bcast, 2, {}, 0);
      p.collective(r, Cost::barrier);
      p.irecv(r, 1 - r, 3);
      p.isend(r, 1 - r, 800, 4);
      p.icollective(r, Cost::barrier, 5);
      p.complete(r, {5, 4, 3, 2});
      p.complete(r, {1});
    }
    p.finalize_all();
    const Reaction r = react(p, {}, races);
    EXPECT_EQ(r.leave(0, 2), us(140));
    // Barrier 5 is posted at 219 and ends at 259, before the messages are handled:
    // isend at 219 + 7.1 or 229.1, then irecv + 54.5.
    EXPECT_EQ(r.leave(0, 6), tenths(2836));
    EXPECT_EQ(r.leave(0, 7), r.leave(0, 6));
  }
}

TEST(PostedCollective, TestAndWaitForAny) {
  ReactingSource p(2);
  p.icollective(0, Cost::barrier, 1);
  p.complete(0, {1}, Completing::test_all, us(10));  // not yet: 1 comes at 200
  p.complete(0, {1}, Completing::any);
  p.icollective(1, Cost::barrier, 1, us(200));
  p.complete(1, {1}, Completing::test_any, us(30));  // ends at 240
  p.complete(1, {1}, Completing::test_some, us(10));
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.of(0, 1).kind, trace::EventKind::call);
  EXPECT_EQ(r.leave(0, 2), us(240));
  EXPECT_EQ(r.of(1, 1).kind, trace::EventKind::call);
  EXPECT_EQ(r.leave(1, 1), Time::ns(230'100));
  EXPECT_EQ(r.leave(1, 2), Time::ns(240'100));
  EXPECT_THAT(r.of(1, 2).completions, testing::SizeIs(1));
}

// What a rank whose threads overtook each other has in its trace: a blocking call,
// posted. The barrier of 3 that is entered at 0, 20 and 50 ends at 50 + 40.
TEST(PostedCollective, MatchesABlockingOneOfItsName) {
  ReactingSource p(3);
  const trace::NameId name = p.collective(1, Cost::barrier, us(20)).name;
  for (const int r : {0, 2}) {
    p.icollective(r, Cost::barrier, 1, us(25 * r)).name = name;
    p.complete(r, {1});
  }
  p.finalize_all();
  const Reaction r = react(p);
  EXPECT_EQ(r.leave(0, 1), us(90));
  EXPECT_EQ(r.leave(1, 0), us(90));
  EXPECT_EQ(r.leave(2, 1), us(90));
  // Only one of them would be carried out message by message.
  const AlgorithmTable table("openmpi");
  SimulateOptions options;
  options.algorithms = &table;
  ReactingSource expanded(2);
  expanded.icollective(0, Cost::barrier, 1).name = expanded.collective(1, Cost::barrier).name;
  expanded.complete(0, {1});
  EXPECT_THAT([&] { react(expanded, options); },
              testing::ThrowsMessage<Error>(HasSubstr("only --collectives equation takes")));
}

TEST(PostedCollective, DoesNotMatchABlockingOne) {
  ReactingSource p(2);
  p.icollective(0, Cost::barrier, 1);
  p.complete(0, {1});
  p.collective(1, Cost::barrier);
  EXPECT_THAT(error_of(p), HasSubstr("do not match: rank 0 calls MPI_Ibarrier"));
  ReactingSource roots(2);
  roots.icollective(0, Cost::bcast, 1, {}, 0);
  roots.icollective(1, Cost::bcast, 1, {}, 1);
  EXPECT_THAT(error_of(roots), HasSubstr("do not match"));
  // A persistent one's starting call says nothing.
  ReactingSource start(2);
  start.icollective(0, Cost::bcast, 1, {}, 0);
  start.complete(0, {1});
  start.icollective(1, Cost::bcast, 1, {}, 0).name = start.add_name("MPI_Start");
  start.complete(1, {1});
  start.finalize_all();
  EXPECT_EQ(error_of(start), "no error");
}

TEST(PostedCollective, DeadlockNamesIt) {
  ReactingSource p(3);
  for (int r = 0; r < 2; ++r) {
    p.icollective(r, Cost::bcast, 1, {}, 0);
    p.icollective(r, Cost::barrier, 2);
    p.complete(r, {1, 2});
  }
  p.icollective(2, Cost::bcast, 1, {}, 0);
  p.complete(2, {1});
  p.recv(2, 0);
  const std::string what = error_of(p);
  EXPECT_THAT(what, HasSubstr("MPI_Waitall of MPI_Ibarrier on MPI_COMM_WORLD"));
  EXPECT_THAT(what, HasSubstr("rank 2 in event 3, MPI_Recv from rank 0"));
}

TEST(PostedCollective, ComesFromATraceAndGoesIntoOne) {
  ReactingSource p(2);
  for (int r = 0; r < 2; ++r) {
    p.icollective(r, Cost::bcast, 1, us(10 * r), 1, 8);
    p.complete(r, {1});
  }
  p.finalize_all();
  const Reaction r = react(p);
  static const machine::MachineModel model = test_machine();
  const machine::Timing timing(model, machine::Bound::avg);
  TraceSource source(r.trace);
  MemorySource packed(std::make_shared<Program>(source));
  const Replayed again = replay(packed);
  EXPECT_EQ(again.trace.ranks, r.trace.ranks);
}

}  // namespace
}  // namespace foretrace::sim
