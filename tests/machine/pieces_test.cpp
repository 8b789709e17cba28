// [pieces]: what data takes longer that does not lie together.
#include <gtest/gtest.h>

#include "machine/timing.hpp"
#include "small_model.hpp"

namespace foretrace::machine {
namespace {

TEST(Pieces, TakeWhatTheyDoInTheNearestMessages) {
  const PieceTimes known{{Bytes(8), {{Bytes(800), Time::ns(100)}, {Bytes(8000), Time::ns(1900)}}}};
  const auto takes = [&](std::uint64_t bytes, std::uint64_t piece) {
    return pieces_time(known, Bytes(bytes), Bytes(piece));
  };
  EXPECT_EQ(takes(800, 8), Time::ns(100));
  EXPECT_EQ(takes(80, 8), Time::ns(10)) << "each byte as in the first size";
  EXPECT_EQ(takes(4400, 8), Time::ns(1000)) << "half-way between";
  EXPECT_EQ(takes(16000, 8), Time::ns(3800)) << "each byte as in the last size";
  EXPECT_EQ(takes(800, 4), Time::ns(200)) << "twice as many pieces";
  EXPECT_EQ(takes(800, 80), Time::ns(10)) << "a tenth of them";
  EXPECT_EQ(takes(800, 0), Time()) << "it lies together";
  EXPECT_EQ(takes(0, 8), Time());
  EXPECT_EQ(pieces_time({}, Bytes(800), Bytes(8)), Time());
}

// A piece of 8 bytes takes 1 ns, one of 128 bytes 5 ns: one of 32 bytes lies half-way.
TEST(Pieces, OfALengthBetweenTakeWhatLiesBetween) {
  const PieceTimes known{{Bytes(8), {{Bytes(1024), Time::ns(128)}}},
                         {Bytes(128), {{Bytes(1024), Time::ns(40)}}}};
  EXPECT_EQ(pieces_time(known, Bytes(1024), Bytes(32)), Time::ns(32 * 3));
  EXPECT_EQ(pieces_time(known, Bytes(1024), Bytes(256)), Time::ns(4 * 5));
  EXPECT_EQ(pieces_time(known, Bytes(2048), Bytes(128)), Time::ns(80));
}

TEST(Pieces, AreWrittenAsTheyAreRead) {
  const MachineModel model = small_model(
      "[pieces]\nsend.8 = [[64, \"0.1us\"], [4096, 2e-6]]\nsend.64 = [[256, 0]]\n"
      "recv.8 = [[64, 1e-9]]\n[path.node.pieces]\nsend.8 = [[64, 0.1]]\n");
  const std::string text = format_machine(model);
  EXPECT_NE(text.find("send.8 = [[64, 1e-07], [4096, 2e-06]]\n"), text.npos) << text;
  const MachineModel again = parse_machine(text, "again.toml");
  EXPECT_EQ(format_machine(again), text);
  EXPECT_EQ(again.pieces.send.size(), 2U);
  EXPECT_EQ(again.pieces.recv.at(Bytes(8))[0].time, Time::ns(1));
  const Timing timing(again, Bound::avg);
  EXPECT_TRUE(timing.knows_pieces());
  EXPECT_EQ(timing.packing(Bytes(64), Bytes(8)), Time::ns(100));
  EXPECT_EQ(timing.unpacking(Bytes(64), Bytes(8)), Time::ns(1));
  const Timing& node = timing.on(Path::node);
  EXPECT_EQ(node.packing(Bytes(64), Bytes(8)), Time::from_seconds(0.1));
  EXPECT_EQ(node.unpacking(Bytes(64), Bytes(8)), Time())
      << "a node's own table takes the place of the other";
  EXPECT_FALSE(timing.unknowns().pieces);
}

TEST(Pieces, ThatTheModelLacksAreTold) {
  const MachineModel model = small_model("");
  const Timing timing(model, Bound::avg);
  EXPECT_FALSE(timing.knows_pieces());
  EXPECT_EQ(timing.packing(Bytes(64), Bytes(0)), Time());
  EXPECT_TRUE(notes_of(timing.unknowns()).empty());
  EXPECT_EQ(timing.packing(Bytes(64), Bytes(8)), Time());
  ASSERT_EQ(notes_of(timing.unknowns()).size(), 1U);
  EXPECT_NE(notes_of(timing.unknowns())[0].find("for want of [pieces] in the machine model"),
            std::string::npos);
}

TEST(Pieces, FaultsAreNamed) {
  const auto fault = [](const std::string& text) { return fault_in("[pieces]\n" + text + "\n"); };
  EXPECT_EQ(fault("send = 3").substr(0, 9), "m.toml:4:");
  EXPECT_NE(fault("put.8 = [[1, 1]]").find("unknown key 'put'; known here: send, recv"),
            std::string::npos);
  for (const char* text : {"send.eight = [[1, 1]]", "send.0 = [[1, 1]]", "send.-8 = [[1, 1]]"})
    EXPECT_NE(fault(text).find("must be the bytes of a piece, 1 or more"), std::string::npos)
        << fault(text);
  EXPECT_NE(fault("send.08 = [[1, 1]]\nsend.8 = [[1, 1]]").find("8 bytes are there twice"),
            std::string::npos);
  EXPECT_NE(fault("recv.8 = [[0, 1]]").find("ascending, 1 or more"), std::string::npos);
  EXPECT_NE(fault("recv.8 = [[8, -1]]").find("must be a time, 0 or more"), std::string::npos);
}

}  // namespace
}  // namespace foretrace::machine
