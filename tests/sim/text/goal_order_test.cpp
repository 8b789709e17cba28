// GOAL programs: which operations come out, in which order, with which waits.
#include "text_programs.hpp"

namespace foretrace::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(GoalOrder, ChainNeedsNoOrderOfArrival) {
  const std::string text =
      "num_ranks 2\n"
      "rank 0 {\n"
      "l1: calc 100 cpu 0\n"
      "l2: send 8b to 1 tag 3 cpu 0 nic 0\n"
      "l3: recv 16b from 1\n"
      "l2 requires l1\n"
      "l3 requires l2\n"
      "}\n"
      "rank 1 {\n"
      "l1: recv 8b from 0 tag 3\n"
      "l2: send 16b to 0\n"
      "l2 requires l1\n"
      "}\n";
  EXPECT_FALSE(parse_goal(text, "x.goal").races);
  // A request's number is free again after its wait.
  EXPECT_THAT(goal_operations(text, 0),
              ElementsAre("+100000ps MPI_Isend to 1 tag 3 8b #1", "MPI_Wait #1",
                          "MPI_Irecv from 1 tag 0 16b #1", "MPI_Wait #1"));
  EXPECT_THAT(goal_operations(text, 1), ElementsAre("MPI_Irecv from 0 tag 3 8b #1", "MPI_Wait #1",
                                                    "MPI_Isend to 0 tag 0 16b #1", "MPI_Wait #1"));
}

TEST(GoalOrder, WithoutRequirementsAllIsUnderWayAtOnce) {
  EXPECT_THAT(goal_operations("num_ranks 2\nrank 0 {\nrecv 1b from 1\nsend 2b to 1\n"
                              "calc 5\nrecv 0b from 1 tag 1\n}",
                              0),
              ElementsAre("MPI_Irecv from 1 tag 0 1b #1", "MPI_Isend to 1 tag 0 2b #2",
                          "+5000ps MPI_Irecv from 1 tag 1 0b #3", "MPI_Waitall #1 #2 #3"));
}

TEST(GoalOrder, RankWithoutBlockOrWithAnEmptyOneDoesNothing) {
  EXPECT_THAT(goal_operations("num_ranks 3\nrank 1 {\n}\n", 0), IsEmpty());
  EXPECT_THAT(goal_operations("num_ranks 3\nrank 1 {\n}\n", 1), IsEmpty());
}

TEST(GoalOrder, ComputationAtTheEndGoesIntoFinalize) {
  EXPECT_THAT(goal_operations("num_ranks 1\nrank 0 {\ncalc 7\n}", 0),
              ElementsAre("+7000ps MPI_Finalize"));
}

// c becomes ready with the end of a, before d, which stands above it but
// becomes ready with the end of b.
TEST(GoalOrder, ReadinessComesBeforeTheText) {
  const std::string text =
      "num_ranks 2\nrank 0 {\n"
      "d: send 4b to 1\n"
      "c: send 3b to 1\n"
      "a: calc 1\n"
      "b: calc 2\n"
      "d requires b\n"
      "c requires a\n"
      "}\n";
  EXPECT_THAT(goal_operations(text, 0),
              ElementsAre("+3000ps MPI_Isend to 1 tag 0 3b #1", "MPI_Isend to 1 tag 0 4b #2",
                          "MPI_Waitall #1 #2"));
}

// Both become ready with the end of a: the order of the text decides.
TEST(GoalOrder, TextDecidesBetweenThoseThatBecomeReadyTogether) {
  EXPECT_THAT(goal_operations("num_ranks 2\nrank 0 {\nx: send 1b to 1\ny: send 2b to 1\na: calc 1\n"
                              "y requires a\nx requires a\n}",
                              0),
              ElementsAre("+1000ps MPI_Isend to 1 tag 0 1b #1", "MPI_Isend to 1 tag 0 2b #2",
                          "MPI_Waitall #1 #2"));
}

