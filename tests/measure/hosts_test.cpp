// Which ranks measure together on several hosts, and that what was measured within a node
// becomes that path of the model.
#include "measure/core/hosts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/machine_file.hpp"
#include "measure/fit/fit.hpp"

namespace foretrace::measure {
namespace {

using testing::ElementsAre;

TEST(Hosts, OneHostIsAsIfThereWereNone) {
  const Hosts hosts{0, 0, 0};
  EXPECT_FALSE(has_two_paths(hosts));
  EXPECT_THAT(spread_order(hosts), ElementsAre(0, 1, 2));
  EXPECT_THAT(outer_pair(hosts), ElementsAre(0, 2));
}

TEST(Hosts, OneRankEachHasOnePath) {
  const Hosts hosts{0, 1, 2};
  EXPECT_FALSE(has_two_paths(hosts));
  EXPECT_THAT(spread_order(hosts), ElementsAre(0, 1, 2));
  EXPECT_THAT(outer_pair(hosts), ElementsAre(0, 2));
}

// Filled one after the other, and one rank of each in turn, which ends on the host of rank 0.
TEST(Hosts, BetweenHostsTakeTurns) {
  const Hosts filled{0, 0, 1, 1};
  EXPECT_TRUE(has_two_paths(filled));
  EXPECT_THAT(spread_order(filled), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(first_host(filled), ElementsAre(0, 1));
  EXPECT_THAT(outer_pair(filled), ElementsAre(0, 3));
  const Hosts cyclic{0, 1, 0};
  EXPECT_THAT(spread_order(cyclic), ElementsAre(0, 1, 2));
  EXPECT_THAT(first_host(cyclic), ElementsAre(0, 2));
  EXPECT_THAT(outer_pair(cyclic), ElementsAre(0, 1));
  EXPECT_EQ(text_of(cyclic), "0 1 0");
}

// Lines: 50 us + 10 ns a byte between nodes, 1 us + 0.1 ns within.
TEST(Hosts, TheNodeBecomesAPath) {
  SampleSet set;
  set.info = {{"sync_threshold", "65537"}, {"node/sync_threshold", "4097"}};
  for (const std::uint64_t d : {1, 8, 16, 64, 512, 1024}) {
    const auto bytes = static_cast<double>(d);
    set.samples.push_back({"send", 2, d, 1, 50e-6 + 10e-9 * bytes, true});
    set.samples.push_back({"node/send", 2, d, 1, 1e-6 + 0.1e-9 * bytes, true});
  }
  const FitOutcome outcome = fit_model(set);
  const machine::MachineModel& model = outcome.model;
  ASSERT_EQ(outcome.reports.size(), 2u);
  EXPECT_EQ(outcome.reports[0].name, "send");
  EXPECT_EQ(outcome.reports[1].name, "node/send");
  ASSERT_EQ(model.functions.size(), 1u);
  ASSERT_TRUE(model.paths.contains(machine::Path::node));
  const machine::MachineModel node = machine::on_path(model, machine::Path::node);
  const auto seconds = [](const machine::MachineModel& of) {
    return evaluate_seconds(of, of.functions.at("send"), 2, Bytes(100), machine::Bound::avg);
  };
  EXPECT_NEAR(seconds(model), 51e-6, 1e-8);
  EXPECT_NEAR(seconds(node), 1.01e-6, 1e-9);
  EXPECT_EQ(model.loggps.sync_threshold, Bytes(65537));
  EXPECT_EQ(node.loggps.sync_threshold, Bytes(4097));
  EXPECT_EQ(machine::format_machine(machine::parse_machine(machine::format_machine(model), "m")),
            machine::format_machine(model));
}

}  // namespace
}  // namespace foretrace::measure
