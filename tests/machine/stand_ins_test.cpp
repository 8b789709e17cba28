// What stands in for a function that the model lacks: the timing rules against
// the table and the sentence of docs/theory.md.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "constant_function.hpp"
#include "machine/timing.hpp"

namespace foretrace::machine {
namespace {

constexpr int kCosts = static_cast<int>(Cost::kCount);

std::string name(int cost) {
  return std::string(name_of(static_cast<Cost>(cost)));
}

void add(MachineModel& model, const std::string& function, double seconds) {
  model.functions[function] = constant(function, seconds);
}

// Which function is evaluated for `cost` in a model that has all others, each
// with a time of its own; empty for none.
std::string direct_stand_in(int cost) {
  MachineModel model;
  for (int i = 0; i < kCosts; ++i)
    if (i != cost) add(model, name(i), i + 1);
  const Timing timing(model, Bound::avg);
  const auto seconds =
      static_cast<int>(timing.cost(static_cast<Cost>(cost), 2, Bytes(0)).seconds());
  return seconds == 0 ? "" : name(seconds - 1);
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) {
    const auto first = part.find_first_not_of(" .");
    const auto last = part.find_last_not_of(" .");
    parts.push_back(first == std::string::npos ? "" : part.substr(first, last - first + 1));
  }
  return parts;
}

struct Documented {
  std::map<std::string, std::string> stand_in;
  std::set<std::string> none;
};

Documented read_documentation() {
  Documented documented;
  std::ifstream file(FORETRACE_SOURCE_DIR "/docs/theory.md");
  const std::string sentence = "What has no stand-in costs nothing: ";
  std::string none;  // the sentence's paragraph, after these words
  bool in_table = false;
  bool in_sentence = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| missing | stands in |"))
      in_table = true;
    else if (line.empty())
      in_table = in_sentence = false;
    else if (line.starts_with(sentence))
      in_sentence = true;
    if (in_sentence) none += (none.empty() ? line.substr(sentence.size()) : " " + line);
    if (!in_table) continue;
    const std::vector<std::string> cells = split(line, '|');
    if (cells.size() < 3) continue;
    // "a; b, c | x; y": x for a, y for b and c.
    const auto groups = split(cells[1], ';');
    const auto stand_ins = split(cells[2], ';');
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (const std::string& function : split(groups[i], ','))
        documented.stand_in[function] = stand_ins[std::min(i, stand_ins.size() - 1)];
  }
  for (const std::string& function : split(none, ',')) documented.none.insert(function);
  documented.stand_in.erase("missing");
  std::erase_if(documented.stand_in, [](const auto& row) { return row.first.starts_with("---"); });
  return documented;
}

TEST(StandIns, AreThoseOfTheDocumentation) {
  const Documented documented = read_documentation();
  ASSERT_GT(documented.stand_in.size(), 10u);
  for (int cost = 0; cost < kCosts; ++cost) {
    const auto found = documented.stand_in.find(name(cost));
    EXPECT_EQ(direct_stand_in(cost), found == documented.stand_in.end() ? "" : found->second)
        << name(cost);
  }
}

TEST(StandIns, DocumentationNamesEveryFunction) {
  const Documented documented = read_documentation();
  std::set<std::string> known;
  for (int cost = 0; cost < kCosts; ++cost) {
    known.insert(name(cost));
    EXPECT_EQ(documented.stand_in.contains(name(cost)), !documented.none.contains(name(cost)))
        << name(cost) << " must stand in the table or in the list below it";
  }
  for (const auto& [function, other] : documented.stand_in)
    EXPECT_TRUE(known.contains(function)) << function;
  for (const std::string& function : documented.none)
    EXPECT_TRUE(known.contains(function)) << function;
}

// The papers' workstations have a send and nothing else: recvmin -> recv -> send,
// irecv2 -> recv -> send, sendrecv -> recv -> send.
TEST(StandIns, GoOnUntilOneIsThere) {
  MachineModel model;
  add(model, "send", 2e-3);
  add(model, "barrier", 5e-3);
  add(model, "gather", 7e-3);
  const Timing timing(model, Bound::avg);
  for (const Cost cost : {Cost::send, Cost::ssend, Cost::bsend, Cost::rsend, Cost::recv,
                          Cost::recvmin, Cost::isend1, Cost::irecv2, Cost::sendrecv})
    EXPECT_EQ(timing.cost(cost, 2, Bytes(0)), Time::ns(2'000'000)) << name_of(cost);
  for (const Cost cost : {Cost::comm_split, Cost::comm_create, Cost::comm_dup})
    EXPECT_EQ(timing.cost(cost, 2, Bytes(0)), Time::ns(5'000'000)) << name_of(cost);
  for (const Cost cost : {Cost::scatter, Cost::scatterv, Cost::gatherv})
    EXPECT_EQ(timing.cost(cost, 2, Bytes(0)), Time::ns(7'000'000)) << name_of(cost);
  for (const Cost cost : {Cost::isend2, Cost::isendoverlap, Cost::irecv1, Cost::irecvoverlap,
                          Cost::bcast, Cost::exscan, Cost::alltoallw, Cost::reduce_scatter_block})
    EXPECT_EQ(timing.cost(cost, 2, Bytes(0)), Time()) << name_of(cost);
}

TEST(StandIns, EmptyModelTakesNoTime) {
  const MachineModel model;
  const Timing timing(model, Bound::avg);
  for (int cost = 0; cost < kCosts; ++cost)
    EXPECT_EQ(timing.cost(static_cast<Cost>(cost), 8, Bytes(1000)), Time()) << name(cost);
}

}  // namespace
}  // namespace foretrace::machine
