// The extensions of GOAL: units, expressions, groups, collectives, repeats.
#include "text_programs.hpp"

namespace foretrace::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> lines(const std::string& body, int rank = 0, int ranks = 4,
                               const std::string& before = "") {
  return goal_operations(
      "num_ranks " + std::to_string(ranks) + "\n" + before + "\nrank all {\n" + body + "\n}\n",
      rank);
}

// What an expression of rank 1 of 4 comes to, as a tag.
std::int64_t value(const std::string& expression) {
  GoalSource source(
      parse_goal("num_ranks 4\nrank 1 { send 0b to 0 tag (" + expression + ") }", "x.goal"));
  Operation operation;
  source.next(WorldRank(1), operation);
  source.next(WorldRank(1), operation);
  return operation.send.tag;
}

TEST(GoalExpression, RulesOfCButModulo) {
  EXPECT_EQ(value("me"), 1);
  EXPECT_EQ(value("size"), 4);
  EXPECT_EQ(value("1+2*3"), 7);
  EXPECT_EQ(value("(1+2)*3"), 9);
  EXPECT_EQ(value("10-4-3"), 3);
  EXPECT_EQ(value("100/7/2"), 7);
  EXPECT_EQ(value("(me-2)%size"), 3);  // C: -1
  EXPECT_EQ(value("(0-7)%-3"), 2);
  EXPECT_EQ(value("5%-1"), 0);
  EXPECT_EQ(value("-3+4"), 1);
  EXPECT_EQ(value("--3"), 3);
  EXPECT_EQ(value("1<<4"), 16);
  EXPECT_EQ(value("100>>me"), 50);
  EXPECT_EQ(value("me^3"), 2);
  EXPECT_EQ(value("6&3|8"), 10);
  EXPECT_EQ(value("1<2"), 1);
  EXPECT_EQ(value("2<=1"), 0);
  EXPECT_EQ(value("me==1&&size!=4||0"), 0);
  EXPECT_EQ(value("me>=1&&size>3"), 1);
  EXPECT_EQ(value("!me"), 0);
  EXPECT_EQ(value("!(me-1)*7"), 7);
}

TEST(GoalLanguage, ExpressionsWithoutBracketsAndSizes) {
  EXPECT_THAT(lines("send (me*8+8)b to (me+1)%size tag me", 3),
              ElementsAre("MPI_Isend to 0 tag 3 32b #1", "MPI_Wait #1"));
  EXPECT_THAT(lines("send 2KiB to me^1; send 3 kB to 0; send 1MiB to 0; send 1GB to 0", 2),
              ElementsAre("MPI_Isend to 3 tag 0 2048b #1", "MPI_Isend to 0 tag 0 3000b #2",
                          "MPI_Isend to 0 tag 0 1048576b #3", "MPI_Isend to 0 tag 0 1000000000b #4",
                          "MPI_Waitall #1 #2 #3 #4"));
}

// Lines that are read in one step, and the same word by word.
TEST(GoalLanguage, PlainLinesMeanWhatOthersDo) {
  const auto sent = [](const char* message) { return lines(message, 1)[0]; };
  EXPECT_EQ(sent("send 8b to 3"), "MPI_Isend to 3 tag 0 8b #1");
  EXPECT_EQ(sent("send (8)b to 3"), "MPI_Isend to 3 tag 0 8b #1");
  EXPECT_EQ(sent("send\t8 b  to 3   tag 2147483647 \r\n"), sent("send 8b to 3 tag (1<<31)-1"));
  EXPECT_EQ(sent("recv 123456789012345678b from 0 tag 7"),
            sent("recv (123456789012345678)b from 0 tag 7"));
  EXPECT_EQ(sent("recv 1234567890123456789b from 0"), sent("recv (1234567890123456789)b from 0"));
  EXPECT_THROW(sent("send 12345678901234567890b to 0"), Error);
  EXPECT_EQ(sent("send 8b to 1+2"), "MPI_Isend to 3 tag 0 8b #1");
  EXPECT_EQ(sent("send 8b to 3 // tag 5"), "MPI_Isend to 3 tag 0 8b #1");
  EXPECT_EQ(sent("send 8b to 3 tag 5-1"), "MPI_Isend to 3 tag 4 8b #1");
  EXPECT_EQ(sent("recv 8b from 4294967295"), sent("recv 8b from any"));
  EXPECT_EQ(lines("a: recv 8b from 0\nb: send 8b to 0\nb requires a"),
            lines("a: recv 8b from 0\nb: send 8b to 0 requires a"));
  EXPECT_EQ(lines("a: recv 8b from 0\nb: send 8b to 0\nc: send 8b to 1\nc requires a, b"),
            lines("a: recv 8b from 0\nb: send 8b to 0\nc: send 8b to 1 requires b, a"));
}