// A receive has started when it is posted, and has ended when it is waited for.
TEST(GoalOrder, IrequiresIsAfterTheStart) {
  EXPECT_THAT(goal_operations("num_ranks 2\nrank 0 {\nr: recv 1b from 1\ns: send 2b to 1\n"
                              "s irequires r\n}",
                              0),
              ElementsAre("MPI_Irecv from 1 tag 0 1b #1", "MPI_Isend to 1 tag 0 2b #2",
                          "MPI_Waitall #1 #2"));
}

// s needs both receives, t needs them and s: at the wait everything depends on
// both, so that it does not matter which comes first.
TEST(GoalOrder, JoinOfReceivesIsCertain) {
  const std::string text =
      "num_ranks 3\nrank 0 {\n"
      "a: recv 1b from 1\n"
      "b: recv 1b from 2\n"
      "e: recv 1b from 2 tag 9\n"
      "s: send 2b to 1\n"
      "t: send 2b to 2\n"
      "s requires a\ns requires b\nt requires a\nt requires b\nt requires s\n"
      "}\n";
  EXPECT_FALSE(parse_goal(text, "x.goal").races);
  // Nothing needs e: only the end waits for it.
  EXPECT_THAT(
      goal_operations(text, 0),
      ElementsAre("MPI_Irecv from 1 tag 0 1b #1", "MPI_Irecv from 2 tag 0 1b #2",
                  "MPI_Irecv from 2 tag 9 1b #3", "MPI_Waitall #1 #2", "MPI_Isend to 1 tag 0 2b #2",
                  "MPI_Wait #2", "MPI_Isend to 2 tag 0 2b #2", "MPI_Waitall #3 #2"));
}

// t needs a and b, s needs a: a is first in any case.
TEST(GoalOrder, LeastSetFirst) {
  const std::string text =
      "num_ranks 3\nrank 0 {\n"
      "a: recv 1b from 1\nb: recv 1b from 2\nt: send 2b to 2\ns: send 2b to 1\n"
      "t requires a\nt requires b\ns requires a\n}\n";
  EXPECT_FALSE(parse_goal(text, "x.goal").races);
  EXPECT_THAT(goal_operations(text, 0),
              ElementsAre("MPI_Irecv from 1 tag 0 1b #1", "MPI_Irecv from 2 tag 0 1b #2",
                          "MPI_Wait #1", "MPI_Isend to 1 tag 0 2b #1", "MPI_Wait #2",
                          "MPI_Isend to 2 tag 0 2b #2", "MPI_Waitall #1 #2"));
}

constexpr const char* kTwoPipelines =
    "num_ranks 3\nrank 0 {\n"
    "a: recv 1b from 1\nb: recv 1b from 2\n"
    "s: send 2b to 1\nt: send 2b to 2\nu: calc 5\n"
    "s requires a\nt requires b\nu requires t\n}\n";

TEST(GoalOrder, TwoPipelinesRace) {
  EXPECT_TRUE(parse_goal(kTwoPipelines, "x.goal").races);
  // b first: t goes out before s.
  int waits = 0;
  const Choose second_first = [&](const Operation& operation) -> std::vector<std::uint64_t> {
    EXPECT_EQ(operation.completing, Completing::some);
    ++waits;
    return {operation.completions.size() > 1 ? operation.completions[1].request
                                             : operation.completions[0].request};
  };
  // s, which nothing depends on, is waited for at the end only.
  EXPECT_THAT(goal_operations(kTwoPipelines, 0, second_first),
              ElementsAre("MPI_Irecv from 1 tag 0 1b #1", "MPI_Irecv from 2 tag 0 1b #2",
                          "MPI_Waitsome #1 #2", "MPI_Isend to 2 tag 0 2b #4", "MPI_Waitsome #1 #4",
                          "+5000ps MPI_Waitsome #1", "MPI_Isend to 1 tag 0 2b #3", "MPI_Wait #3"));
  EXPECT_EQ(waits, 3);
}

