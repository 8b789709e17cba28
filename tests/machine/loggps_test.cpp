// The parameters of --loggps, and those that follow from a model's equations.
#include "machine/loggps.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "machine/machine_file.hpp"

namespace foretrace::machine {
namespace {

using Names = std::vector<std::string>;

TEST(ParseLogGPS, EveryParameter) {
  const LogGPS given = parse_loggps("L=2us,os=500ns,or=1.5us,g=100ns,G=0.08ns,S=65536");
  EXPECT_EQ(given.latency, 2e-6);
  EXPECT_EQ(given.overhead_send, 5e-7);
  EXPECT_EQ(given.overhead_recv, 1.5e-6);
  EXPECT_EQ(given.gap, 1e-7);
  EXPECT_EQ(given.gap_per_byte, 8e-11);
  EXPECT_EQ(given.sync_threshold, Bytes(65536));
}

TEST(ParseLogGPS, WhatIsNotThereIsNotGiven) {
  const LogGPS given = parse_loggps("g=0");
  EXPECT_EQ(given.gap, 0.0);
  EXPECT_FALSE(given.latency || given.overhead_send || given.overhead_recv || given.gap_per_byte ||
               given.sync_threshold);
  const LogGPS empty = parse_loggps("");
  EXPECT_FALSE(empty.latency || empty.overhead_send || empty.overhead_recv || empty.gap ||
               empty.gap_per_byte || empty.sync_threshold);
}

TEST(ParseLogGPS, OIsBothOverheadsAndGivesWayToEachOfThem) {
  const LogGPS both = parse_loggps("o=3us");
  EXPECT_EQ(both.overhead_send, 3e-6);
  EXPECT_EQ(both.overhead_recv, 3e-6);
  for (const char* text : {"o=3us,os=1us", "os=1us,o=3us", "o=3us, o_s=1us"}) {
    EXPECT_EQ(parse_loggps(text).overhead_send, 1e-6) << text;
    EXPECT_EQ(parse_loggps(text).overhead_recv, 3e-6) << text;
  }
  EXPECT_EQ(parse_loggps("o=3us,or=1us").overhead_recv, 1e-6);
}

// The double next to the decimal number, as if it were written in seconds.
TEST(ParseLogGPS, UnitsOfTime) {
  const std::vector<std::pair<std::string, double>> rows{
      {"7ps", 7e-12},   {"0.1ns", 1e-10}, {"0.3us", 3e-7}, {"1e3us", 1e-3},
      {"2.5ms", 25e-4}, {"1.5s", 1.5},    {"0", 0},        {"1E+2us", 1e-4}};
  for (const auto& [text, seconds] : rows)
    EXPECT_EQ(parse_loggps("L=" + text).latency, seconds) << text;
}

TEST(ParseLogGPS, GapPerByteAsTimeOrRate) {
  EXPECT_EQ(parse_loggps("G=62.5ps").gap_per_byte, 62.5e-12);
  EXPECT_EQ(parse_loggps("G=0.08ns/B").gap_per_byte, 8e-11);
  EXPECT_EQ(parse_loggps("G=0").gap_per_byte, 0.0);
  // 12.5 GB/s: 1 / 12.5e9 = 80 ps; 8 Gbit/s: 1 ns.
  EXPECT_DOUBLE_EQ(*parse_loggps("G=12.5GB/s").gap_per_byte, 8e-11);
  EXPECT_DOUBLE_EQ(*parse_loggps("G=8Gbit/s").gap_per_byte, 1e-9);
}

TEST(ParseLogGPS, Sizes) {
  const std::vector<std::pair<std::string, std::uint64_t>> rows{
      {"0", 0},           {"17B", 17},     {"64KiB", 65536}, {"64kB", 64000},
      {"2MiB", 2097152u}, {"64KB", 64000}, {"3MB", 3000000}};
  for (const auto& [text, bytes] : rows)
    EXPECT_EQ(parse_loggps("S=" + text).sync_threshold, Bytes(bytes)) << text;
}

TEST(ParseLogGPS, FaultsNameTheParameterAndQuoteTheList) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {",", "expected NAME=VALUE, found ''"},
      {"L", "expected NAME=VALUE, found 'L'"},
      {"L=1us,", "expected NAME=VALUE, found ''"},
      {"l=1us", "unknown parameter 'l'; known: L, o, os, or, g, G, S"},
      {"L=1", "L must be a time such as 500ns, found '1'"},
      {"L=", "L must be a time"},
      {"L=-1us", "L must be a time"},
      {"L=nans", "L must be a time"},
      {"L=infs", "L must be a time"},
      {"L=1e999s", "L must be a time"},
      {"L=1e99999999999s", "L must be a time"},
      {"L=2days", "L must be a time"},
      {"L=90000s", "L must be a time"},
      {"g=1 us", "g must be a time"},
      {"os=1GB/s", "os must be a time"},
      {"G=1", "G must be a time per byte such as 0.08ns, or a rate such as 12.5GB/s, found '1'"},
      {"G=0GB/s", "G must be a time per byte"},
      {"S=1.5", "S must be a size such as 65536 or 64KiB, or none, found '1.5'"},
      {"S=-1", "S must be a size"},
      {"S=10000000000000000MiB", "S must be a size"},
      {"S=99999999999999999999", "S must be a size"},
      {"L=1us,L=1us", "L is there twice"},
      {"o=1us,o=1us", "o is there twice"},
      {"os=1us,o_s=1us", "o_s is there twice"},
  };
  for (const auto& [text, says] : rows) {
    try {
      parse_loggps(text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const UsageError& error) {
      const std::string what = error.what();
      EXPECT_TRUE(what.starts_with("--loggps '" + text + "': ")) << what;
      EXPECT_NE(what.find(says), std::string::npos) << what;
    }
  }
  EXPECT_THROW(parse_loggps("L=1us\n"), UsageError);
}

TEST(MergeLogGPS, EachParameterByItself) {
  const LogGPS model = parse_loggps("L=1us,os=2us,g=3us,G=4ns,S=5");
  const LogGPS given = parse_loggps("L=9us,or=8us,S=7");
  const LogGPS merged = merge(model, given);
  EXPECT_EQ(merged.latency, 9e-6);
  EXPECT_EQ(merged.overhead_send, 2e-6);
  EXPECT_EQ(merged.overhead_recv, 8e-6);
  EXPECT_EQ(merged.gap, 3e-6);
  EXPECT_EQ(merged.gap_per_byte, 4e-9);
  EXPECT_EQ(merged.sync_threshold, Bytes(7));
}

MachineModel cray() {
  return read_machine_file(FORETRACE_SOURCE_DIR "/machines/cray-t3d.toml");
}

// Howell's thesis appendix B, microseconds, d = 1/8 element for one byte:
//   send    30                       = o_s
//   recvmin 30 + 0.9/8 = 30.1125     = o_r
//   recv    60 + 0.7/8 = 60.0875; less o_s and o_r -0.025, so L = 0
//   recv of 65536 bytes 60 + 0.5 * 8192 = 4156; G = (4156 - 60.0875) / 65535
TEST(LogGPSTimes, DerivedFromTheCrayT3d) {
  const LogGPSTimes times = loggps_times(cray(), {}, Bound::avg);
  EXPECT_EQ(times.overhead_send, Time::ns(30000));
  EXPECT_EQ(times.overhead_recv, Time::ps(30112500));
  EXPECT_EQ(times.latency, Time());
  EXPECT_EQ(times.gap, Time());
  EXPECT_DOUBLE_EQ(times.gap_per_byte, 4095.9125e-6 / 65535);
  EXPECT_FALSE(times.sync_threshold);
  EXPECT_EQ(times.derived, (Names{"o_s", "o_r", "L", "g", "G"}));
  // The two points of the derivation: o_s + L + stream + o_r is T_recv, but for
  // the 0.025 that L lacks.
  EXPECT_EQ(times.stream(Bytes(1)), Time());
  EXPECT_EQ(times.stream(Bytes(65536)), Time::ps(4095912500));
}

// With o_s = 10 us and o_r = 20 us: L = 60.0875 - 30.
TEST(LogGPSTimes, LatencyIsWhatTheOverheadsLeave) {
  const LogGPSTimes times = loggps_times(cray(), parse_loggps("os=10us,or=20us"), Bound::avg);
  EXPECT_EQ(times.overhead_send, Time::ns(10000));
  EXPECT_EQ(times.overhead_recv, Time::ns(20000));
  EXPECT_EQ(times.latency, Time::ps(30087500));
  EXPECT_EQ(times.derived, (Names{"L", "g", "G"}));
}

TEST(LogGPSTimes, CommandLineBeforeModelBeforeEquations) {
  MachineModel model = cray();
  model.loggps = parse_loggps("L=5us,o=6us,S=8192");
  const LogGPSTimes times = loggps_times(model, parse_loggps("L=7us,G=1ns"), Bound::avg);
  EXPECT_EQ(times.latency, Time::ns(7000));
  EXPECT_EQ(times.overhead_send, Time::ns(6000));
  EXPECT_EQ(times.overhead_recv, Time::ns(6000));
  EXPECT_EQ(times.gap_per_byte, 1e-9);
  EXPECT_EQ(times.sync_threshold, Bytes(8192));
  EXPECT_EQ(times.derived, (Names{"g"}));
}

TEST(LogGPSTimes, NoneTakesTheModelsThresholdAway) {
  MachineModel model;
  model.loggps.sync_threshold = Bytes(8192);
  EXPECT_EQ(loggps_times(model, {}, Bound::avg).sync_threshold, Bytes(8192));
  EXPECT_FALSE(loggps_times(model, parse_loggps("S=none"), Bound::avg).sync_threshold);
}

TEST(LogGPSTimes, WithoutEquationsEverythingIsZero) {
  const LogGPSTimes times = loggps_times(MachineModel(), {}, Bound::avg);
  EXPECT_EQ(times.latency, Time());
  EXPECT_EQ(times.overhead_send, Time());
  EXPECT_EQ(times.overhead_recv, Time());
  EXPECT_EQ(times.gap, Time());
  EXPECT_EQ(times.gap_per_byte, 0);
  EXPECT_EQ(times.stream(Bytes(UINT64_MAX)), Time());
  EXPECT_EQ(times.unknown, times.derived);
  EXPECT_TRUE(loggps_times(cray(), {}, Bound::avg).unknown.empty());
  EXPECT_FALSE(loggps_times(MachineModel(), parse_loggps("L=1us"), Bound::avg).is_unknown("L"));
}

// recv 60 +- 2 and k = 0.5 +- 0.1 per byte; send 10 +- 1; recvmin 20 +- 3 (us):
//   min: o_s 9, o_r 17, recv(1) 58.4, L 32.4, recv(65536) 58 + 26214.4, G 0.4
//   max: o_s 11, o_r 23, recv(1) 62.6, L 28.6, G 0.6
TEST(LogGPSTimes, AtTheBoundAskedFor) {
  const MachineModel model = parse_machine(R"([machine]
time_unit = "us"
[[function]]
name = "send"
[[function.regime]]
c = [10, 1]
[[function]]
name = "recvmin"
[[function.regime]]
c = [20, 3]
[[function]]
name = "recv"
[[function.regime]]
c = [60, 2]
k = [0.5, 0.1]
g = "d"
)",
                                           "m.toml");
  const LogGPSTimes low = loggps_times(model, {}, Bound::min);
  EXPECT_EQ(low.overhead_send, Time::ns(9000));
  EXPECT_EQ(low.overhead_recv, Time::ns(17000));
  EXPECT_EQ(low.latency, Time::ns(32400));
  EXPECT_DOUBLE_EQ(low.gap_per_byte, 0.4e-6);
  const LogGPSTimes high = loggps_times(model, {}, Bound::max);
  EXPECT_EQ(high.overhead_send, Time::ns(11000));
  EXPECT_EQ(high.overhead_recv, Time::ns(23000));
  EXPECT_EQ(high.latency, Time::ns(28600));
  EXPECT_DOUBLE_EQ(high.gap_per_byte, 0.6e-6);
}

