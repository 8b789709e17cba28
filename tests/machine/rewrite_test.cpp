// [rewrite]: what it takes longer to write again what other ranks have read.
#include <gtest/gtest.h>

#include "machine/timing.hpp"
#include "small_model.hpp"

namespace foretrace::machine {
namespace {

TEST(SizeTimes, AreStraightBetweenSizesAndEndWithTheLast) {
  const std::vector<SizeTime> known{{Bytes(1000), Time::ns(10)}, {Bytes(3000), Time::ns(50)}};
  EXPECT_EQ(time_at(known, Bytes(0)), Time());
  EXPECT_EQ(time_at(known, Bytes(500)), Time::ns(5));
  EXPECT_EQ(time_at(known, Bytes(1000)), Time::ns(10));
  EXPECT_EQ(time_at(known, Bytes(1500)), Time::ns(20));
  EXPECT_EQ(time_at(known, Bytes(3000)), Time::ns(50));
  EXPECT_EQ(time_at(known, Bytes(6000)), Time::ns(50));
  EXPECT_EQ(time_at({}, Bytes(6000)), Time());
}

TEST(Rewrite, IsWrittenAsItIsRead) {
  const MachineModel model = small_model(
      "[rewrite]\nsend = [[1024, 0], [4096, \"0.5us\"], [8192, 1e-6], [16384, 2e-6], [32768, "
      "1e-6]]\n"
      "bcast = [[1, 3e-9]]\n[path.node.rewrite]\nsend = [[64, 0.1]]\n");
  const std::string text = format_machine(model);
  EXPECT_NE(text.find("[4096, 5e-07]"), text.npos) << text;
  const MachineModel again = parse_machine(text, "again.toml");
  EXPECT_EQ(format_machine(again), text);
  ASSERT_EQ(again.rewrite.at("send").size(), 5U);
  EXPECT_EQ(again.rewrite.at("send")[1].time, Time::ns(500));
  EXPECT_EQ(again.rewrite.at("bcast")[0].time, Time::ns(3));
  EXPECT_EQ(again.paths.at(Path::node).rewrite.at("send")[0].time, Time::from_seconds(0.1));
}

TEST(Rewrite, OfACallOfWhatIsAsGoodOrOfMessages) {
  const MachineModel model = small_model(
      "[rewrite]\nsend = [[1000, 1e-6]]\nallgather = [[1000, 2e-6]]\n"
      "[path.node.rewrite]\nbcast = [[1000, 4e-6]]\n");
  const Timing timing(model, Bound::avg);
  const auto takes = [](const Timing& on, Cost call) {
    return time_at(on.rewriting(call), Bytes(1000));
  };
  EXPECT_EQ(takes(timing, Cost::send), Time::ns(1000));
  EXPECT_EQ(takes(timing, Cost::allgather), Time::ns(2000));
  EXPECT_EQ(takes(timing, Cost::allgatherv), Time::ns(2000));
  EXPECT_EQ(takes(timing, Cost::bcast), Time::ns(1000));
  const Timing& node = timing.on(Path::node);
  EXPECT_EQ(takes(node, Cost::bcast), Time::ns(4000));
  EXPECT_EQ(takes(node, Cost::send), Time()) << "a node's own table takes the place of the other";
  const MachineModel silent = small_model("");
  EXPECT_TRUE(Timing(silent, Bound::avg).rewriting(Cost::send).empty());
}

TEST(Rewrite, FaultsAreNamed) {
  const auto fault = [](const std::string& text) { return fault_in("[rewrite]\n" + text + "\n"); };
  EXPECT_EQ(fault("sned = [[1, 1]]").substr(0, 9), "m.toml:4:");
  EXPECT_NE(fault("sned = [[1, 1]]").find("after 'sned'; known: send, bcast, allgather"),
            std::string::npos);
  for (const char* text : {"send = 3", "send = []", "send = [1, 2]", "send = [[1]]"})
    EXPECT_NE(fault(text).find("'send' must be"), std::string::npos) << fault(text);
  EXPECT_NE(fault("send = [[1, -1]]").find("'send' must be a time, 0 or more"), std::string::npos);
  for (const char* text : {"send = [[0, 1]]", "send = [[2, 1], [2, 1]]", "send = [[2, 1], [1, 1]]"})
    EXPECT_NE(fault(text).find("must be ascending, 1 or more"), std::string::npos) << fault(text);
}

}  // namespace
}  // namespace foretrace::machine
