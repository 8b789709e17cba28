#include "machine/state.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.hpp"
#include "small_model.hpp"

namespace foretrace::machine {
namespace {

const std::string kTwoStates = R"(time_unit = "us"
cache_line = 5e-8
other_state_share = 0.3
[[function]]
name = "send"
[[function.regime]]
bytes = [0, 99]
c = [10, 1]
k = [0.5, 0.25]
g = "d"
other_state = 3
[[function.regime]]
bytes = [100]
terms = { "1" = [4, 2], "d" = [1, 0.5] }
other_state = 0.5
[[path.node.function]]
name = "send"
[[path.node.function.regime]]
c = 7
other_state = 2
)";

double send(const MachineModel& model, std::uint64_t bytes, Bound bound = Bound::avg) {
  return 1e6 * evaluate_seconds(model, *model.find("send"), 2, Bytes(bytes), bound);
}

// Every coefficient and its error, of each regime by its own factor, on each path.
TEST(State, TheOtherOneMultipliesTimes) {
  const MachineModel model = small_model(kTwoStates);
  ASSERT_TRUE(has_other_state(model));
  const MachineModel other = in_other_state(model);
  EXPECT_DOUBLE_EQ(send(other, 50), 3 * send(model, 50));
  EXPECT_DOUBLE_EQ(send(other, 50, Bound::max), 3 * send(model, 50, Bound::max));
  EXPECT_DOUBLE_EQ(send(other, 100), 52);
  const Equation& inner = other.paths.at(Path::node).functions.at("send").regimes[0].equation;
  EXPECT_DOUBLE_EQ(inner.constant.value, 14);
}

// It is drawn from no more, and there is no third one.
TEST(State, TheOtherOneIsAlone) {
  const MachineModel other = in_other_state(small_model(kTwoStates));
  EXPECT_FALSE(has_other_state(other));
  EXPECT_EQ(other.name, "m (other state)");
  EXPECT_EQ(other.cache_line, 0);
  EXPECT_DOUBLE_EQ(send(in_other_state(other), 50), send(other, 50));
}

TEST(State, SeldomMetIsNone) {
  MachineModel model = small_model(kTwoStates);
  model.other_state_share = 0.019;
  EXPECT_FALSE(has_other_state(model));
}

TEST(State, FileThatHasNone) {
  const std::string path = testing::TempDir() + "one_state.toml";
  std::ofstream(path) << "[machine]\nname = \"m\"\n[[function]]\nname = \"send\"\n"
                         "[[function.regime]]\nc = 1\n";
  EXPECT_EQ(read_machine_in_state(path, false).name, "m");
  try {
    read_machine_in_state(path, true);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("one state alone"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace foretrace::machine
