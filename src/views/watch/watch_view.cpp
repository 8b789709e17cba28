#include "views/watch/watch_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "views/draw/notes.hpp"

namespace foretrace::views {
namespace {

using analysis::Doing;
using analysis::RunningRank;
using json = nlohmann::ordered_json;

const char* name_of(Doing doing) {
  switch (doing) {
    case Doing::computing:
      return "computing";
    case Doing::calling:
      return "calling";
    case Doing::ended:
      return "ended";
    default:
      return "absent";
  }
}

json functions_of(const analysis::RunningRun& run) {
  json all = json::array();
  for (const analysis::RunningFunction& one : run.functions)
    all.push_back({one.name, one.calls, one.time.seconds()});
  return all;
}

// More arrows than these nobody could tell apart.
constexpr std::size_t kMostMessages = 1000;

json messages_of(const analysis::RunningRun& run) {
  std::vector<analysis::RunningMessages> most = run.messages;
  std::ranges::stable_sort(most, std::greater<>(), [](const auto& one) { return one.bytes.count; });
  if (most.size() > kMostMessages) most.resize(kMostMessages);
  json all = json::array();
  for (const analysis::RunningMessages& one : most)
    all.push_back({one.from.value, one.to.value, one.messages, one.bytes.count});
  return all;
}

// Where half of a thousand ranks wait for the other half, not all of it is told.
constexpr std::size_t kMostWaits = 64;

// Those that are stopped first.
json waits_of(const RunningRank& rank, const WatchState& state) {
  json all = json::array();
  for (const bool stopped : {true, false})
    for (const WorldRank other : rank.waits_for)
      if (state.stopped.contains(other.value) == stopped && all.size() < kMostWaits)
        all.push_back(other.value);
  return all;
}

// "3, 5 to 7", at most `most` words, then how many more.
std::string rank_list(const std::vector<int>& ranks, std::size_t most = 4) {
  std::string text;
  std::size_t words = 0;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (words++ == most) return text + fmt::format(" and {} more", ranks.size() - i);
    if (!text.empty()) text += ", ";
    text +=
        end - i > 2 ? fmt::format("{} to {}", ranks[i], ranks[end - 1]) : std::to_string(ranks[i]);
    i = end - i > 2 ? end : i + 1;
  }
  return text;
}

std::string ranks_text(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + rank_list(ranks);
}

// The rank for which most others wait, and those; none: nobody waits for a single one.
std::pair<int, std::vector<int>> most_awaited(const WatchState& state) {
  std::map<int, std::vector<int>> waiting;
  for (const RunningRank& rank : state.run.ranks)
    for (const WorldRank other : rank.waits_for) waiting[other.value].push_back(rank.rank.value);
  std::pair<int, std::vector<int>> best{-1, {}};
  for (auto& [rank, others] : waiting)
    if (others.size() > best.second.size()) best = {rank, others};
  return best;
}

std::string stopped_text(const WatchState& state) {
  std::string text;
  for (const auto& [rank, process] : state.stopped) {
    text += fmt::format("; rank {} is STOPPED (process {})", rank, process);
    std::vector<int> waiting;
    for (const RunningRank& each : state.run.ranks)
      for (const WorldRank other : each.waits_for)
        if (other.value == rank) waiting.push_back(each.rank.value);
    if (!waiting.empty())
      text += ", " + ranks_text(waiting) + (waiting.size() == 1 ? " waits" : " wait") + " for it";
    if (static_cast<std::size_t>(rank) >= state.run.ranks.size()) continue;
    std::vector<int> senders;
    for (const auto& sent : state.run.ranks[static_cast<std::size_t>(rank)].unread)
      senders.push_back(sent.from.value);
    if (!senders.empty())
      text += ", " + ranks_text(senders) + (senders.size() == 1 ? " has" : " have") + " sent to it";
  }
  return text;
}

}  // namespace

std::string watch_line(const WatchState& state) {
  std::string text = fmt::format("{:.1f} s: ", state.seconds);
  if (state.run.ranks.empty()) return text + "nothing is known yet" + stopped_text(state);
  std::vector<int> computing;
  std::map<std::string, std::vector<int>> calls;
  std::size_t ended = 0, absent = 0;
  for (const RunningRank& rank : state.run.ranks) {
    if (state.stopped.contains(rank.rank.value)) continue;
    if (rank.doing == Doing::computing) computing.push_back(rank.rank.value);
    if (rank.doing == Doing::calling)
      calls[rank.call + (rank.place.empty() ? "" : " " + rank.place)].push_back(rank.rank.value);
    ended += rank.doing == Doing::ended;
    absent += rank.doing == Doing::absent;
  }
  text += fmt::format("{} computing", computing.size());
  if (!computing.empty() && computing.size() <= 4) text += " (" + rank_list(computing) + ")";
  std::vector<std::pair<std::string, std::vector<int>>> by_count(calls.begin(), calls.end());
  std::ranges::stable_sort(
      by_count, [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::size_t others = 0;
  for (std::size_t i = 0; i < by_count.size(); ++i) {
    if (i < 2)
      text += fmt::format(", {} in {}", by_count[i].second.size(), by_count[i].first);
    else
      others += by_count[i].second.size();
  }
  if (others > 0) text += fmt::format(", {} in other calls", others);
  if (absent > 0) text += fmt::format(", {} not there yet", absent);
  if (ended > 0) text += fmt::format(", {} ended", ended);
  text += stopped_text(state);
  if (state.stopped.empty()) {
    const auto [rank, waiting] = most_awaited(state);
    if (rank >= 0)
      text += fmt::format("; {} {} for rank {}", ranks_text(waiting),
                          waiting.size() == 1 ? "waits" : "wait", rank);
  }
  return text;
}

std::string watch_json(const WatchState& state) {
  json ranks = json::array();
  for (const RunningRank& rank : state.run.ranks) {
    json waits = waits_of(rank, state);
    json unread = json::array();
    for (const auto& sent : rank.unread) unread.push_back({sent.from.value, sent.messages});
    json one = {{"rank", rank.rank.value},
                {"doing", name_of(rank.doing)},
                {"call", rank.call},
                {"place", rank.place},
                {"phase", rank.phase},
                {"calls", rank.calls},
                {"sent", rank.sent},
                {"bytes", rank.sent_bytes.count},
                {"waits", rank.waits_for.size()},
                {"waits_for", std::move(waits)},
                {"guessed", rank.guessed},
                {"unread", std::move(unread)}};
    const auto stopped = state.stopped.find(rank.rank.value);
    if (stopped != state.stopped.end()) one["process"] = stopped->second;
    ranks.push_back(std::move(one));
  }
  const json all = {{"seconds", state.seconds},
                    {"ended", state.ended},
                    {"line", watch_line(state)},
                    {"clock", clock_name(state.run.clock)},
                    {"picture", state.picture},
                    {"compute", state.run.compute.seconds()},
                    {"functions", functions_of(state.run)},
                    {"messages", messages_of(state.run)},
                    {"ranks", std::move(ranks)}};
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace foretrace::views