TEST(GoalLanguage, Times) {
  // ns without a unit; fractions are rounded to picoseconds.
  EXPECT_THAT(lines("calc 100\nbarrier"), ElementsAre("+100000ps MPI_Barrier 0b on 0"));
  EXPECT_THAT(lines("calc 1.5\ncalc 2ps"), ElementsAre("+1502ps MPI_Finalize"));
  EXPECT_THAT(lines("calc 1.5us"), ElementsAre("+1500000ps MPI_Finalize"));
  EXPECT_THAT(lines("calc 2e-3 ms"), ElementsAre("+2000000ps MPI_Finalize"));
  EXPECT_THAT(lines("calc 3s"), ElementsAre("+3000000000000ps MPI_Finalize"));
  EXPECT_THAT(lines("calc (me*10)ns", 2), ElementsAre("+20000ps MPI_Finalize"));
  EXPECT_THAT(lines("calc 0"), IsEmpty());
}

TEST(GoalLanguage, CommentsAndSeparators) {
  EXPECT_THAT(goal_operations("/* two\nlines */ num_ranks 2 // here\r\nrank 0 { // a { in it\n"
                              "a: calc 1; b: send 0b to 1 ; ; b requires a }",
                              0),
              ElementsAre("+1000ps MPI_Isend to 1 tag 0 0b #1", "MPI_Wait #1"));
}

TEST(GoalLanguage, KeywordsMayBeLabels) {
  EXPECT_THAT(
      goal_operations("num_ranks 2\nrank 0 {\nwait: calc 1\ncpu: send 0b to 1\n"
                      "cpu requires wait\nphase: calc 2\nphase requires cpu\n}",
                      0),
      ElementsAre("+1000ps MPI_Isend to 1 tag 0 0b #1", "MPI_Wait #1", "+2000ps MPI_Finalize"));
}

TEST(GoalLanguage, RequirementsInlineAndInLists) {
  // Labels may stand further down.
  EXPECT_THAT(goal_operations("num_ranks 2\nrank 0 {\n"
                              "s: send 1b to 1 requires a, b\n"
                              "a: recv 2b from 1\nb: recv 3b from 1 irequires c\nc: calc 4\n}",
                              0),
              ElementsAre("MPI_Irecv from 1 tag 0 2b #1", "+4000ps MPI_Irecv from 1 tag 0 3b #2",
                          "MPI_Waitall #1 #2", "MPI_Isend to 1 tag 0 1b #2", "MPI_Wait #2"));
}

TEST(GoalLanguage, WaitParts) {
  const auto found = lines("send 1b to me^1\nrecv 1b from me^1\nwait\ncalc 5\nwait\nbarrier");
  EXPECT_THAT(found, ElementsAre("MPI_Isend to 1 tag 0 1b #1", "MPI_Irecv from 1 tag 0 1b #2",
                                 "MPI_Waitall #1 #2", "+5000ps MPI_Barrier 0b on 0"));
  EXPECT_THAT(lines("wait\nwait\ncalc 1"), ElementsAre("+1000ps MPI_Finalize"));
}

TEST(GoalLanguage, Conditions) {
  const std::string body =
      "send 1b to me-1 if me > 0\nsend 1b to me+1 if me < size-1\n"
      "recv 1b from me-1 if me>0\nrecv 1b from me+1 if me<size-1\nwait\ncalc 5";
  EXPECT_THAT(lines(body, 0),
              ElementsAre("MPI_Isend to 1 tag 0 1b #2", "MPI_Irecv from 1 tag 0 1b #4",
                          "MPI_Waitall #2 #4", "+5000ps MPI_Finalize"));
  EXPECT_THAT(lines(body, 3),
              ElementsAre("MPI_Isend to 2 tag 0 1b #1", "MPI_Irecv from 2 tag 0 1b #3",
                          "MPI_Waitall #1 #3", "+5000ps MPI_Finalize"));
  // Alone, none of it happens, and nothing is waited for.
  EXPECT_THAT(lines(body, 0, 1), ElementsAre("+5000ps MPI_Finalize"));
  EXPECT_THAT(lines("send 1b to 0 if 0\nsend 2b to 0 if 1"),
              ElementsAre("MPI_Isend to 0 tag 0 2b #2", "MPI_Wait #2"));
  EXPECT_FALSE(parse_goal("num_ranks 4\nrank all {\n" + body + "\n}", "x.goal").races);
}

