// Every way to write GOAL wrongly says where, what was expected and what is there.
#include "text_programs.hpp"

namespace foretrace::sim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string parse_error(const std::string& text) {
  return error_of([&] { parse_goal(text, "x.goal"); });
}
// In a block of rank 0 of 4, from line 3 on.
std::string body_error(const std::string& body) {
  return parse_error("num_ranks 4\nrank 0 {\n" + body + "\n}\n");
}

TEST(GoalError, File) {
  EXPECT_EQ(parse_error(""), "x.goal:1: expected num_ranks, found the end of the file");
  EXPECT_EQ(parse_error("\nrank 0 {\n}"),
            "x.goal:2: expected num_ranks before any group or rank, found 'rank'");
  EXPECT_EQ(parse_error("num_rank 4"), "x.goal:1: expected num_ranks, found 'num_rank'");
  EXPECT_EQ(parse_error("num_ranks 4\nnum_ranks 4"),
            "x.goal:2: expected one num_ranks, found another");
  EXPECT_EQ(parse_error("num_ranks 0"),
            "x.goal:1: expected the number of ranks: a number from 1 to 16777216, found 0");
  EXPECT_EQ(parse_error("num_ranks 99999999999999999999"),
            "x.goal:1: expected a number below 2^63, found '99999999999999999999'");
  EXPECT_EQ(parse_error("num_ranks 4\nranks 0 {"),
            "x.goal:2: expected rank or group, found 'ranks'");
  EXPECT_EQ(parse_error("num_ranks 4 /* no end"),
            "x.goal:1: expected */ after this comment, found the end of the file");
  EXPECT_EQ(parse_error("num_ranks 4 \x01"),
            "x.goal:1: expected a word, a number or a sign of the language, found '\\x01'");
}

TEST(GoalError, Blocks) {
  EXPECT_EQ(parse_error("num_ranks 4\nrank 0 {\ncalc 1\n"),
            "x.goal:4: expected } at the end of the block that begins in line 2, found the end of "
            "the file");
  EXPECT_EQ(parse_error("num_ranks 4\nrank 4 {\n}"),
            "x.goal:2: expected ranks from 0 to 3, found rank 4");
  EXPECT_EQ(parse_error("num_ranks 4\nrank 0..4 {\n}"),
            "x.goal:2: expected ranks from 0 to 3, found rank 4");
  EXPECT_EQ(parse_error("num_ranks 4\nrank 1 {\n}\nrank 0..2 {\n}"),
            "x.goal:4: expected one block for each rank, found a second one for rank 1; the first "
            "is in line 2");
  EXPECT_EQ(parse_error("num_ranks 4\nrank me {\n}"),
            "x.goal:2: expected a rank: a number, size or (, found 'me'");
  EXPECT_EQ(body_error("repeat 3\ncalc 1"),
            "x.goal:4: expected '{' before what is repeated or belongs to the phase, found 'calc'");
  EXPECT_EQ(body_error("phase x {"), "x.goal:3: expected the phase's name in quotes, found 'x'");
  EXPECT_EQ(body_error("phase \"x {"), "x.goal:3: expected a closing \" on this line, found none");
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "repeat 1 {\n";
  EXPECT_THAT(body_error(deep), HasSubstr("expected blocks nested at most 32 deep"));
}

TEST(GoalError, Statements) {
  EXPECT_THAT(body_error("cacl 100"),
              StartsWith("x.goal:3: expected calc, send, recv, wait, a collective"));
  EXPECT_THAT(body_error("cacl 100"), HasSubstr("found 'cacl'"));
  EXPECT_EQ(body_error("7"), "x.goal:3: expected an operation, a label or }, found '7'");
  EXPECT_EQ(body_error("send 8 to 1"),
            "x.goal:3: expected b after the size (or kB, MB, GB, KiB, MiB, GiB), found 'to'");
  EXPECT_EQ(body_error("send 8b from 1"), "x.goal:3: expected to after the size, found 'from'");
  EXPECT_EQ(body_error("recv 8b to 1"), "x.goal:3: expected from after the size, found 'to'");
  EXPECT_EQ(body_error("send 1.5b to 1"), "x.goal:3: expected a size: a whole number, found '1.5'");
  EXPECT_EQ(body_error("send -8b to 1"),
            "x.goal:3: expected a size from 0 to 2^63-1 bytes, found -8b");
  EXPECT_EQ(body_error("send 9223372036854775807KiB to 1"),
            "x.goal:3: expected a size from 0 to 2^63-1 bytes, found 9223372036854775807KiB");
  EXPECT_EQ(body_error("send 8b to 4"),
            "x.goal:3: expected a rank from 0 to 3 to send to, found 4");
  EXPECT_EQ(body_error("send 8b to -1"),
            "x.goal:3: expected a rank from 0 to 3 to send to, found -1");
  EXPECT_EQ(body_error("recv 8b from 4"),
            "x.goal:3: expected a rank from 0 to 3 to receive from (or any), found 4");
  EXPECT_EQ(body_error("send 8b to 1 tag -1"),
            "x.goal:3: expected a tag from 0 to 2147483647, found -1");
  EXPECT_EQ(body_error("recv 8b from 1 tag 2147483648"),
            "x.goal:3: expected a tag from 0 to 2147483647 or any, found 2147483648");
  EXPECT_EQ(body_error("send 8b to 1 tga 5"),
            "x.goal:3: expected tag, cpu, nic, if, requires, irequires or the end of the line, "
            "found 'tga'");
  EXPECT_EQ(body_error("calc 1 nic 0"),
            "x.goal:3: expected cpu, if, requires, irequires or the end of the line, found 'nic'");
  EXPECT_EQ(body_error("calc -1"), "x.goal:3: expected a time from 0 to 4000000 s, found '-'");
  EXPECT_EQ(body_error("calc 4000001 s"),
            "x.goal:3: expected a time from 0 to 4000000 s, found '4000001'");
  EXPECT_EQ(body_error("calc 1e300"),
            "x.goal:3: expected a time from 0 to 4000000 s, found '1e300'");
  EXPECT_EQ(body_error("calc 1 cpu 256"),
            "x.goal:3: expected cpu: a number from 0 to 255, found 256");
}

