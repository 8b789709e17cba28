#include "views/timeline/data.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../analysis/trace_builder.hpp"
#include "topology/builders.hpp"
#include "views/timeline/columns.hpp"

namespace foretrace {
namespace {

using machine::Cost;
using nlohmann::json;
using test::TraceBuilder;
using views::encode_timeline;

std::vector<int> bytes(const std::string& text) {
  std::vector<int> list;
  for (char c : text) list.push_back(static_cast<unsigned char>(c));
  return list;
}

TEST(TimelineData, Base64) {
  EXPECT_EQ(views::base64(""), "");
  EXPECT_EQ(views::base64(std::string(1, '\0')), "AA==");
  EXPECT_EQ(views::base64("\xff\xff"), "//8=");
  EXPECT_EQ(views::base64("\x01\x02\x03"), "AQID");
}

TEST(TimelineData, EqualCallsShareAShape) {
  TraceBuilder b(3);
  for (int r = 0; r < 3; ++r) {
    b.init(r);
    // The right neighbour on every rank: relatively 1.
    b.send(r, (r + 1) % 3, 7, 800, Time::ps(5), Time::ps(300));
    b.send(r, (r + 1) % 3, 7, 800, Time::ps(0), Time::ps(10), Time::ps(4));
    b.finalize(r, Time::ps(1));
  }
  const auto data = encode_timeline(b.trace());
  const json head = json::parse(data.head);
  // Init, Send and Finalize, each a name of its own.
  EXPECT_EQ(head["shapes"], json::parse("[[1,0,0,-1,0,0,-1,0,0,0,-1,1,0],"
                                        "[3,1,0,1,7,800,-1,0,0,0,-1,1,0],"
                                        "[2,2,0,-1,0,0,-1,0,0,0,-1,1,0]]"));
  // Shape 0, no time; shape 1, gap 5, duration 300 = 0xac 2; shape 1 and a
  // wait, gap 0, duration 10, wait 4; shape 2, gap 1, duration 0.
  const std::vector<int> rank{0, 0, 0, 2, 5, 0xac, 2, 3, 0, 10, 4, 4, 1, 0};
  std::vector<int> all;
  for (int r = 0; r < 3; ++r) all.insert(all.end(), rank.begin(), rank.end());
  EXPECT_EQ(bytes(data.stream), all);
  // Events, bytes, end of each rank.
  EXPECT_EQ(head["ranks"], json::parse("[[4,14,316],[4,14,316],[4,14,316]]"));
}

TEST(TimelineData, ColumnsHaveTheNumbersOfAStream) {
  std::vector<views::TimelineShape> shapes(3);
  shapes[0][0] = static_cast<std::int64_t>(trace::EventKind::irecv);
  shapes[1][0] = static_cast<std::int64_t>(trace::EventKind::complete);
  shapes[2][0] = static_cast<std::int64_t>(trace::EventKind::mark);
  // irecv: gap 5, duration 1, done by the next; complete with a wait: gap 300, duration 70001, wait
  // 70000; the same with a wait that is longer than the call; mark: 2.5.
  const std::string stream(
      "\x00\x05\x01\x01\x03\xac\x02\xf1\xa2\x04\xf0\xa2\x04\x03\x00\x01\x09\x04\x00\x00"
      "\x00\x00\x00\x00\x00\x00\x04\x40",
      28);
  const std::vector<int> expected{
      2, 4, 3, 0, 1, 1, 1, 3,   3, 4,             // shapes 0, 3, 3, 4
      3, 4, 2, 1, 1, 2, 0, 0,   5, 300 % 256, 1,  // gaps 5, 300, 0, 0
      2, 4, 2, 1, 1, 0, 0, 1,   1,                // own 1, 1, 0, 0
      4, 2, 2, 1, 1, 3, 1, 112, 1, 17,        1,  // waits 70000 = 0x11170, 1
      2, 1, 1, 1, 1,                              // done 1
      0, 0, 0, 0, 0, 0, 4, 64};
  EXPECT_EQ(bytes(views::stream_columns(stream, shapes)), expected);
}

TEST(TimelineData, TimesAreInTheLargestUnit) {
  TraceBuilder b(2);
  for (int r = 0; r < 2; ++r) {
    b.init(r);
    b.send(r, 1 - r, 7, 800, Time::ns(4), Time::ns(10), Time::ns(6));
  }
  const auto data = encode_timeline(b.trace());
  EXPECT_EQ(json::parse(data.head)["unit"], 2000);  // of 4, 14 and 6 ns
  const std::vector<int> rank{0, 0, 0, 3, 2, 5, 3};
  std::vector<int> all = rank;
  all.insert(all.end(), rank.begin(), rank.end());
  EXPECT_EQ(bytes(data.stream), all);
}

TEST(TimelineData, CallsHaveTheirPlace) {
  TraceBuilder b(2);
  b.trace().sites = {{"halo", 16}, {"halo", 32}};
  for (int r = 0; r < 2; ++r)
    b.collective(r, "MPI_Barrier", Cost::barrier, 0, Time(), Time::ps(1)).site =
        static_cast<trace::SiteId>(r + 1);
  const auto tell = [](const trace::Site& site) { return "halo.c:" + std::to_string(site.offset); };
  const json head = json::parse(encode_timeline(b.trace(), tell).head);
  EXPECT_EQ(head["places"], json({"halo.c:16", "halo.c:32"}));
  EXPECT_EQ(head["shapes"], json::parse("[[9,0,0,-1,0,0,-1,0,0,0,-1,1,1],"
                                        "[9,0,0,-1,0,0,-1,0,0,0,-1,1,2]]"));
  const json untold = json::parse(encode_timeline(b.trace()).head);
  EXPECT_EQ(untold["places"], json::array());
  EXPECT_EQ(untold["shapes"].size(), 1u);
}

TEST(TimelineData, APostedReceiveHasWhatCame) {
  TraceBuilder b(2);
  b.init(0);
  // A wildcard receive of up to 4096 bytes, completed by the next event with
  // 60 bytes of rank 1 under tag 5; another one that was cancelled.
  b.irecv(0, 1, -1, -1, 4096, Time(), Time::ps(1));
  b.irecv(0, 2, 1, 9, 4096, Time(), Time::ps(1));
  b.add(0, trace::EventKind::complete, "MPI_Wait", Time(), Time::ps(2)).completions = {
      {1, WorldRank(1), 5, Bytes(60), false}, {2, WorldRank(1), 9, Bytes(0), true}};
  const auto data = encode_timeline(b.trace());
  const json head = json::parse(data.head);
  EXPECT_EQ(head["shapes"][1], json::parse("[7,1,0,-1,0,0,1,5,60,0,-1,1,0]"));
  EXPECT_EQ(head["shapes"][2], json::parse("[7,1,0,-1,0,0,1,9,4096,0,-1,1,0]"));
  // Distances to the completing event: 2, and 0 for the cancelled one.
  EXPECT_EQ(bytes(data.stream), (std::vector<int>{0, 0, 0, 2, 0, 1, 2, 4, 0, 1, 0, 6, 0, 2}));
}

TEST(TimelineData, ARequestsNumberMayBeUsedAgain) {
  TraceBuilder b(2);
  for (const int bytes : {60, 70}) {
    b.irecv(0, 1, 1, 5, 4096, Time(), Time::ps(1));
    b.add(0, trace::EventKind::complete, "MPI_Wait", Time(), Time::ps(2)).completions = {
        {1, WorldRank(1), 5, Bytes(static_cast<std::uint64_t>(bytes)), false}};
  }
  const auto data = encode_timeline(b.trace());
  const json shapes = json::parse(data.head)["shapes"];
  EXPECT_EQ(shapes[0][8], 60);
  EXPECT_EQ(shapes[2][8], 70);
  // Each is completed by the next event.
  EXPECT_EQ(bytes(data.stream), (std::vector<int>{0, 0, 1, 1, 2, 0, 2, 4, 0, 1, 1, 2, 0, 2}));
}

TEST(TimelineData, TheNetworkHasPlacesLinksAndWays) {
  TraceBuilder b(4);
  b.send(0, 3, 7, 800, Time::ps(5), Time::ps(300));
  b.send(1, 2, 7, 800, Time::ps(5), Time::ps(300));
  const machine::Topology mesh = machine::make_topology("mesh:1x4");
  // Ranks from right to left.
  const views::RunNetwork network{
      mesh, {machine::NodeId(3), machine::NodeId(2), machine::NodeId(1), machine::NodeId(0)}};
  const json told = json::parse(encode_timeline(b.trace(), {}, &network).head)["network"];
  EXPECT_EQ(told["name"], "mesh:1x4");
  EXPECT_EQ(told["links"], json::parse("[[0,1],[1,2],[2,3]]"));
  EXPECT_EQ(told["ranks"], json::parse("[3,2,1,0]"));
  EXPECT_EQ(told["routes"], json::parse("[[2,1],[3,2,1,0]]"));
  ASSERT_EQ(told["nodes"].size(), 4u);
  EXPECT_EQ(told["nodes"][0][0], 0.0);
  EXPECT_EQ(told["nodes"][3][0], 1.0);
  EXPECT_EQ(told["nodes"][3][1], 0.5);  // in the middle of the square
  EXPECT_FALSE(json::parse(encode_timeline(b.trace()).head).contains("network"));
}

// A collective of ranks 0 and 2 that was simulated as messages.
TEST(TimelineData, RoundsOfCollectives) {
  TraceBuilder b(4);
  b.send(0, 3, 7, 800, Time::ps(5), Time::ps(300));
  const machine::Topology mesh = machine::make_topology("mesh:1x4");
  const views::RunNetwork network{
      mesh, {machine::NodeId(0), machine::NodeId(1), machine::NodeId(2), machine::NodeId(3)}};
  const std::vector<views::CallRounds> rounds{
      {5,
       1,
       Bytes(64),
       LocalRank(),
       "ring",
       {{{WorldRank(0), WorldRank(2)}},
        {{WorldRank(2), WorldRank(0)}, {WorldRank(0), WorldRank(3)}}}}};
  const json head = json::parse(encode_timeline(b.trace(), {}, &network, rounds).head);
  EXPECT_EQ(head["rounds"], json::parse(R"([{"call": [5, 1, 64, -1], "algorithm": "ring",
                                             "rounds": [[0, 2], [2, 0, 0, 3]]}])"));
  // The program's own messages first.
  EXPECT_EQ(head["network"]["routes"], json::parse("[[0,1,2,3],[0,1,2],[2,1,0]]"));
  EXPECT_FALSE(json::parse(encode_timeline(b.trace()).head).contains("rounds"));
}

TEST(TimelineData, CollectivesHaveSizeAndRoot) {
  TraceBuilder b(1);
  b.collective(0, "MPI_Bcast", Cost::bcast, 32, Time(), Time::ps(1)).root = LocalRank(0);
  b.collective(0, "MPI_Ibcast", Cost::bcast, 32, Time(), Time::ps(1)).kind =
      trace::EventKind::icollective;
  const json head = json::parse(encode_timeline(b.trace()).head);
  EXPECT_EQ(head["shapes"][0], json::parse("[9,0,0,-1,0,0,-1,0,0,32,0,1,0]"));
  EXPECT_EQ(head["shapes"][1], json::parse("[14,1,0,-1,0,0,-1,0,0,32,-1,1,0]"));
  EXPECT_EQ(head["comms"], json::parse(R"([{"name":"MPI_COMM_WORLD","size":1}])"));
}

TEST(TimelineData, CommunicatorsHaveTheirMembers) {
  TraceBuilder b(8);
  const auto add = [&b](std::uint64_t key, std::vector<int> ranks) {
    trace::Communicator comm;
    comm.key = key;
    for (int rank : ranks) comm.members.emplace_back(rank);
    b.trace().comms.push_back(comm);
  };
  add(1, {1, 3, 5, 7});
  add(2, {4, 5, 6, 0});
  add(3, {2});
  const json comms = json::parse(encode_timeline(b.trace()).head)["comms"];
  EXPECT_FALSE(comms[0].contains("members"));  // the world
  EXPECT_EQ(comms[1]["members"], json::parse("[[1,2,4]]"));
  EXPECT_EQ(comms[2]["members"], json::parse("[[4,1,3],[0,1,1]]"));
  EXPECT_EQ(comms[3]["members"], json::parse("[[2,1,1]]"));
}

TEST(TimelineData, MarksHaveTheirNumber) {
  TraceBuilder b(1);
  b.mark(0, "residual", 2.5, Time::ps(5));
  b.mark(0, "residual", 1, Time::ps(3));
  const auto data = encode_timeline(b.trace());
  const json head = json::parse(data.head);
  EXPECT_EQ(head["shapes"], json::parse("[[15,0,0,-1,0,0,-1,0,0,0,-1,1,0]]"));
  // 2.5 is 0x4004000000000000, 1 is 0x3ff0000000000000.
  EXPECT_EQ(bytes(data.stream), (std::vector<int>{0, 5, 0, 0, 0, 0, 0, 0, 0, 4,    0x40,
                                                  0, 3, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}));
}

TEST(TimelineData, NotesAndWhatFollowsFinalize) {
  TraceBuilder b(1, trace::Clock::cpu);
  b.trace().sealed = false;
  b.init(0);
  b.finalize(0, Time::ps(4));
  b.add(0, trace::EventKind::call, "MPI_Finalized", Time::ps(4), Time::ps(4));
  const json head = json::parse(encode_timeline(b.trace()).head);
  EXPECT_EQ(head["notes"].size(), 2u);
  EXPECT_EQ(head["ranks"], json::parse("[[2,6,4]]"));
}

}  // namespace
}  // namespace foretrace