TEST(GoalLanguage, Collectives) {
  EXPECT_THAT(lines("a: barrier\nb: bcast 8b root 2 requires a\nc: reduce 8b requires b\n"
                    "d: allreduce 1kB requires c\ne: reduce_scatter_block 8b\ne requires d\n"
                    "scan 4b requires e",
                    1),
              ElementsAre("MPI_Barrier 0b on 0", "MPI_Bcast root 2 8b on 0",
                          "MPI_Reduce root 0 8b on 0", "MPI_Allreduce 1000b on 0",
                          "MPI_Reduce_scatter_block 8b on 0", "MPI_Scan 4b on 0"));
}

TEST(GoalLanguage, Groups) {
  const std::string groups =
      "group even { 0..size-1 step 2 }\ngroup back { 3, 1 0 }\n"
      "group row[i = 0..1] { 2*i..2*i+1 }";
  const std::string body =
      "allreduce 8b on even if me%2==0\nbcast 8b on back root 1 if me!=2\nbarrier on row[me/2]\n"
      "barrier on row[1] if me>1\ngather 8b root me%2*0+1 on row[me/2]\nbarrier on world";
  EXPECT_THAT(
      lines(body, 0, 4, groups),
      ElementsAre("MPI_Allreduce 8b on 1", "MPI_Bcast root 1 8b on 2", "MPI_Barrier 0b on 3",
                  "MPI_Gather root 1 8b on 3", "MPI_Barrier 0b on 0"));
  EXPECT_THAT(lines(body, 3, 4, groups),
              ElementsAre("MPI_Bcast root 1 8b on 2", "MPI_Barrier 0b on 4", "MPI_Barrier 0b on 4",
                          "MPI_Gather root 1 8b on 4", "MPI_Barrier 0b on 0"));
  GoalSource source(parse_goal("num_ranks 4\n" + groups, "x.goal"));
  EXPECT_THAT(source.comm(0).members,
              ElementsAre(WorldRank(0), WorldRank(1), WorldRank(2), WorldRank(3)));
  EXPECT_THAT(source.comm(1).members, ElementsAre(WorldRank(0), WorldRank(2)));
  EXPECT_THAT(source.comm(2).members, ElementsAre(WorldRank(3), WorldRank(1), WorldRank(0)));
  EXPECT_THAT(source.comm(4).members, ElementsAre(WorldRank(2), WorldRank(3)));
  EXPECT_EQ(source.comm(0).key, 0u);
  EXPECT_NE(source.comm(1).key, source.comm(2).key);
}

TEST(GoalLanguage, RankBlocks) {
  const std::string text =
      "num_ranks 6\nrank 0..3 step 3, 5\n{\ncalc 1\n}\nrank 1..2 {\ncalc 2\n}\n";
  GoalSource source(parse_goal(text, "x.goal"));
  EXPECT_THAT(operations(source, 0), ElementsAre("+1000ps MPI_Finalize"));
  EXPECT_THAT(operations(source, 1), ElementsAre("+2000ps MPI_Finalize"));
  EXPECT_THAT(operations(source, 3), ElementsAre("+1000ps MPI_Finalize"));
  EXPECT_THAT(operations(source, 4), IsEmpty());
  EXPECT_THAT(operations(source, 5), ElementsAre("+1000ps MPI_Finalize"));
}

TEST(GoalLanguage, Repeat) {
  EXPECT_THAT(lines("send 9b to 0\nrepeat 2 as k {\nsend 1b to 0 tag k\nwait\n"
                    "repeat me as j { send 1b to 0 tag 10*k+j }\n}",
                    2),
              ElementsAre("MPI_Isend to 0 tag 0 9b #1", "MPI_Isend to 0 tag 0 1b #2", "MPI_Wait #2",
                          "MPI_Isend to 0 tag 0 1b #3", "MPI_Wait #3", "MPI_Isend to 0 tag 1 1b #3",
                          "MPI_Wait #3", "MPI_Isend to 0 tag 1 1b #2", "MPI_Wait #2",
                          "MPI_Isend to 0 tag 10 1b #3", "MPI_Wait #3",
                          "MPI_Isend to 0 tag 11 1b #3", "MPI_Wait #3", "MPI_Wait #1"));
  EXPECT_THAT(lines("repeat 0 { barrier }\nrepeat me { barrier }", 1),
              ElementsAre("MPI_Barrier 0b on 0"));
}