TEST(GoalError, Expressions) {
  EXPECT_EQ(body_error("send 8b to (me+1"),
            "x.goal:3: expected ')' after this expression, found the end of the line");
  EXPECT_EQ(body_error("send 8b to you"),
            "x.goal:3: expected a rank: a number, me, size or (, found 'you'");
  EXPECT_EQ(body_error("repeat 2 as k {\nsend 8b to j\n}"),
            "x.goal:4: expected a rank: a number, me, size, k or (, found 'j'");
  EXPECT_EQ(
      body_error("repeat 2 as me {\n}"),
      "x.goal:3: expected a new name for a variable, found 'me', which has a meaning already");
  EXPECT_EQ(body_error("send 8b to 1/0"), "x.goal:3: expected a number, found a division by zero");
  EXPECT_EQ(body_error("send 8b to 9223372036854775807+1"),
            "x.goal:3: expected a number, found a number beyond 64 bits");
  EXPECT_EQ(body_error("send 8b to 1<<63"),
            "x.goal:3: expected a number, found a shift by less than 0 or more than 62");
  std::string deep(30, '('), chain = "1";
  for (int i = 0; i < 30; ++i) chain = "1+(" + chain + ")";
  EXPECT_EQ(body_error("send 8b to " + chain),
            "x.goal:3: expected a simpler expression, found one with more than 24 values at once");
  EXPECT_EQ(body_error("send 8b to " + std::string(200, '-') + "1"),
            "x.goal:3: expected a simpler expression, found one nested 100 deep");
}

TEST(GoalError, Labels) {
  EXPECT_EQ(body_error("a: calc 1\na: calc 2"),
            "x.goal:4: expected a new label, found 'a', which stands in line 3");
  EXPECT_EQ(body_error("a: calc 1\na requires b"),
            "x.goal:4: expected a label of this block, found 'b', which stands before no operation "
            "of it");
  EXPECT_EQ(body_error("a: calc 1\nb requires a"),
            "x.goal:4: expected a label of this block, found 'b', which stands before no operation "
            "of it");
  EXPECT_EQ(body_error("calc 1 requires z"),
            "x.goal:3: expected a label of this block, found 'z', which stands before no operation "
            "of it");
  // Labels are a block's own.
  EXPECT_THAT(body_error("a: calc 1\nrepeat 1 {\nb: calc 1 requires a\n}"),
              StartsWith("x.goal:5: expected a label of this block, found 'a'"));
  EXPECT_THAT(parse_error("num_ranks 2\nrank 0 {\na: calc 1\n}\nrank 1 {\nb: calc 1\n"
                          "b requires a\n}"),
              StartsWith("x.goal:7: expected a label of this block, found 'a'"));
  EXPECT_EQ(body_error("a: calc 1\na requires 5"), "x.goal:4: expected a label, found '5'");
}

TEST(GoalError, Circles) {
  EXPECT_EQ(body_error("a: calc 1\na requires a"),
            "x.goal:3: expected requirements without a circle, found line 3 after line 3");
  EXPECT_EQ(body_error("a: calc 1\nb: calc 1\nc: calc 1\nd: calc 1 requires a\nb requires c\n"
                       "c irequires b"),
            "x.goal:4: expected requirements without a circle, found line 4 after line 5 after "
            "line 4");
  // What stands above a wait cannot need what stands below.
  EXPECT_THAT(body_error("a: calc 1\nwait\nb: calc 1\na requires b"),
              HasSubstr("without a circle"));
}

