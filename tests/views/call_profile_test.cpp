// What a small profile looks like, in all forms.
#include "views/profile/call_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace foretrace::views {
namespace {

using testing::HasSubstr;
using testing::Not;

analysis::Spread spread(std::int64_t min, std::int64_t mean, std::int64_t max) {
  return {Time::ns(min), Time::ns(mean), Time::ns(max), WorldRank(1)};
}

analysis::CallProfile example() {
  analysis::CallProfile profile;
  profile.program = "./app <1>";
  profile.mpi = "mpich";
  profile.ranks = 2;
  profile.calls = 12;
  profile.time = spread(1'000'000, 1'000'000, 1'000'000);
  profile.application = spread(600'000, 700'000, 800'000);
  profile.mpi_time = spread(200'000, 300'000, 400'000);
  profile.own = spread(1000, 2000, 3000);
  for (int r = 0; r < 2; ++r)
    profile.per_rank.push_back({WorldRank(r), "node" + std::to_string(r), Time::ns(1'000'000),
                                Time::ns(800'000 - 200'000 * r), Time::ns(200'000 + 200'000 * r),
                                Time::ns(1000), ""});
  analysis::FunctionTotal recv;
  recv.name = "MPI_Recv";
  recv.kind = analysis::CallClass::receive;
  recv.calls = 10;
  recv.time = Time::ns(590'000);
  recv.longest = Time::ns(90'000);
  recv.ranks = spread(100'000, 295'000, 490'000);
  recv.moved.received = Bytes(80);
  analysis::FunctionTotal rank;
  rank.name = "MPI_Comm_rank";
  rank.calls = 2;
  rank.time = Time::ns(10'000);
  profile.functions = {recv, rank};
  profile.classes.assign(static_cast<std::size_t>(analysis::CallClass::kCount), Time());
  profile.classes[static_cast<std::size_t>(analysis::CallClass::receive)] = recv.time;
  profile.classes[static_cast<std::size_t>(analysis::CallClass::other)] = rank.time;
  analysis::SiteTotal site;
  static_cast<analysis::CallTotal&>(site) = recv;
  site.function = "MPI_Recv";
  site.frames = {{"exchange", "/src/halo.c", 37, "/bin/app", 0x1200, "halo.c:37"},
                 {"", "", 0, "/bin/app", 0x1300, "app+0x1300"}};
  profile.sites = {site};
  profile.comms = {{"MPI_COMM_WORLD", 2, false, 12, Time::ns(600'000), recv.moved}};
  profile.sizes = {{"MPI_COMM_WORLD", "MPI_Recv", trace::Direction::received, Bytes(8), Bytes(15),
                    10, Bytes(80), Time::ns(590'000)}};
  profile.matrix = {{WorldRank(0), WorldRank(1), 10, Bytes(80)}};
  return profile;
}

TEST(CallProfileText, ShowsAllTables) {
  const std::string text = render_call_profile_text(example(), {});
  EXPECT_THAT(text, HasSubstr("program         ./app <1>\n"));
  EXPECT_THAT(text, HasSubstr("application     600 us min, 700 us mean, 800 us max on rank 1, "
                              "imbalance 14.3 %\n"));
  EXPECT_THAT(text, HasSubstr("MPI share       30.0 % of all ranks' time, 12 calls\n"));
  EXPECT_THAT(text, HasSubstr("may be waiting  29.5 %"));
  EXPECT_THAT(text, HasSubstr("profiler        3 us on the rank with most"));
  EXPECT_THAT(text, HasSubstr("     0  1 ms       800 us  200 us     20.0 %  node0\n"));
  EXPECT_THAT(text, HasSubstr("  receiving *  590 us  29.5 %\n"));
  EXPECT_THAT(text, HasSubstr("halo.c:37 exchange < app+0x1300\n"));
  EXPECT_THAT(text, HasSubstr("Messages between ranks: 10 with 80 B; 1 of 4 pairs have any\n"));
  EXPECT_THAT(text, Not(HasSubstr("incomplete")));
}

TEST(CallProfileText, WhoIsWaitedFor) {
  analysis::CallProfile profile = example();
  EXPECT_THAT(render_call_profile_text(profile, {}), Not(HasSubstr("Who is waited for")));
  profile.sites[0].function = "MPI_Barrier";
  profile.sites[0].ranks.fastest = WorldRank(0);
  profile.waited_for = {{0, Time::ns(390'000)}};
  EXPECT_THAT(
      render_call_profile_text(profile, {}),
      HasSubstr("  function     waited  for rank  its time    most  on rank  calls  called at\n"
                "  MPI_Barrier  390 us         0    100 us  490 us        1     10  halo.c:37"));
  const auto json = nlohmann::json::parse(render_call_profile_json(profile));
  EXPECT_EQ(json.at("waited_for"),
            nlohmann::json::parse(R"([{"site": 0, "rank": 0, "waited": 0.00039}])"));
  EXPECT_EQ(json.at("sites")[0].at("per_rank").at("fastest"), 0);
  EXPECT_EQ(json.at("mpi").at("fastest"), nullptr);
  EXPECT_THAT(render_call_profile_html(profile), HasSubstr("Who is waited for in collectives"));
}

TEST(CallProfileText, WhoWaitsForWhom) {
  analysis::CallProfile profile = example();
  EXPECT_THAT(render_call_profile_text(profile, {}), Not(HasSubstr("Who waits for whom")));
  profile.senders = {{0, WorldRank(1), WorldRank(0), 4, Time::ns(390'000), Time::ns(100'000)},
                     {0, WorldRank(1), WorldRank(), 1, Time::ns(5'000), Time::ns(5'000)}};
  EXPECT_THAT(render_call_profile_text(profile, {}),
              HasSubstr("  rank  for rank    time  calls  longest  function  called at\n"
                        "     1         0  390 us      4   100 us  MPI_Recv  halo.c:37"));
  EXPECT_THAT(render_call_profile_text(profile, {}), HasSubstr("     1   several    5 us      1"));
  const auto json = nlohmann::json::parse(render_call_profile_json(profile));
  EXPECT_EQ(json.at("waits_for")[0],
            nlohmann::json::parse(R"({"site": 0, "rank": 1, "for": 0, "calls": 4,
                                      "time": 0.00039, "longest": 0.0001})"));
  EXPECT_EQ(json.at("waits_for")[1].at("for"), nullptr);
  EXPECT_THAT(render_call_profile_html(profile), HasSubstr("Who waits for whom in receives"));
}

TEST(CallProfileText, SaysWhatItLeavesOut) {
  const std::string text = render_call_profile_text(example(), {1, 1});
  EXPECT_THAT(text, HasSubstr("  1 more functions: --top or --json shows them\n"));
  EXPECT_THAT(text, Not(HasSubstr("MPI_Comm_rank")));
  EXPECT_THAT(text, HasSubstr("  2 ranks: --json lists every one of them\n"));
  EXPECT_THAT(text, Not(HasSubstr("node0")));
}

TEST(CallProfileText, SaysHowItEnded) {
  analysis::CallProfile profile = example();
  profile.complete = false;
  profile.several_threads = true;
  profile.lost = 3;
  profile.per_rank[1].end = "was in MPI_Recv called by exchange at halo.c:37";
  const std::string text = render_call_profile_text(profile, {});
  EXPECT_THAT(text, HasSubstr("rank 1 was in MPI_Recv called by exchange at halo.c:37\n"));
  EXPECT_THAT(text, HasSubstr("3 calls are counted without"));
  EXPECT_THAT(text, HasSubstr("several threads:"));
}

TEST(CallProfile, WarnsOfMoreRanksThanCores) {
  analysis::CallProfile profile = example();
  const char* const kWarning = "more ranks than processor cores";
  EXPECT_THAT(render_call_profile_text(profile, {}), Not(HasSubstr(kWarning)));
  EXPECT_THAT(render_call_profile_html(profile), Not(HasSubstr(kWarning)));
  EXPECT_THAT(render_call_profile_json(profile), HasSubstr("\"more_ranks_than_cores\": false"));
  profile.shares_cores = true;
  EXPECT_THAT(render_call_profile_text(profile, {}), testing::StartsWith("WARNING: "));
  EXPECT_THAT(render_call_profile_text(profile, {}), HasSubstr(kWarning));
  EXPECT_THAT(render_call_profile_html(profile), HasSubstr(kWarning));
  EXPECT_THAT(render_call_profile_json(profile), HasSubstr("\"more_ranks_than_cores\": true"));
}

TEST(CallProfileText, OfNothing) {
  analysis::CallProfile profile;
  profile.ranks = 1;
  profile.classes.assign(static_cast<std::size_t>(analysis::CallClass::kCount), Time());
  EXPECT_THAT(render_call_profile_text(profile, {}), HasSubstr("0 calls"));
  EXPECT_THAT(render_call_profile_html(profile), HasSubstr("</html>"));
}

TEST(CallProfileJson, HoldsEverything) {
  const auto json = nlohmann::json::parse(render_call_profile_json(example()));
  EXPECT_EQ(json["ranks"], 2);
  EXPECT_EQ(json["time"], 1e-3);
  EXPECT_EQ(json["mpi"]["max"], 4e-4);
  EXPECT_EQ(json["per_rank"][1]["mpi"], 4e-4);
  EXPECT_EQ(json["classes"]["receiving"], 5.9e-4);
  EXPECT_EQ(json["sites"][0]["frames"][0]["line"], 37);
  EXPECT_EQ(json["sites"][0]["frames"][1]["offset"], 0x1300);
  EXPECT_EQ(json["communicators"][0]["received"], 80);
  EXPECT_EQ(json["sizes"][0]["to"], 15);
  EXPECT_EQ(json["matrix"][0]["bytes"], 80);
  EXPECT_FALSE(json["per_rank"][0].contains("end"));
}

TEST(CallProfileHtml, IsOnePage) {
  const std::string page = render_call_profile_html(example());
  EXPECT_THAT(page, HasSubstr("./app &lt;1&gt;"));
  EXPECT_THAT(page, HasSubstr("halo.c:37 exchange &lt; app+0x1300"));
  EXPECT_THAT(page, HasSubstr("<title>0 to 1: 10 messages, 80 B</title>"));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
}

// More ranks than can be drawn are listed.
TEST(CallProfileHtml, ManyRanks) {
  analysis::CallProfile profile = example();
  profile.ranks = 5000;
  const std::string page = render_call_profile_html(profile);
  EXPECT_THAT(page, Not(HasSubstr("<svg")));
  EXPECT_THAT(page, HasSubstr("<td>0</td><td>1</td><td>10</td><td>80 B</td>"));
}

}  // namespace
}  // namespace foretrace::views