// A round that hands out nothing is not walked a billion times.
TEST(GoalLanguage, IdleRepeatIsMultiplied) {
  EXPECT_THAT(lines("calc 1\nrepeat 1000000000 { calc 2\nrepeat 1000 { calc 3 } }"),
              ElementsAre("+3002000000001000ps MPI_Finalize"));
  EXPECT_THAT(lines("repeat 9000000000000000000 { repeat 9000000000000000000 { } }"), IsEmpty());
  EXPECT_THAT(lines("repeat 3 as k { calc k }"), ElementsAre("+3000ps MPI_Finalize"));
  // Rounds that hand something out are.
  EXPECT_THAT(lines("repeat 2 { calc 1\nrepeat 2 { calc 1\nbarrier } }"),
              ElementsAre("+2000ps MPI_Barrier 0b on 0", "+1000ps MPI_Barrier 0b on 0",
                          "+2000ps MPI_Barrier 0b on 0", "+1000ps MPI_Barrier 0b on 0"));
}

TEST(GoalLanguage, Phases) {
  EXPECT_THAT(lines("calc 1\na: phase \"set up\" {\nbarrier\ncalc 2\n}\n"
                    "phase \"run\" requires a { phase \"set up\" { } }"),
              ElementsAre("+1000ps set up begins", "MPI_Barrier 0b on 0", "+2000ps set up ends",
                          "run begins", "set up begins", "set up ends", "run ends"));
}

// A body is one piece: what is ready outside of it comes after it.
TEST(GoalLanguage, BlocksAreOnePiece) {
  EXPECT_THAT(lines("repeat 1 {\na: recv 1b from 1\ns: send 1b to 1 requires a\n}\nbarrier"),
              ElementsAre("MPI_Irecv from 1 tag 0 1b #1", "MPI_Wait #1",
                          "MPI_Isend to 1 tag 0 1b #1", "MPI_Wait #1", "MPI_Barrier 0b on 0"));
}

TEST(GoalLanguage, HaloExchangeInTenLines) {
  const std::string text =
      "num_ranks 16\n"
      "rank all {\n"
      "  repeat 2 {\n"
      "    send 8KiB to (me+1)%size; send 8KiB to (me-1)%size\n"
      "    recv 8KiB from (me+1)%size; recv 8KiB from (me-1)%size\n"
      "    wait\n"
      "    calc 100us\n"
      "  }\n"
      "  allreduce 8b\n"
      "}\n";
  EXPECT_FALSE(parse_goal(text, "x.goal").races);
  EXPECT_THAT(goal_operations(text, 0),
              ElementsAre("MPI_Isend to 1 tag 0 8192b #1", "MPI_Isend to 15 tag 0 8192b #2",
                          "MPI_Irecv from 1 tag 0 8192b #3", "MPI_Irecv from 15 tag 0 8192b #4",
                          "MPI_Waitall #1 #2 #3 #4", "+100000000ps MPI_Isend to 1 tag 0 8192b #1",
                          "MPI_Isend to 15 tag 0 8192b #2", "MPI_Irecv from 1 tag 0 8192b #3",
                          "MPI_Irecv from 15 tag 0 8192b #4", "MPI_Waitall #1 #2 #3 #4",
                          "+100000000ps MPI_Allreduce 8b on 0"));
}

TEST(GoalLanguage, NotesWhatHasNoEffect) {
  const GoalProgram program = parse_goal(
      "num_ranks 2\nrank 0 {\ncalc 1 cpu 0\ncalc 1 cpu 2\nsend 1b to 1 cpu 3 nic 1\n}", "x.goal");
  EXPECT_THAT(program.notes,
              ElementsAre("x.goal:4: cpu 2 has no effect: a rank has one processor and one way "
                          "into the network",
                          "x.goal:5: nic 1 has no effect: a rank has one processor and one way "
                          "into the network"));
}

}  // namespace
}  // namespace foretrace::sim