TEST(GoalOrder, RacingRequestsThatEndTogetherGoOnInTheOrderOfTheText) {
  // All at once, told in the other order.
  const Choose both = [](const Operation& operation) {
    std::vector<std::uint64_t> requests;
    for (const trace::Completion& c : operation.completions)
      requests.insert(requests.begin(), c.request);
    return requests;
  };
  EXPECT_THAT(goal_operations(kTwoPipelines, 0, both),
              ElementsAre("MPI_Irecv from 1 tag 0 1b #1", "MPI_Irecv from 2 tag 0 1b #2",
                          "MPI_Waitsome #1 #2", "MPI_Isend to 1 tag 0 2b #3",
                          "MPI_Isend to 2 tag 0 2b #4", "MPI_Waitsome #4", "+5000ps MPI_Wait #3"));
}

// A body that is not linear inside a repeat, a repeat inside one that is not.
TEST(GoalOrder, RepeatsAndGraphsNest) {
  const std::string text =
      "num_ranks 3\nrank 0 {\n"
      "repeat 2 {\n"
      "a: recv 1b from 1\nb: recv 1b from 2\n"
      "s: repeat 2 requires a {\nsend 2b to 1\n}\n"
      "t: barrier requires b\nu: calc 5 requires t\n"
      "}\n}\n";
  const std::vector<std::string> once = goal_operations(text, 0);
  EXPECT_THAT(once,
              ElementsAre("MPI_Irecv from 1 tag 0 1b #1", "MPI_Irecv from 2 tag 0 1b #2",
                          "MPI_Waitsome #1 #2", "MPI_Isend to 1 tag 0 2b #6", "MPI_Wait #6",
                          "MPI_Isend to 1 tag 0 2b #6", "MPI_Wait #6", "MPI_Barrier 0b on 0",
                          "+5000ps MPI_Irecv from 1 tag 0 1b #1", "MPI_Irecv from 2 tag 0 1b #2",
                          "MPI_Waitsome #1 #2", "MPI_Isend to 1 tag 0 2b #6", "MPI_Wait #6",
                          "MPI_Isend to 1 tag 0 2b #6", "MPI_Wait #6", "MPI_Barrier 0b on 0",
                          "+5000ps MPI_Finalize"));
}

TEST(GoalOrder, Wildcards) {
  const std::string text =
      "num_ranks 2\nrank 0 {\n"
      "recv 8b from any\nrecv 8b from -1 tag 2\nrecv 8b from 4294967295\n"
      "recv 8b from 1 tag any\nrecv 8b from 1 tag -1\nrecv 8b from any tag 4294967295\n}\n";
  const GoalProgram program = parse_goal(text, "x.goal");
  EXPECT_TRUE(program.races);
  EXPECT_THAT(goal_operations(text, 0),
              ElementsAre("MPI_Irecv from any tag 0 8b #1", "MPI_Irecv from any tag 2 8b #2",
                          "MPI_Irecv from any tag 0 8b #3", "MPI_Irecv from 1 tag any 8b #4",
                          "MPI_Irecv from 1 tag any 8b #5", "MPI_Irecv from any tag any 8b #6",
                          "MPI_Waitall #1 #2 #3 #4 #5 #6"));
  GoalSource source(program);
  Operation operation;
  source.next(WorldRank(0), operation);
  source.next(WorldRank(0), operation);
  EXPECT_FALSE(operation.recv.peer.valid());
  EXPECT_TRUE(operation.recv.any_source);
  for (int i = 0; i < 3; ++i) source.next(WorldRank(0), operation);
  EXPECT_EQ(operation.recv.tag, kAnyTag);
  EXPECT_EQ(operation.recv.peer, WorldRank(1));
}

TEST(GoalOrder, RewindStartsAgain) {
  GoalSource source(parse_goal(kTwoPipelines, "x.goal"));
  const std::vector<std::string> first = operations(source, 0);
  source.rewind();
  EXPECT_EQ(operations(source, 0), first);
}

}  // namespace
}  // namespace foretrace::sim
