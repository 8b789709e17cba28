// The GOAL programs shown in docs/text-programs.md run; the page also shows some
// that must not.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "simulated.hpp"

namespace foretrace::sim {
namespace {

// By name: what follows `<!-- file: NAME -->` between the fences.
std::map<std::string, std::string> shown_programs() {
  std::ifstream page(FORETRACE_SOURCE_DIR "/docs/text-programs.md");
  std::map<std::string, std::string> programs;
  std::string name;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("<!-- file: ")) {
      name = line.substr(11, line.find(' ', 11) - 11);
    } else if (line.starts_with("```")) {
      inside = !inside && !name.empty();
      if (!inside) name.clear();
    } else if (inside) {
      programs[name] += line + "\n";
    }
  }
  return programs;
}

TEST(TextProgramsPage, ProgramsRun) {
  const auto programs = shown_programs();
  for (const std::string name : {"ring.goal", "grid.goal", "farm.goal"}) {
    SCOPED_TRACE(name);
    const std::string& text = programs.at(name);
    const Replayed r = simulate_goal(text);
    for (const RankResult& rank : r.result.ranks) EXPECT_TRUE(rank.finalized);
    EXPECT_EQ(parse_goal(text, name).races, name == "farm.goal");
  }
}

}  // namespace
}  // namespace foretrace::sim