// recv stands in for recvmin, send for recv: one equation of 10 us gives o_s =
// o_r = 10, and 10 - 20 < 0 leaves no latency. A cost that falls with the size
// leaves no G.
TEST(LogGPSTimes, NothingBelowZero) {
  const MachineModel model = parse_machine(R"([machine]
time_unit = "us"
[[function]]
name = "send"
[[function.regime]]
bytes = [0, 9]
c = 10
[[function.regime]]
bytes = [10]
c = 1
)",
                                           "m.toml");
  const LogGPSTimes times = loggps_times(model, {}, Bound::avg);
  EXPECT_EQ(times.overhead_send, Time::ns(10000));
  EXPECT_EQ(times.overhead_recv, Time::ns(10000));
  EXPECT_EQ(times.latency, Time());
  EXPECT_EQ(times.gap_per_byte, 0);
}

// G = 0.08 ns = 80 ps: 0, 0, 80, 7920 ps; 0.3 ps a byte: 0.3, 0.6 and 1.5
// (halves go up) are rounded for the whole message, not for each byte.
TEST(LogGPSTimes, StreamIsRoundedOnce) {
  LogGPSTimes times;
  times.gap_per_byte = 8e-11;
  EXPECT_EQ(times.stream(Bytes(0)), Time());
  EXPECT_EQ(times.stream(Bytes(1)), Time());
  EXPECT_EQ(times.stream(Bytes(2)), Time::ps(80));
  EXPECT_EQ(times.stream(Bytes(100)), Time::ps(7920));
  times.gap_per_byte = 0.3e-12;
  EXPECT_EQ(times.stream(Bytes(2)), Time::ps(0));
  EXPECT_EQ(times.stream(Bytes(3)), Time::ps(1));
  EXPECT_EQ(times.stream(Bytes(1001)), Time::ps(300));
}

}  // namespace
}  // namespace foretrace::machine
