#include "cli/validate/states.hpp"

#include <gtest/gtest.h>

namespace foretrace::cli {
namespace {

using enum FoundState;

// 50 ns in the measured state; messages take `multiple` times as long in the other.
machine::MachineModel model(double multiple) {
  machine::MachineModel model;
  model.cache_line = 50e-9;
  model.other_state_share = 0.3;
  machine::Regime regime;
  regime.other_state = multiple;
  model.functions["send"] = {"send", "", "", {regime}};
  return model;
}

FoundState found(double first, double last, double multiple = 3) {
  return found_state({first * 1e-9, last * 1e-9}, model(multiple));
}

// A factor of two is the same state, and both ends of the run count.
TEST(States, ByTheCacheLine) {
  EXPECT_EQ(found(50, 99), measured);
  EXPECT_EQ(found(26, 60), measured);
  EXPECT_EQ(found(101, 400), other);
  EXPECT_EQ(found(50, 220), neither);
  EXPECT_EQ(found(220, 50), neither);
}

// Where messages take longer in the other state, no faster line is of it, and the other way around.
TEST(States, AThirdOne) {
  EXPECT_EQ(found(20, 20), neither);
  EXPECT_EQ(found(220, 20), neither);
  EXPECT_EQ(found(20, 20, 0.4), other);
  EXPECT_EQ(found(220, 220, 0.4), neither);
}

TEST(States, NotKnown) {
  EXPECT_EQ(found(0, 220), unknown);
  EXPECT_EQ(found(220, 0), unknown);
  machine::MachineModel one = model(3);
  one.other_state_share = 0;
  EXPECT_EQ(found_state({220e-9, 220e-9}, one), unknown);
  machine::MachineModel silent = model(3);
  silent.cache_line = 0;
  EXPECT_EQ(found_state({220e-9, 220e-9}, silent), unknown);
}

using Runs = std::vector<std::size_t>;

TEST(States, MostRunsAreChosen) {
  const StateChoice most = choose_state({other, measured, other, neither, other});
  EXPECT_TRUE(most.is_other);
  EXPECT_EQ(most.chosen, (Runs{0, 2, 4}));
  EXPECT_EQ(most.left, (Runs{1}));
  EXPECT_FALSE(most.is_any);
  // As many in both: the measured one. Who does not know counts there.
  const StateChoice tie = choose_state({other, unknown, measured, other});
  EXPECT_FALSE(tie.is_other);
  EXPECT_EQ(tie.chosen, (Runs{1, 2}));
  EXPECT_EQ(tie.left, (Runs{0, 3}));
}

TEST(States, AllRunsWhereNoneIsInOne) {
  const StateChoice choice = choose_state({neither, neither});
  EXPECT_TRUE(choice.is_any);
  EXPECT_FALSE(choice.is_other);
  EXPECT_EQ(choice.chosen, (Runs{0, 1}));
  EXPECT_TRUE(choice.left.empty());
  EXPECT_TRUE(runs_in({neither, other}, false).empty());
}

std::string notes(const std::vector<FoundState>& runs) {
  std::string all;
  for (const std::string& note :
       notes_of_states(runs, {220e-9, 230e-9, 210e-9, 225e-9}, choose_state(runs), 50e-9))
    all += note + "\n";
  return all;
}

TEST(States, WhatIsSaid) {
  EXPECT_EQ(notes({measured, measured, measured, measured}), "");
  EXPECT_EQ(notes({unknown, unknown, unknown, unknown}), "");
  EXPECT_EQ(
      notes({other, other, other, measured}),
      "3 of 4 real runs found the machine in its other state: a cache line took 220 ns from "
      "core to core, 50 ns when it was measured; what follows is of these, and predicted with "
      "--other-state\n");
  EXPECT_EQ(notes({measured, other, neither, unknown}),
            "1 of 4 real runs found the machine in its other state: a cache line took 230 ns from "
            "core to core, 50 ns when it was measured; they are not in what follows but where it "
            "says so\n"
            "1 of 4 real runs saw the state of the machine change on the way, or a third one: left "
            "out\n"
            "1 of 4 real runs do not tell in which state they found the machine: taken for the "
            "measured one\n");
  EXPECT_EQ(notes({neither, neither, neither, neither}),
            "4 of 4 real runs saw the state of the machine change on the way, or a third one: they "
            "are compared as if they had found the measured one\n");
}

TEST(States, WhatIsSaidWhereNoRunKnows) {
  EXPECT_TRUE(notes_of_cache_line({60e-9, 90e-9}, 50e-9).empty());
  EXPECT_TRUE(notes_of_cache_line({60e-9, 0}, 0).empty());
  const std::vector<std::string> off = notes_of_cache_line({220e-9, 230e-9}, 50e-9);
  ASSERT_EQ(off.size(), 1U);
  EXPECT_TRUE(off[0].starts_with("a cache line takes 220 ns from core to core, 50 ns when"));
  const std::vector<std::string> changed = notes_of_cache_line({60e-9, 220e-9}, 50e-9);
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_TRUE(
      changed[0].starts_with("a cache line took 60 ns from core to core before the runs, "
                             "220 ns after them"));
}

}  // namespace
}  // namespace foretrace::cli
