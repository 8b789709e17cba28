#include "study/expand.hpp"

#include <gmock/gmock.h>

#include <set>

#include "base/error.hpp"
#include "study/run.hpp"

namespace {

using namespace foretrace;
using study::Job;
using testing::Contains;
using testing::ElementsAre;

const std::string kSource = FORETRACE_SOURCE_DIR;

study::Expansion expand(const std::string& text) {
  const auto machine = [](const std::string& name) {
    return kSource + "/machines/" + name + ".toml";
  };
  const auto model = [](const std::string& name) { return kSource + "/models/" + name + ".model"; };
  return study::expand(study::parse_study(text, "s.toml"), {machine, model});
}

const std::string kBase =
    "[parameters]\np = [1, 2, 4]\nn = [10, 20]\nmachine = ['cray-t3d', 'sparc-ethernet']\n"
    "[programs.sh]\ncommand = \"sh -c 'echo {n}'\"\nranks = '{p}'\n";

TEST(Expand, MakesEachPointOnce) {
  // The live way does not use the machine: 3 x 2; the other one does: 3 x 2 x 2.
  const auto all = expand(kBase + "[ways.live]\n[ways.predict]\nmachine = '{machine}'\n");
  EXPECT_EQ(all.combinations, 12u);
  EXPECT_EQ(all.jobs.size(), 6u + 12u);
  std::set<std::int64_t> points;
  for (const Job& job : all.jobs) points.insert(job.point);
  EXPECT_EQ(points.size(), all.jobs.size());
  const Job& job = all.jobs[1];
  EXPECT_EQ(job.machine, "cray-t3d");
  EXPECT_EQ(job.ranks, 1);
  ASSERT_EQ(job.parameters.size(), 2u);  // p and n; the machine has a column of its own
  EXPECT_THAT(job.command, Contains("echo 10"));
  EXPECT_EQ(points, [&] {
    std::set<std::int64_t> again;
    for (const Job& each :
         expand(kBase + "[ways.live]\n[ways.predict]\nmachine = '{machine}'\n").jobs)
      again.insert(each.point);
    return again;
  }());
}

TEST(Expand, ZipsAndLeavesOut) {
  const std::string ways = "[ways.live]\n";
  EXPECT_EQ(expand("[study]\nwhere = 'n > 5 * p'\n" + kBase + ways).jobs.size(), 3u);
  const auto zipped = expand(
      "zip = [['p', 'n']]\n[parameters]\np = [1, 2]\nn = [10, 20]\n[programs.sh]\n"
      "command = 'sh {n}'\nranks = '{p}'\n[ways.live]\n");
  ASSERT_EQ(zipped.jobs.size(), 2u);
  EXPECT_EQ(zipped.jobs[1].ranks, 2);
  EXPECT_EQ(zipped.jobs[1].command.back(), "20");
}

TEST(Expand, RecordsOncePerProgramAndRanks) {
  const auto all = expand(kBase + "[ways.simulate]\nmachine = '{machine}'\n");
  std::set<std::int64_t> recordings;
  for (const Job& job : all.jobs) recordings.insert(job.recording->point);
  EXPECT_EQ(all.jobs.size(), 12u);
  EXPECT_EQ(recordings.size(), 6u);
  for (const Job& job : all.jobs) EXPECT_FALSE(job.measures);
  // Parts hold all, and what shares a recording is in one.
  std::size_t sum = 0;
  std::set<std::int64_t> seen;
  for (int part = 0; part < 4; ++part) {
    std::set<std::int64_t> here;
    for (const Job& job : study::jobs_of_part(all.jobs, part, 4)) {
      ++sum;
      here.insert(job.recording->point);
    }
    for (const std::int64_t each : here) EXPECT_TRUE(seen.insert(each).second);
  }
  EXPECT_EQ(sum, 12u);
}

TEST(Expand, KnowsWhatMeasures) {
  const auto measures = [](const std::string& way) { return expand(kBase + way).jobs[0].measures; };
  EXPECT_TRUE(measures("[ways.measured]\n"));
  EXPECT_TRUE(measures("[ways.live]\n"));
  EXPECT_TRUE(measures("[ways.live]\noptions = '--compute measured:2'\n"));
  EXPECT_FALSE(measures("[ways.live]\noptions = '--compute=annotated'\n"));
  EXPECT_FALSE(measures("[ways.model]\nfile = 'life'\nmachine = '{machine}'\n"));
}

TEST(Expand, SaysWhatIsNotThere) {
  EXPECT_THROW(expand("[programs.a]\ncommand = '/no/such/program'\n[ways.live]\n"), Error);
  EXPECT_THROW(expand("[programs.a]\ncommand = 'sh'\nranks = 'x'\n[ways.live]\n"), Error);
  EXPECT_THROW(expand("[study]\nwhere = 'q'\n" + kBase + "[ways.live]\n"), UsageError);
}

}  // namespace
