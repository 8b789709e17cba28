#include "views/report/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "../analysis/trace_builder.hpp"

namespace foretrace {
namespace {

using machine::Cost;
using nlohmann::json;
using test::TraceBuilder;
using testing::HasSubstr;
using testing::Not;

Time us(std::int64_t n) {
  return Time::ns(n * 1000);
}

// Rank 0 computes 30, sends 10 us, waits 10 and is 10 us in the barrier; rank
// 1 receives 50 us, 35 of them waiting, is 10 us in the barrier, computes 20.
TraceBuilder two_ranks() {
  TraceBuilder b(2);
  b.trace().info.program = "pair";
  b.trace().info.machine = "toy";
  b.init(0);
  b.phase_begin(0, "exchange");
  b.send(0, 1, 7, 800, us(30), us(10));
  b.collective(0, "MPI_Barrier", Cost::barrier, 0, Time(), us(20), us(10));
  b.phase_end(0, "exchange");
  b.finalize(0);
  b.init(1);
  b.recv(1, 0, 7, 800, Time(), us(50), us(35));
  b.collective(1, "MPI_Barrier", Cost::barrier, 0, Time(), us(10));
  b.finalize(1, us(20));
  return b;
}

// A program names its phases as it likes: none may end a line or command the terminal.
TEST(TextReport, ShowsAnyName) {
  TraceBuilder b(1);
  b.trace().info.program = "a\x1b[2Jb";
  b.init(0);
  for (const char* name : {"x\ny\t\x1b[31m", "\xff\xc3\xa9\xc2\x9b"}) {
    b.phase_begin(0, name);
    b.collective(0, "MPI_Barrier", Cost::barrier, 0, us(1), Time(), us(1));
    b.phase_end(0, name);
  }
  b.finalize(0);
  const analysis::Profile profile = analysis::profile_trace(b.trace());
  const std::string text = views::render_text_report(profile);
  EXPECT_THAT(text, HasSubstr("  x\\ny\\t\\x1b[31m  1 us"));
  EXPECT_THAT(text, HasSubstr("  \\xff\xc3\xa9\\xc2\\x9b   1 us"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_EQ(json::parse(views::render_json_report(profile))["phases"][0]["name"], "x\ny\t\x1b[31m");
}

TEST(TextReport, IsAlignedAndComplete) {
  EXPECT_EQ(views::render_text_report(analysis::profile_trace(two_ranks().trace())),
            R"(program      pair
trace        predict, virtual clock, machine toy
ranks        2
time         80 us
serial time  50 us
speed-up     0.625
efficiency   31.2 %  (load balance 83.3 %, communication 37.5 %)
wait time    45 us over all ranks
messages     1, 800 B

Ranks
     rank   time  compute    MPI  of it wait  others wait  utilisation
        0  60 us    30 us  30 us       10 us        30 us       37.5 %
        1  80 us    20 us  60 us       35 us        10 us       25.0 %
      min  60 us    20 us  30 us       10 us        10 us       25.0 %
  of rank      0        1      0           0            1            1
     mean  70 us    25 us  45 us     22.5 us        20 us       31.2 %
      max  80 us    30 us  60 us       35 us        30 us       37.5 %
  of rank      1        0      1           1            0            0
  of it wait: beyond what the calls would take if nobody were late; what is left of MPI is the calls' own work
  others wait: for this rank, which had not made its call yet

States, over all ranks
  state         time   share  of it wait
  COMPUTE      50 us  35.7 %         0 s
  MPI_Recv     50 us  35.7 %       35 us
  MPI_Barrier  30 us  21.4 %       10 us
  MPI_Send     10 us   7.1 %         0 s

Calls, over all ranks
  function      calls   sent  received  collective
  MPI_Init          2      -         -           -
  MPI_Send          1  800 B         -           -
  MPI_Barrier       2      -         -           -
  MPI_Finalize      2      -         -           -
  MPI_Recv          1      -     800 B           -

Who waits for whom
  rank  for rank  in           times   wait  of it late
     1         0  MPI_Recv         1  35 us       30 us
     0         1  MPI_Barrier      1  10 us       10 us
  of it late: the other rank had not made its call yet; the rest is the messages' way

Collectives, and who came last most often (waits over all ranks)
  function     times  last: rank  so often  first to last   wait
  MPI_Barrier      1           1         1          10 us  10 us

Computation between calls, by what its imbalance costs
  after        before        ranks  times   mean    max  on rank  max/mean  costs
  MPI_Barrier  MPI_Finalize      2      1  10 us  20 us        1         2  10 us
  MPI_Init     MPI_Send          1      1  30 us  30 us        0         1    0 s
  mean, max: of the ranks that pass there, all times together; costs: what each time's slowest rank
  computes beyond the mean

Phases (time: the maximum over all ranks)
  phase      time   mean  slowest rank  times entered
  exchange  60 us  30 us             0              1
)");
}

// Two sites of one line are one place; a line that calls two functions is two.
// The 300th byte is within a character, which is left out.
TEST(TextReport, CommandsAreOneLineOfAReasonableLength) {
  TraceBuilder b = two_ranks();
  const std::string a(299, 'a');
  b.trace().info.program = a + "\xc3\xbc" + std::string(700, 'b');
  EXPECT_THAT(views::render_text_report(analysis::profile_trace(b.trace())),
              testing::StartsWith("program      " + a + " ... (1001 bytes)\ntrace "));
  b.trace().info.program = "./a x\ny\033[31m";
  EXPECT_THAT(views::render_text_report(analysis::profile_trace(b.trace())),
              testing::StartsWith("program      ./a x y [31m\ntrace "));
}

TEST(TextReport, CallSites) {
  TraceBuilder b = two_ranks();
  b.trace().sites = {{"halo", 1}, {"halo", 2}, {"halo", 3}, {"halo", 4}};
  b.trace().ranks[0][2].site = 1;
  b.trace().ranks[0][3].site = 2;
  b.trace().ranks[1][1].site = 4;
  b.trace().ranks[1][2].site = 3;
  const auto tell = [](const trace::Site& site) {
    return site.offset == 4 ? std::string() : site.offset == 1 ? "a.c:1" : "b.c:2";
  };
  const auto profile = analysis::profile_trace(b.trace(), tell);
  EXPECT_THAT(views::render_text_report(profile), HasSubstr(R"(
Call sites, over all ranks
  function     place  calls   time  of it wait
  MPI_Barrier  b.c:2      2  30 us       10 us
  MPI_Send     a.c:1      1  10 us         0 s
)"));
  EXPECT_THAT(views::render_text_report(profile, {.max_lines = 1}),
              HasSubstr("\n  MPI_Barrier  b.c:2      2  30 us       10 us\n"
                        "  1 more: --json lists every one of them\n"));
  const json report = json::parse(views::render_json_report(profile));
  EXPECT_EQ(report["sites"], json::parse(R"([
    {"function": "MPI_Barrier", "place": "b.c:2", "calls": 2, "time": 3e-05, "wait": 1e-05},
    {"function": "MPI_Send", "place": "a.c:1", "calls": 1, "time": 1e-05, "wait": 0.0}])"));
}

// A file's report is that of its trace in memory, for each clock.
TEST(TextReport, OfAFile) {
  TraceBuilder b = two_ranks();
  b.phase_begin(1, "open to the end");
  b.mark(1, "residual", 0.5);
  b.trace().sites = {{"halo", 1}, {"halo", 2}};
  b.trace().ranks[0][2].site = 2;
  b.trace().ranks[0][3].site = b.trace().ranks[1][1].site = 1;
  const auto tell = [](const trace::Site& site) {
    return site.object + (site.offset == 1 ? ".c:1" : ".c:2");
  };
  std::string name =
      (std::filesystem::temp_directory_path() / ("report-" + std::string(6, 'X'))).string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const std::string path = name + "/a.ftr";
  for (const auto clock : {trace::Clock::cpu, trace::Clock::wall, trace::Clock::virtual_}) {
    b.trace().info.clock = clock;
    trace::write_trace(b.trace(), path);
    const json of_file = json::parse(views::render_json_report(analysis::profile_file(path, tell)));
    EXPECT_EQ(of_file, json::parse(views::render_json_report(
                           analysis::profile_trace(trace::read_trace(path), tell))));
    EXPECT_EQ(of_file["sites"].size(), 3u);
    EXPECT_EQ(of_file.contains("clock_violations"), clock == trace::Clock::wall);
  }
  std::filesystem::remove_all(name);
}

TEST(TextReport, SaysWhatIsWrongFirst) {
  TraceBuilder b(1, trace::Clock::cpu);
  b.init(0);
  b.trace().sealed = false;
  b.trace().damage.push_back({WorldRank(0), 4711, "record of unknown kind 99"});
  const std::string text = views::render_text_report(analysis::profile_trace(b.trace()));
  EXPECT_EQ(text.find("note: incomplete: "), 0u);
  EXPECT_THAT(text,
              HasSubstr("note: damaged: rank 0, file offset 4711: record of unknown kind 99\n"));
  EXPECT_THAT(text,
              HasSubstr("note: recorded CPU times only; simulate or predict it to get times\n"));
  EXPECT_THAT(text, HasSubstr("CPU time"));
}

TEST(TextReport, ManyRanksAreSummedUp) {
  TraceBuilder b(10);
  for (int r = 0; r < 10; ++r) b.init(r), b.finalize(r, us(10 + r));
  const std::string text =
      views::render_text_report(analysis::profile_trace(b.trace()), {.max_ranks = 9});
  EXPECT_THAT(text, HasSubstr("10 ranks: --json lists every one of them"));
  EXPECT_THAT(text, HasSubstr("  mean  14.5 us"));
  EXPECT_THAT(text, Not(HasSubstr("\n     0 ")));
}

TEST(JsonReport, HasTheAgreedFields) {
  const json report =
      json::parse(views::render_json_report(analysis::profile_trace(two_ranks().trace())));
  EXPECT_EQ(report["ranks"], 2);
  EXPECT_EQ(report["time"], 80e-6);
  EXPECT_EQ(report["serial_time"], 50e-6);
  EXPECT_EQ(report["speedup"], 0.625);
  EXPECT_EQ(report["efficiency"], 0.3125);
  EXPECT_EQ(report["complete"], true);
  EXPECT_EQ(report["damage"], json::array());
  EXPECT_EQ(report["states"]["COMPUTE"], 50e-6);
  EXPECT_EQ(report["states"]["MPI_Recv"], 50e-6);
  EXPECT_EQ(report["waits"]["MPI_Recv"], 35e-6);
  EXPECT_EQ(report["per_rank"][1], json({{"rank", 1},
                                         {"time", 80e-6},
                                         {"compute", 20e-6},
                                         {"mpi", 60e-6},
                                         {"wait", 35e-6},
                                         {"others_wait", 10e-6},
                                         {"utilisation", 0.25}}));
  EXPECT_EQ(report["waits_for"][0], json({{"rank", 1},
                                          {"for", 0},
                                          {"function", "MPI_Recv"},
                                          {"place", nullptr},
                                          {"times", 1},
                                          {"wait", 35e-6},
                                          {"late", 30e-6}}));
  EXPECT_EQ(report["collectives"][0], json({{"function", "MPI_Barrier"},
                                            {"place", nullptr},
                                            {"times", 1},
                                            {"last", 1},
                                            {"last_times", 1},
                                            {"spread", 10e-6},
                                            {"wait", 10e-6}}));
  EXPECT_EQ(report["computation"][0],
            json({{"after", {{"function", "MPI_Barrier"}, {"place", nullptr}}},
                  {"before", {{"function", "MPI_Finalize"}, {"place", nullptr}}},
                  {"ranks", 2},
                  {"times", 1},
                  {"time", 20e-6},
                  {"mean", 10e-6},
                  {"max", 20e-6},
                  {"slowest", 1},
                  {"ratio", 2.0},
                  {"cost", 10e-6}}));
  EXPECT_EQ(report["wait_unknown"], 0.0);
  EXPECT_EQ(report["phases"][0]["name"], "exchange");
  EXPECT_EQ(report["phases"][0]["per_rank"], json({60e-6, 0.0}));
  EXPECT_EQ(report["functions"][1]["sent"], 800);
  EXPECT_FALSE(report.contains("stats"));
}

// Where nothing computes there is no speed-up to tell.
TEST(JsonReport, NothingComputes) {
  TraceBuilder b(2);
  b.init(0), b.init(1);
  b.collective(0, "MPI_Barrier", Cost::barrier, 0, Time(), us(5));
  b.collective(1, "MPI_Barrier", Cost::barrier, 0, Time(), us(5));
  const auto profile = analysis::profile_trace(b.trace());
  const json report = json::parse(views::render_json_report(profile));
  for (const char* ratio : {"speedup", "efficiency", "load_balance", "communication_efficiency"})
    EXPECT_TRUE(report.at(ratio).is_null()) << ratio;
  const std::string text = views::render_text_report(profile);
  EXPECT_THAT(text, HasSubstr("serial time  0 s\nwait time"));
  EXPECT_THAT(text, Not(HasSubstr("speed-up")));
  EXPECT_THAT(text, Not(HasSubstr("Computation between calls")));
}

// A call of which nobody knows whether it waited; and a clock that knows nothing of waits.
TEST(JsonReport, UnknownWaits) {
  TraceBuilder b(1, trace::Clock::wall);
  b.init(0);
  b.add(0, trace::EventKind::call, "MPI_Probe", us(1), us(20));
  const auto profile = analysis::profile_trace(b.trace());
  json report = json::parse(views::render_json_report(profile));
  EXPECT_TRUE(report.at("waits").at("MPI_Probe").is_null());
  EXPECT_EQ(report.at("wait_unknown"), 20e-6);
  const std::string text = views::render_text_report(profile);
  EXPECT_EQ(text.find("note: 20 us in calls of which nobody knows whether they waited"), 0u);
  EXPECT_THAT(text, HasSubstr("MPI_Probe  20 us  95.2 %     unknown\n"));
  b.trace().info.clock = trace::Clock::cpu;
  report = json::parse(views::render_json_report(analysis::profile_trace(b.trace())));
  EXPECT_TRUE(report.at("wait").is_null());
  EXPECT_TRUE(report.at("per_rank")[0].at("wait").is_null());
}

// By the CPU clock nobody knows how long calls took.
TEST(JsonReport, TimesOfCallsThatNobodyKnows) {
  TraceBuilder b = two_ranks();
  json report = json::parse(views::render_json_report(analysis::profile_trace(b.trace())));
  EXPECT_EQ(report.at("states").at("MPI_Send"), 10e-6);
  b.trace().info.clock = trace::Clock::cpu;
  report = json::parse(views::render_json_report(analysis::profile_trace(b.trace())));
  EXPECT_TRUE(report.at("states").at("MPI_Send").is_null());
  EXPECT_EQ(report.at("states").at("COMPUTE"), 50e-6);
  EXPECT_TRUE(report.at("per_rank")[0].at("mpi").is_null());
  for (const json& function : report.at("functions"))
    EXPECT_TRUE(function.at("time").is_null()) << function;
}

TEST(JsonReport, TooManyCallsToTellWhoWaitsForWhom) {
  TraceBuilder b = two_ranks();
  auto profile = analysis::profile_trace(b.trace(), {}, 0);
  json report = json::parse(views::render_json_report(profile));
  EXPECT_TRUE(report["waits_for"].is_null());
  EXPECT_TRUE(report["collectives"].is_null());
  EXPECT_TRUE(report["per_rank"][0]["others_wait"].is_null());
  EXPECT_DOUBLE_EQ(report["wait"], 45e-6);
  EXPECT_THAT(
      views::render_text_report(profile),
      HasSubstr("note: the run has too many messages and waits to tell who waits for whom\n"));
  b.trace().info.clock = trace::Clock::wall;
  profile = analysis::profile_trace(b.trace(), {}, 0);
  report = json::parse(views::render_json_report(profile));
  EXPECT_TRUE(report["wait"].is_null());
  EXPECT_TRUE(report["wait_unknown"].is_null());
  EXPECT_TRUE(report["waits"]["MPI_Recv"].is_null());
  EXPECT_TRUE(report["per_rank"][1]["wait"].is_null());
  const std::string text = views::render_text_report(profile);
  EXPECT_THAT(text, HasSubstr("who waits for whom, and how long\n"));
  EXPECT_THAT(text, Not(HasSubstr("wait time")));
}

TEST(JsonReport, StatsOfAReplayAndDamage) {
  TraceBuilder b(1);
  b.trace().sealed = false;
  b.trace().damage.push_back({WorldRank(), 4096, "no block here"});
  b.trace().info.program = "caf\xe9";  // not UTF-8
  const auto profile = analysis::profile_trace(b.trace());
  const json report = json::parse(views::render_json_report(
      profile,
      views::ReplayStats{.operations = 5, .messages = 2, .seconds = 0.5, .peak_bytes = 9}));
  EXPECT_EQ(report["stats"],
            json({{"operations", 5}, {"messages", 2}, {"seconds", 0.5}, {"peak_bytes", 9}}));
  EXPECT_EQ(report["complete"], false);
  EXPECT_EQ(report["damage"][0]["rank"], nullptr);
  EXPECT_EQ(report["damage"][0]["offset"], 4096);
  EXPECT_EQ(report["program"], "caf\xef\xbf\xbd");
}

}  // namespace
}  // namespace foretrace
