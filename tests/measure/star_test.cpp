// The topology that a measurement of several hosts gives, recomputed by hand.
#include "measure/fit/star.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "machine/machine_file.hpp"

namespace foretrace::measure {
namespace {

using testing::ElementsAre;

// L = 10 us, G = 10 ns, of messages from 1,000 bytes on 8 ns.
machine::MachineModel pair_model() {
  machine::MachineModel model;
  model.time_unit = 1e-6;
  model.loggps.latency = 10e-6;
  model.loggps.gap_per_byte = 10e-9;
  model.loggps_regimes.resize(2);
  model.loggps_regimes[0].to = Bytes(999);
  model.loggps_regimes[1].from = Bytes(1000);
  model.loggps_regimes[1].gap_per_byte = machine::Parameter{8e-9, 0};
  return model;
}

// All of `ranks`: 5 us, and 405 us of 100,000 bytes.
void add_ring(machine::MachineModel& model, int ranks) {
  model.patterns = {{"exchange_ring", ranks, {{Bytes(8), 5e-6}, {Bytes(100'000), 405e-6}}}};
}

TEST(Star, Hosts) {
  EXPECT_THAT(parse_hosts("0 0 1 12"), ElementsAre(0, 0, 1, 12));
  for (const char* wrong : {"0 x", "0  1", "-1 0", "0,1"})
    EXPECT_THROW(parse_hosts(wrong), Error) << wrong;
}

TEST(Star, OneHostHasNone) {
  EXPECT_FALSE(measured_star({0, 0, 0}, pair_model()).has_value());
  EXPECT_FALSE(measured_star({}, pair_model()).has_value());
}

// The latency is that of two links, the bandwidth that of the longest messages.
TEST(Star, OfAPair) {
  const auto topology = measured_star({0, 1, 2}, pair_model());
  ASSERT_TRUE(topology && topology->spec);
  EXPECT_EQ(topology->spec->shape.kind, machine::TopologyKind::crossbar);
  EXPECT_THAT(topology->spec->shape.sizes, ElementsAre(3));
  EXPECT_EQ(topology->spec->ranks_per_node, 1);
  EXPECT_EQ(topology->spec->link.latency, Time::ns(5000));
  EXPECT_DOUBLE_EQ(*topology->spec->link.bytes_per_second, 125e6);
}

// Two ranks on the fuller host send 4 messages of 100,000 bytes in 405 us: 988 MB/s, more than a
// pair's 125.
TEST(Star, OfAllRanksAtOnce) {
  machine::MachineModel model = pair_model();
  add_ring(model, 3);
  const auto topology = measured_star({0, 1, 0}, model);
  ASSERT_TRUE(topology && topology->spec);
  EXPECT_EQ(topology->spec->ranks_per_node, 2);
  EXPECT_NEAR(*topology->spec->link.bytes_per_second, 4e5 / 405e-6, 1);
}

// The pair's, with a pingpong of `short_us` up to `edge` bytes, and of `fixed_us` + `byte_us` a
// byte beyond; 16 ns is what the link takes there and back.
machine::MachineModel with_pingpong(int edge, double short_us, double fixed_us,
                                    double byte_us = 0.016) {
  machine::MachineModel model = pair_model();
  const std::string text = fmt::format(
      R"([machine]
name = "m"
time_unit = "us"
[[function]]
name = "pingpong"
class = "point-to-point"
[[function.regime]]
bytes = [0, {}]
terms = {{ "1" = [{}, 0] }}
[[function.regime]]
bytes = [{}]
terms = {{ "1" = [{}, 0], "d" = [{}, 0] }}
)",
      edge, short_us, edge + 1, fixed_us, byte_us);
  model.functions = machine::parse_machine(text, "m.toml").functions;
  return model;
}

// One way 20 us up to 2,000 bytes, then 8 ns a byte more, as fast as the link: a bucket of 2,000.
TEST(Star, BurstThatPassesAtOnce) {
  const auto topology = measured_star({0, 1}, with_pingpong(2000, 40, 8));
  EXPECT_EQ(topology->spec->link.burst, std::optional<std::uint64_t>(2000));
}

// An equation that is 4 % too fast for each byte beyond the first 4,000: in long messages that is
// more than the bucket, so they are not asked. 8,192 bytes say 4,179, and 16,384 say 4,537.
TEST(Star, BurstOfAnEquationThatIsALittleOff) {
  const auto topology = measured_star({0, 1}, with_pingpong(4000, 40, -21.1328, 0.0153));
  EXPECT_EQ(topology->spec->link.burst, std::optional<std::uint64_t>(4537));
}

// A bucket of 32,768 bytes, of which one eager size alone tells: so the next longer one must, too.
TEST(Star, BurstNearTheThreshold) {
  machine::MachineModel model = with_pingpong(32768, 600, 75.712);
  model.loggps.sync_threshold = Bytes(65481);
  EXPECT_EQ(measured_star({0, 1}, model)->spec->link.burst, std::optional<std::uint64_t>(32768));
}

// Faster than the link by a share of the bytes, which is no bucket; and as fast as the link from
// the first byte on.
TEST(Star, NoBurstWhereSizesDisagree) {
  EXPECT_FALSE(measured_star({0, 1}, with_pingpong(2000, 40, 40, 0.008))->spec->link.burst);
  EXPECT_FALSE(measured_star({0, 1}, with_pingpong(2000, 40, 40))->spec->link.burst);
  EXPECT_FALSE(measured_star({0, 1}, pair_model())->spec->link.burst);
}

// 125 MB/s: a header of 100 bytes takes 0.8 us of the 10 us that an empty message needs. Where it
// passes at once it is in the bucket as well.
TEST(Star, Header) {
  const auto topology = measured_star({0, 1}, pair_model(), 100);
  EXPECT_EQ(topology->spec->header, 100u);
  EXPECT_EQ(topology->spec->link.latency, Time::ns(4600));
  const machine::MachineModel bucket = with_pingpong(4000, 40, -21.1328, 0.0153);
  const auto quick = measured_star({0, 1}, bucket, 100);
  EXPECT_EQ(quick->spec->link.burst, std::optional<std::uint64_t>(4637));
  EXPECT_EQ(quick->spec->link.latency, measured_star({0, 1}, bucket)->spec->link.latency);
  EXPECT_EQ(measured_star({0, 1}, pair_model(), 1'000'000)->spec->link.latency, Time());
  EXPECT_EQ(parse_header("98"), 98u);
  for (const char* wrong : {"", "x", "98 1", "-1"})
    EXPECT_THROW(parse_header(wrong), Error) << wrong;
}

// What was measured with other ranks says nothing.
TEST(Star, OnlyWhatIsKnown) {
  machine::MachineModel model = pair_model();
  add_ring(model, 3);
  EXPECT_DOUBLE_EQ(*measured_star({0, 1, 0, 1}, model)->spec->link.bytes_per_second, 125e6);
  EXPECT_FALSE(measured_star({0, 1}, {}).has_value());
}

}  // namespace
}  // namespace foretrace::measure
