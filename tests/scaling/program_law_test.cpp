// What calls will take on more ranks: exact where the data sheet and the counts tell it.
#include "scaling/program_law.hpp"

#include <gmock/gmock.h>

#include <functional>

#include "base/error.hpp"
#include "machine/machine_file.hpp"
#include "machine/timing.hpp"

namespace {

using namespace foretrace;
using machine::Cost;

// Small messages pay for their number alone.
const char* const kMachine = R"(
[machine]
name = "m"
time_unit = "us"
[[function]]
name = "gather"
class = "collective"
[[function.regime]]
bytes = [0, 256]
c = 10.0
s = 2.0
f = "p"
[[function.regime]]
bytes = [257]
c = 10.0
k = 0.01
g = "p d"
)";

double sheet(int ranks, std::uint64_t bytes) {
  const auto model = machine::parse_machine(kMachine, "m.toml");
  return machine::Timing(model, machine::Bound::avg)
      .cost(Cost::gather, ranks, Bytes(bytes))
      .seconds();
}

analysis::SiteProfile site(const std::string& function, int ranks, double own, double wait) {
  analysis::SiteProfile out;
  out.function = function;
  out.place = "a.c:1";
  out.calls = static_cast<std::uint64_t>(ranks);
  out.time = Time::from_seconds((own + wait) * ranks);
  out.wait = Time::from_seconds(wait * ranks);
  return out;
}

// A matrix of 2^20 bytes that is gathered, whatever the ranks; others wait 1 s / p elsewhere.
std::vector<analysis::Profile> runs(const std::vector<int>& ranks) {
  std::vector<analysis::Profile> out;
  for (const int p : ranks) {
    analysis::Profile run;
    run.ranks = p;
    run.info.clock = trace::Clock::virtual_;
    run.serial_time = Time::from_seconds(64);
    const std::uint64_t bytes = (1U << 20U) / static_cast<std::uint64_t>(p);
    analysis::SiteProfile gather = site("MPI_Gather", p, sheet(p, bytes), 0);
    gather.cost = Cost::gather;
    gather.bytes = Bytes(bytes * static_cast<std::uint64_t>(p));
    gather.members = static_cast<std::uint64_t>(p) * static_cast<std::uint64_t>(p);
    run.sites = {gather, site("MPI_Wait", p, 0.001, 1.0 / p)};
    out.push_back(run);
  }
  return out;
}

TEST(ProgramLaw, EvaluatesTheDataSheetThere) {
  const auto model = machine::parse_machine(kMachine, "m.toml");
  const auto law = scaling::fit_program(runs({2, 4, 8, 16, 32, 64}), &model, 8192);
  ASSERT_EQ(law.sites.size(), 2U);
  const scaling::SiteLaw& gather = law.sites[0];
  EXPECT_EQ(gather.function, "MPI_Gather");
  EXPECT_EQ(gather.on_sheet, "gather");
  EXPECT_DOUBLE_EQ(gather.calls.value, 1);
  // In the other regime, where no run was, and where the bytes do not matter.
  EXPECT_NEAR(gather.bytes.value, 128, 0.1);
  EXPECT_NEAR(gather.members.value, 8192, 1);
  EXPECT_NEAR(gather.own.value / sheet(8192, 128), 1, 1e-3);
  EXPECT_TRUE(gather.identifiable());
  const scaling::SiteLaw& wait = law.sites[1];
  EXPECT_NEAR(wait.own.value, 0.001, 1e-9);
  EXPECT_NEAR(wait.wait.value, 1.0 / 8192, 1e-6);
  EXPECT_NEAR(wait.last, 0.001 + 1.0 / 64, 1e-9);
  EXPECT_NEAR(law.compute.value, 64.0 / 8192, 1e-5);
}

TEST(ProgramLaw, TakesRunsInAnyOrder) {
  const auto law = scaling::fit_program(runs({64, 2, 16, 4, 8}), nullptr, 256);
  EXPECT_EQ(law.ranks, (std::vector<int>{2, 4, 8, 16, 64}));
  EXPECT_EQ(law.sites[0].on_sheet, "");
}

// Of the form that has one value at 2 and at 16 ranks no two points alone may decide.
TEST(ProgramLaw, FindsExactCounts) {
  auto all = runs({2, 4, 6, 8, 16});
  for (analysis::Profile& run : all) run.sites[1].calls = static_cast<std::uint64_t>(run.ranks - 1);
  const auto law = scaling::fit_program(all, nullptr, 1000);
  for (const scaling::SiteLaw& each : law.sites)
    if (each.function == "MPI_Wait") {
      EXPECT_NEAR(each.calls.value, 0.999, 1e-9);
      EXPECT_EQ(each.calls.form, "1 - 1 * p^-1");
    }
}

// On 2 ranks too few others; a law needs five values.
TEST(ProgramLaw, KeepsWhatItCannotFit) {
  auto all = runs({2, 4, 8, 16, 32});
  all[0].sites[1].wait = Time();
  const auto law = scaling::fit_program(all, nullptr, 1024);
  for (const scaling::SiteLaw& each : law.sites)
    if (each.function == "MPI_Wait") {
      EXPECT_EQ(each.wait.value, 1.0 / 32);
      EXPECT_FALSE(each.identifiable());
    }
}

TEST(ProgramLaw, RefusesWhatIsNoScaling) {
  EXPECT_THROW(scaling::fit_program(runs({2, 4, 8, 16}), nullptr, 64), Error);
  EXPECT_THROW(scaling::fit_program(runs({2, 4, 8, 16, 16}), nullptr, 64), Error);
  auto other = runs({2, 4, 8, 16, 32});
  other[3].info.machine = "another";
  EXPECT_THROW(scaling::fit_program(other, nullptr, 64), Error);
}

}  // namespace
