// The readers of other people's files: what each line becomes, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "imported/imb.hpp"
#include "imported/netpipe.hpp"
#include "imported/osu.hpp"
#include "imported/simgrid_csv.hpp"
#include "imported/smpi_platform.hpp"
#include "machine/machine_model.hpp"

namespace foretrace::imported {
namespace {

using measure::Sample;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

template <class Read>
std::string message_of(Read read) {
  try {
    read();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::vector<Sample> of(const Measurements& all, const std::string& function) {
  std::vector<Sample> samples;
  for (const Sample& each : all.samples)
    if (each.function == function) samples.push_back(each);
  return samples;
}

// osu_latency is half of a round trip: 1.5 us one way, 3 us there and back.
TEST(Osu, LatencyIsHalfARoundTrip) {
  const Measurements all =
      read_osu({{"l", "# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n8   1.50\n"}});
  EXPECT_THAT(of(all, "recv"), ElementsAre(Sample{"recv", 2, 8, 1, 1.5 * 1e-6, true}));
  EXPECT_THAT(of(all, "pingpong"), ElementsAre(Sample{"pingpong", 2, 8, 1, 3 * 1e-6, true}));
}

// 1 MB (10^6) in 4 us is a message every 4 us.
TEST(Osu, BandwidthIsTheGap) {
  const Measurements all = read_osu(
      {{"b", "# OSU MPI Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n1000  250.00\n"}});
  ASSERT_EQ(of(all, "gap").size(), 1U);
  EXPECT_DOUBLE_EQ(of(all, "gap")[0].seconds, 4e-6);
}

TEST(Osu, TablesOfOneBenchmarkAreRepetitions) {
  const std::string table =
      "# OSU MPI Allreduce Latency Test v5.9\n# Size       Avg Latency(us)\n4  6.75\n8  7.03\n";
  const Measurements all = read_osu({{"a", "== Nodes = 2\n== Processes = 256\n" + table},
                                     {"b", table, 128},
                                     {"c", "\n" + table, 128}});
  EXPECT_THAT(of(all, "allreduce"), ElementsAre(Sample{"allreduce", 256, 4, 1, 6.75 * 1e-6, true},
                                                Sample{"allreduce", 256, 8, 1, 7.03 * 1e-6, true},
                                                Sample{"allreduce", 128, 4, 1, 6.75 * 1e-6, true},
                                                Sample{"allreduce", 128, 8, 1, 7.03 * 1e-6, true},
                                                Sample{"allreduce", 128, 4, 2, 6.75 * 1e-6, true},
                                                Sample{"allreduce", 128, 8, 2, 7.03 * 1e-6, true}));
}

// A program goes on when the last rank is done.
TEST(Osu, TheLargestOverRanksWhereItIsPrinted) {
  const Measurements all =
      read_osu({{"r",
                 "# OSU MPI Reduce Latency Test v7.2\n# Datatype: MPI_FLOAT.\n"
                 "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n"
                 "4  2.00  1.00  5.00  1000\n",
                 8}});
  ASSERT_EQ(of(all, "reduce").size(), 1U);
  EXPECT_DOUBLE_EQ(of(all, "reduce")[0].seconds, 5e-6);
  EXPECT_THAT(all.methods.at("reduce"), HasSubstr("largest over ranks"));
}

// A file knows best; ranks that were given for it alone must be its own.
TEST(Osu, RanksOfFilesThatDoNotSayTheirs) {
  const std::string table =
      "# OSU MPI Allreduce Latency Test v5.9\n# Size       Avg Latency(us)\n4  6.75\n";
  const std::string own = "== Processes = 256\n" + table;
  const Measurements all = read_osu({{"a", own, 64, true}, {"b", table, 64, true}});
  EXPECT_THAT(of(all, "allreduce"), ElementsAre(Sample{"allreduce", 256, 4, 1, 6.75 * 1e-6, true},
                                                Sample{"allreduce", 64, 4, 1, 6.75 * 1e-6, true}));
  EXPECT_EQ(message_of([&] {
              read_osu({{"a", own, 64}});
            }),
            "a:1: the file says 256 processes, the command 64");
}

TEST(Osu, MeanAndLargestDoNotMix) {
  const std::string mean =
      "# OSU MPI Reduce Latency Test v5.9\n# Size       Avg Latency(us)\n4  2.00\n";
  const std::string largest =
      "# OSU MPI Reduce Latency Test v5.9\n# Size       Avg Latency(us)   Max Latency(us)\n"
      "4  2.00  5.00\n";
  const std::string other =
      "# OSU MPI Broadcast Latency Test v5.9\n# Size       Avg Latency(us)\n4  1.00\n";
  EXPECT_EQ(message_of([&] {
              read_osu({{"a", mean, 8}, {"b", largest, 16}});
            }),
            "b:3: reduce here is the largest over ranks, in a the mean; import them apart");
  EXPECT_EQ(message_of([&] {
              read_osu({{"b", largest, 16}, {"a", mean, 8}});
            }),
            "a:3: reduce here is the mean over ranks, in b the largest ('Max Latency'); import "
            "them apart");
  EXPECT_EQ(read_osu({{"b", largest, 16}, {"c", other, 8}}).samples.size(), 2U);
}

TEST(Osu, WhatNoFunctionIsLikeIsSaid) {
  const Measurements all = read_osu(
      {{"x",
        "# OSU MPI Bi-Directional Bandwidth Test v5.7.1\n# Size      Bandwidth (MB/s)\n1 1.3\n"}});
  EXPECT_TRUE(all.samples.empty());
  EXPECT_THAT(all.notes, ElementsAre(HasSubstr("'Bi-Directional Bandwidth'")));
}

TEST(Osu, NamesFileAndLine) {
  const std::string head = "# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n";
  const auto fault = [](const std::string& text) {
    return message_of([&] { read_osu({{"f.txt", text}}); });
  };
  EXPECT_EQ(fault(head + "8 1.5\n16 fast\n"),
            "f.txt:4: expected a time or a rate, a number of 0 or more, found 'fast'");
  EXPECT_EQ(fault(head + "8 1.5 2\n"), "f.txt:3: expected 2 columns, found 3");
  EXPECT_EQ(fault(head + "8 1.5\n8 1.5\n"), "f.txt:4: sizes must grow: 8 follows 8");
  EXPECT_EQ(fault(head + "8 nan\n").substr(0, 8), "f.txt:3:");
  EXPECT_EQ(fault(head + "-8 1\n").substr(0, 8), "f.txt:3:");
  EXPECT_EQ(fault("hello\n").substr(0, 8), "f.txt:1:");
  EXPECT_EQ(fault(""), "f.txt: holds no table of the OSU micro-benchmarks");
  EXPECT_THAT(fault("# OSU MPI Barrier Latency Test v5.9\n# Avg Latency(us)\n 3.5\n"),
              HasSubstr("does not say of how many ranks"));
}

TEST(Imb, LargestOverRanksAndHalfRoundTrips) {
  const Measurements all = read_imb({{"i",
                                      "# Benchmarking PingPong\n# #processes = 2\n"
                                      "       #bytes #repetitions      t[usec]   Mbytes/sec\n"
                                      "            8         1000         0.98         8.16\n\n"
                                      "# Benchmarking Allreduce\n# #processes = 4\n"
                                      "# ( 60 additional processes waiting in MPI_Barrier)\n"
                                      " #bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n"
                                      " 0 1000 0.05 0.06 0.05\n 4 1000 2.0 4.0 3.0\n"
                                      "# Benchmarking Barrier\n# #processes = 4\n"
                                      " #repetitions t_min[usec] t_max[usec] t_avg[usec]\n"
                                      " 1000 1.0 2.5 2.0\n"}});
  EXPECT_THAT(of(all, "recv"), ElementsAre(Sample{"recv", 2, 8, 1, 0.98 * 1e-6, true}));
  ASSERT_EQ(of(all, "allreduce").size(), 2U);
  EXPECT_DOUBLE_EQ(of(all, "allreduce")[1].seconds, 4e-6);
  ASSERT_EQ(of(all, "barrier").size(), 1U);
  EXPECT_DOUBLE_EQ(of(all, "barrier")[0].seconds, 2.5e-6);
  EXPECT_EQ(of(all, "barrier")[0].bytes, 0U);
}

TEST(Imb, NamesFileAndLine) {
  EXPECT_EQ(message_of([] {
              read_imb({{"i", "# Benchmarking Bcast\n #bytes t_max[usec]\n"}});
            }),
            "i:2: '# #processes = ...' is missing before this table");
  EXPECT_EQ(
      message_of([] {
        read_imb({{"i", "# Benchmarking Bcast\n# #processes = 4\n#bytes t_max[usec]\n1 x\n"}});
      }).substr(0, 4),
      "i:4:");
}

// 131072 bytes in 1 ms are 8 * 131072 / 0.001 / 2^20 = 1000 of NetPIPE's megabits a second.
TEST(Netpipe, HalfARoundTrip) {
  const Measurements all = read_netpipe({{"np.out", "  131072 1000.000  0.001000\n"}});
  EXPECT_THAT(of(all, "recv"), ElementsAre(Sample{"recv", 2, 131072, 1, 0.001, true}));
  EXPECT_EQ(message_of([] {
              read_netpipe({{"np.out", "131072 8000 0.001\n"}});
            }),
            "np.out:1: size, rate and time do not agree; expected BYTES MEGABITS-PER-SECOND "
            "SECONDS");
}

TEST(SimgridCsv, PairsAreRoundTrips) {
  const Measurements all = read_simgrid_csv(
      {{"p",
        "MPI_Send,8,1.0,1e-6\nMPI_Recv,8,1.0,3e-6\nMPI_Send,9,2.0,2e-6\nMPI_Recv,9,2.0,3e-6\n"
        "MPI_Send,8,3.0,2e-6\nMPI_Recv,8,3.0,4e-6\nMPI_Send,9,4.0,2e-6\nMPI_Recv,9,4.0,3e-6\n"}},
      "");
  EXPECT_THAT(of(all, "pingpong"), ElementsAre(Sample{"pingpong", 2, 8, 1, 1e-6 + 3e-6, true},
                                               Sample{"pingpong", 2, 9, 1, 2e-6 + 3e-6, true},
                                               Sample{"pingpong", 2, 8, 2, 2e-6 + 4e-6, true},
                                               Sample{"pingpong", 2, 9, 2, 2e-6 + 3e-6, true}));
  EXPECT_DOUBLE_EQ(of(all, "recv")[0].seconds, 2e-6);
  EXPECT_DOUBLE_EQ(of(all, "send")[2].seconds, 2e-6);
}

TEST(SimgridCsv, NamesFileAndLine) {
  const auto fault = [](const std::string& text) {
    return message_of([&] { read_simgrid_csv({{"c", text}}, ""); });
  };
  EXPECT_EQ(fault("MPI_Send,8,1.0,1e-6\n"),
            "c:1: the MPI_Send has no MPI_Recv after it; was the file cut off?");
  EXPECT_EQ(fault("MPI_Recv,8,1.0,1e-6\nMPI_Isend,8,1.0,1e-6\n"),
            "c:2: expected MPI_Recv, found 'MPI_Isend'");
  EXPECT_EQ(fault("MPI_Recv,8,1.0,-1\n").substr(0, 4), "c:1:");
  EXPECT_EQ(fault("MPI_Foo,8,1.0,1\n").substr(0, 4), "c:1:");
  const std::string two = "experiment,cluster,msg_size,duration\nsend,a,1,1e-6\nsend,b,1,2e-6\n";
  EXPECT_EQ(fault(two), "c: holds several clusters; choose one with --cluster (a, b)");
  EXPECT_EQ(of(read_simgrid_csv({{"c", two}}, "b"), "send").size(), 1U);
}

// MPI_Isend copies up to 64 KiB, 1 us + 0.1 ns/B; from then on it only announces.
TEST(SimgridCsv, FindsWhereIsendStopsCopying) {
  Measurements all;
  for (std::uint64_t bytes = 1; bytes < 1000000; bytes += 1 + bytes / 12)
    for (int launch = 1; launch <= 5; ++launch)
      all.add("isend1", 2, bytes, launch,
              (bytes <= 65536 ? 1e-6 + 1e-10 * static_cast<double>(bytes) : 2e-6) *
                  (1 + 0.004 * launch));
  const auto found = find_sync_threshold(all);
  ASSERT_TRUE(found);
  EXPECT_NEAR(static_cast<double>(*found), 65537, 6000);
}

constexpr const char* kPlatform =
    "<?xml version=\"1.0\"?>\n<platform>\n"
    "<prop id=\"smpi/os\" value=\"0:1e-6:0;1000:2e-6:1e-9\"/>\n"
    "<prop id=\"smpi/or\" value=\"0:3e-6:0\"/>\n"
    "<prop id=\"smpi/bw-factor\" value=\"0:0.5\"/>\n"
    "<prop id=\"smpi/lat-factor\" value=\"0:2;2000:4\"/>\n"
    "<prop id=\"smpi/send-is-detached-thresh\" value=\"3000\"/>\n"
    "<prop id=\"smpi/wtime\" value=\"4e-08\"/>\n"
    "<cluster lat=\"5us\" bw=\"1GBps\"/>\n</platform>\n";

// 1,500 B: os 2 us + 1.5 us, latency of two links 2 x 10 us, 1,500 B / 0.5 GB/s = 3 us, or 3 us.
TEST(SmpiPlatform, SumsAreTheModel) {
  const machine::MachineModel model = read_smpi_platform({"p.xml", kPlatform}, {}).model;
  const auto time = [&](const char* function, std::uint64_t bytes) {
    return machine::evaluate_seconds(model, *model.find(function), 2, Bytes(bytes),
                                     machine::Bound::avg);
  };
  EXPECT_NEAR(time("recv", 1500), 29.5e-6, 1e-12);
  EXPECT_NEAR(time("send", 1500), 3.5e-6, 1e-12);
  EXPECT_NEAR(time("recvmin", 1500), 3e-6, 1e-12);
  EXPECT_NEAR(time("pingpong", 1500), 59e-6, 1e-12);
  EXPECT_NEAR(time("wtime", 0), 40e-9, 1e-15);
  EXPECT_EQ(model.find("wtime")->function_class, "local");
  // 999 B are of the range before; 3,000 B wait for their receiver.
  EXPECT_NEAR(time("send", 999), 1e-6, 1e-12);
  EXPECT_NEAR(time("send", 3000), time("recv", 3000), 1e-15);
  ASSERT_TRUE(model.loggps.sync_threshold);
  EXPECT_EQ(model.loggps.sync_threshold->count, 3000U);
}

// As smpirun has it (SimGrid 3.32): os 1 us, or 2 us, factors 1.5 and 0.5; half a round trip of 1 B
// takes 33.08 us on links of 10 us, 43.58 us with a backbone of 7 us; of 100,000 B over a backbone
// of 0.5 GB/s 462.7 us, of which 5 % of the transfer are what the answers take there.
TEST(SmpiPlatform, ARouteIsTwoLinksAndTheBackbone) {
  const auto recv = [](const std::string& cluster, std::uint64_t bytes,
                       const std::optional<LinkOfPlatform>& link = {}) {
    const std::string text =
        "<platform><prop id=\"smpi/os\" value=\"0:1e-6:0\"/><prop id=\"smpi/or\" "
        "value=\"0:2e-6:0\"/><prop id=\"smpi/bw-factor\" value=\"0:0.5\"/><prop "
        "id=\"smpi/lat-factor\" value=\"0:1.5\"/>" +
        cluster + "</platform>";
    const machine::MachineModel model = read_smpi_platform({"p.xml", text}, {}, link).model;
    return machine::evaluate_seconds(model, *model.find("recv"), 2, Bytes(bytes),
                                     machine::Bound::avg);
  };
  const std::string links = R"(<cluster lat="10us" bw="1.25GBps" )";
  EXPECT_NEAR(recv(links + "/>", 1), 33.0e-6, 0.1e-6);
  EXPECT_NEAR(recv(links + R"(bb_bw="100GBps" bb_lat="7us"/>)", 1), 43.5e-6, 0.1e-6);
  EXPECT_NEAR(recv(links + R"(bb_bw="0.5GBps" bb_lat="7us"/>)", 100000), 443.5e-6, 0.1e-6);
  EXPECT_NEAR(recv(links + R"(limiter_link="0.5GBps" bb_bw="0"/>)", 100000), 433e-6, 0.1e-6);
  EXPECT_NEAR(recv(links + R"(bb_lat="7us"/>)", 1), 43.5e-6, 0.1e-6);
  const std::string torus = links + R"(topology="TORUS" topo_parameters="4,4"/>)";
  EXPECT_THAT(message_of([&] { recv(torus, 1); }), HasSubstr("topology 'TORUS'"));
  EXPECT_NEAR(recv(torus, 1, LinkOfPlatform{10e-6, 1.25e9}), 18.0e-6, 0.1e-6);
}

TEST(SmpiPlatform, NamesFileAndLine) {
  const auto fault = [](std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    return message_of([&] { read_smpi_platform({"p.xml", text}, {}); });
  };
  EXPECT_EQ(fault(kPlatform, "0:1e-6:0;", "0:1e-6;"),
            "p.xml:3: expected SIZE:INTERCEPT:SLOPE, found '0:1e-6'");
  EXPECT_THAT(fault(kPlatform, "</platform>", "</platforms>"), HasSubstr("p.xml:10: not XML"));
  EXPECT_THAT(fault(kPlatform, "<cluster", "<custer"), HasSubstr("has no <cluster"));
  EXPECT_THAT(fault(kPlatform, "smpi/or\"", "smpi/xr\""), HasSubstr("smpi/or"));
  EXPECT_THAT(fault(kPlatform, "0:0.5", "0:0"), HasSubstr("not finite"));
}

}  // namespace
}  // namespace foretrace::imported
