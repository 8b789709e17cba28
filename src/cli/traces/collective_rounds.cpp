#include "cli/traces/collective_rounds.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "sim/collectives/algorithm.hpp"
#include "sim/collectives/rounds.hpp"

namespace foretrace::cli {
namespace {

constexpr std::size_t kMostOfACall = 40'000;  // messages
constexpr std::size_t kMostOfAll = 150'000;   // a megabyte of the page or two

views::CallRounds rounds_of(const trace::Trace& trace, const trace::Event& event,
                            const sim::AlgorithmTable& table, std::size_t most) {
  const std::vector<WorldRank>& members = trace.comms.at(event.comm).members;
  const sim::CollectiveCall call{event.collective, static_cast<int>(members.size()), 0,
                                 std::max(0, event.root.value), event.bytes};
  const sim::Algorithm& algorithm = table.choose(call);
  views::CallRounds rounds{
      event.name, event.comm, event.bytes, event.root, std::string(algorithm.name), {}};
  const auto world = [&](int local) { return members.at(static_cast<std::size_t>(local)); };
  for (const sim::RoundMessage& message : sim::rounds_of(algorithm, call, most)) {
    rounds.rounds.resize(static_cast<std::size_t>(message.round));
    rounds.rounds.back().emplace_back(world(message.from), world(message.to));
  }
  return rounds;
}

}  // namespace

std::vector<views::CallRounds> collective_rounds(const trace::Trace& trace,
                                                 const std::string& collectives) {
  if (collectives.empty() || collectives == "equation") return {};
  std::optional<sim::AlgorithmTable> table;
  try {
    table.emplace(collectives);
  } catch (const UsageError&) {
    return {};  // of a version that knew other algorithms
  }
  std::set<std::tuple<trace::NameId, trace::CommId, std::uint64_t, std::int32_t>> known;
  std::vector<views::CallRounds> calls;
  std::size_t left = kMostOfAll;
  for (const auto& events : trace.ranks)
    for (const trace::Event& event : events) {
      if (event.kind != trace::EventKind::collective ||
          sim::algorithms_for(event.collective).empty() ||
          !known.insert({event.name, event.comm, event.bytes.count, event.root.value}).second)
        continue;
      views::CallRounds call = rounds_of(trace, event, *table, std::min(left, kMostOfACall));
      if (call.rounds.empty()) continue;
      for (const auto& round : call.rounds) left -= round.size();
      calls.push_back(std::move(call));
    }
  return calls;
}

}  // namespace foretrace::cli