TEST(GoalError, Groups) {
  const std::string start = "num_ranks 4\n";
  EXPECT_EQ(parse_error(start + "group g { 0 4 }"),
            "x.goal:2: expected ranks from 0 to 3 in rising order, found 4..4 step 1");
  EXPECT_EQ(parse_error(start + "group g { 3..1 }"),
            "x.goal:2: expected ranks from 0 to 3 in rising order, found 3..1 step 1");
  EXPECT_EQ(parse_error(start + "group g { 0..3 step 0 }"),
            "x.goal:2: expected ranks from 0 to 3 in rising order, found 0..3 step 0");
  EXPECT_EQ(parse_error(start + "group g { 0 1\n0 }"),
            "x.goal:3: expected each rank once in a group, found rank 0 again");
  EXPECT_EQ(parse_error(start + "group g { }"),
            "x.goal:2: expected a rank: a number, size or (, found '}'");
  EXPECT_EQ(parse_error(start + "group g { 0 }\ngroup g { 1 }"),
            "x.goal:3: expected a new name for a group, found 'g', which is a group already");
  EXPECT_EQ(
      parse_error(start + "group world { 0 }"),
      "x.goal:2: expected a new name for a group, found 'world', which has a meaning already");
  EXPECT_EQ(body_error("barrier on g"),
            "x.goal:3: expected a group, found 'g', which is none; groups are given before the "
            "ranks that use them");
  const std::string family = start + "group r[i = 2..3] { i }\nrank 0 {\n";
  EXPECT_EQ(
      parse_error(family + "barrier on r\n}"),
      "x.goal:4: expected '[' after the name of a family of groups, found the end of the line");
  EXPECT_EQ(parse_error(family + "barrier on r[1]\n}"),
            "x.goal:4: expected a number from 2 to 3 for this family, found 1");
  EXPECT_EQ(body_error("barrier root 0"),
            "x.goal:3: expected root, on, if, requires, irequires or the end of the line, found "
            "'root'");
}

// Faults that show only when a rank gets there.
TEST(GoalError, WhileRunning) {
  const auto run = [](const std::string& body, int rank) {
    return error_of([&] {
      goal_operations("num_ranks 4\ngroup r[i = 2..3] { i }\nrank all {\n" + body + "\n}", rank);
    });
  };
  EXPECT_EQ(run("send 8b to me+1", 2), "");
  EXPECT_EQ(run("send 8b to me+1", 3),
            "x.goal:4: rank 3: expected a rank to send to from 0 to 3, found 4");
  EXPECT_EQ(run("recv 8b from me-1", 0),
            "x.goal:4: rank 0: expected a rank to receive from from 0 to 3, found -1");
  EXPECT_EQ(run("send (me-1)b to 0", 0),
            "x.goal:4: rank 0: expected a size from 0 to 9223372036854775807, found -1");
  EXPECT_EQ(run("calc (0-me)", 1),
            "x.goal:4: rank 1: expected a time in picoseconds from 0 to 4000000000000000000, found "
            "-1000");
  EXPECT_EQ(run("send 1b to 0 tag me-2", 1),
            "x.goal:4: rank 1: expected a tag from 0 to 2147483647, found -1");
  EXPECT_EQ(run("send 1b to 4/me", 0),
            "x.goal:4: rank 0: expected a number, found a division by zero");
  EXPECT_EQ(run("bcast 1b root me+1", 3),
            "x.goal:4: rank 3: expected a root within the group from 0 to 3, found 4");
  EXPECT_EQ(run("barrier on r[me]", 1),
            "x.goal:4: rank 1: expected a group of the family from 2 to 3, found 1");
  EXPECT_EQ(run("gather 1b root 1 on r[2]", 2),
            "x.goal:4: rank 2: expected a root within the group from 0 to 0, found 1");
  EXPECT_EQ(
      run("repeat (me-3) { barrier }", 1),
      "x.goal:4: rank 1: expected a number of rounds from 0 to 9223372036854775807, found -2");
  EXPECT_EQ(
      run("repeat 0-1 { barrier }", 1),
      "x.goal:4: rank 1: expected a number of rounds from 0 to 9223372036854775807, found -1");
  EXPECT_EQ(run("repeat 30000000 as k {\n}", 0),
            "x.goal:4: rank 0: this repeat has no message in 20000000 rounds; compute its sum by "
            "hand");
}

TEST(GoalError, FilesThatCannotBeRead) {
  EXPECT_EQ(error_of([] { read_goal("/nowhere/x.goal"); }),
            "/nowhere/x.goal: cannot read it: No such file or directory");
  EXPECT_EQ(error_of([] { read_goal("/"); }), "/: cannot read it: Is a directory");
}

}  // namespace
}  // namespace foretrace::sim
