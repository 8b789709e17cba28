// docs/machine-file.md: its example, its keys and its error message are true.
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "machine/machine_file.hpp"

namespace foretrace::machine {
namespace {

std::string document() {
  return read_if_possible(FORETRACE_SOURCE_DIR "/docs/machine-file.md");
}

std::string example() {
  const std::string text = document();
  const std::string fence = "```toml\n";
  const std::size_t from = text.find(fence);
  if (from == std::string::npos) return "";
  return text.substr(from + fence.size(), text.find("```", from + 3) - from - fence.size());
}

double seconds(const MachineModel& model, const char* function, int ranks, std::uint64_t bytes,
               Bound bound = Bound::avg) {
  return evaluate_seconds(model, *model.find(function), ranks, Bytes(bytes), bound);
}

TEST(MachineFileDocument, ExampleGivesTheTimesOfTheText) {
  const MachineModel model = parse_machine(example(), "docs/machine-file.md");
  EXPECT_DOUBLE_EQ(seconds(model, "recv", 2, 800), 110e-6);
  EXPECT_NEAR(seconds(model, "barrier", 16, 0), 32.2e-6, 0.05e-6);
  EXPECT_EQ(model.loggps.sync_threshold, Bytes(8192));
  // Large: (60 +- 1.5) + (0.5 +- 0.01) * 100.
  EXPECT_DOUBLE_EQ(seconds(model, "recv", 2, 800, Bound::min), 107.5e-6);
  EXPECT_DOUBLE_EQ(seconds(model, "recv", 2, 800, Bound::max), 112.5e-6);
}

// Without its errors and S, the example says what the shipped file says.
TEST(MachineFileDocument, ExampleIsTheShippedMachine) {
  const MachineModel model = parse_machine(example(), "docs/machine-file.md");
  const MachineModel shipped = read_machine_file(FORETRACE_SOURCE_DIR "/machines/cray-t3d.toml");
  EXPECT_EQ(model.name, shipped.name);
  EXPECT_EQ(model.source, shipped.source);
  for (const std::uint64_t bytes : {0, 256, 257, 80000})
    EXPECT_EQ(seconds(model, "recv", 2, bytes), seconds(shipped, "recv", 2, bytes)) << bytes;
  EXPECT_EQ(seconds(model, "barrier", 64, 0), seconds(shipped, "barrier", 64, 0));
}

// The examples of [topology]: 8*4*4 processors, a file beside, two workstations; and of
// [[pattern]], [reduction], [rewrite], [pieces] and [launches].
TEST(MachineFileDocument, TopologyExamplesAreRead) {
  std::vector<MachineModel> models;
  const std::string page = document();
  const std::string fence = "```toml\n";
  for (std::size_t at = page.find("## `[topology]`");
       (at = page.find(fence, at)) != std::string::npos;) {
    at += fence.size();
    std::string text = page.substr(at, page.find("```", at) - at);
    if (!text.starts_with("[machine]")) text = "[machine]\n" + text;
    models.push_back(parse_machine(text, FORETRACE_SOURCE_DIR "/machines/m.toml"));
  }
  ASSERT_EQ(models.size(), 8u);
  EXPECT_EQ(topology_of(models[0]).processors(), 128);
  EXPECT_EQ(topology_of(models[1]).processors(), 64);
  EXPECT_EQ(topology_of(models[2]).node_name(NodeId(1)), "bert");
  ASSERT_EQ(models[3].patterns.size(), 1u);
  EXPECT_EQ(models[3].patterns[0].times.size(), 3u);
  EXPECT_EQ(models[4].reductions.size(), 5u);
  EXPECT_EQ(models[4].reductions.at(Reduction::other), 1e-9);
  EXPECT_EQ(models[5].rewrite.at("send").size(), 4u);
  EXPECT_EQ(models[6].pieces.send.size(), 2u);
  EXPECT_EQ(models[7].launches.size(), 3u);
}

// The parser lists the keys that it knows; each must stand in the document.
void expect_documented_keys(const std::string& text) {
  std::string what;
  try {
    parse_machine(text, "m.toml");
  } catch (const Error& error) {
    what = error.what();
  }
  const std::string lead = "known here: ";
  const std::size_t from = what.find(lead);
  ASSERT_NE(from, std::string::npos) << what;
  const std::string page = document();
  std::string keys = what.substr(from + lead.size()) + ", ";
  for (std::size_t end; (end = keys.find(", ")) != std::string::npos; keys.erase(0, end + 2)) {
    const std::string key = keys.substr(0, end);
    EXPECT_TRUE(page.find("`" + key + "`") != std::string::npos ||
                page.find("[" + key + "]") != std::string::npos ||
                page.find("." + key + "]") != std::string::npos)
        << key;
  }
}

TEST(MachineFileDocument, NamesEveryKey) {
  expect_documented_keys("x = 1\n[machine]\n");
  expect_documented_keys("[machine]\nx = 1\n");
  expect_documented_keys("[machine]\n[loggps]\nx = 1\n");
  expect_documented_keys("[machine]\n[[loggps.regime]]\nx = 1\n");
  expect_documented_keys("[machine]\n[hop]\nx = 1\n");
  expect_documented_keys("[machine]\n[compute]\nx = 1\n");
  expect_documented_keys("[machine]\n[topology]\nx = 1\n");
  expect_documented_keys("[machine]\n[topology]\nexpression = \"ring:4\"\nx = 1\n");
  expect_documented_keys("[machine]\n[topology]\nfile = \"t.toml\"\nx = 1\n");
  expect_documented_keys("[machine]\n[[function]]\nx = 1\n");
  expect_documented_keys("[machine]\n[[function]]\nname = \"f\"\n[[function.regime]]\nx = 1\n");
}

TEST(MachineFileDocument, QuotesARealMessage) {
  const std::string text =
      "[machine]\n\n[[function]]\nname = \"send\"\n[[function.regime]]\nc = 1\nbyte = [0]\n";
  try {
    parse_machine(text, "m.toml");
    ADD_FAILURE() << "was accepted";
  } catch (const Error& error) {
    EXPECT_NE(document().find(std::string("    ") + error.what() + "\n"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace foretrace::machine
