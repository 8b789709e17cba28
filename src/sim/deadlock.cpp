#include "sim/deadlock.hpp"

#include <algorithm>
#include <utility>

namespace foretrace::sim {
namespace {

constexpr std::size_t kShown = 8;

std::string line_of(const BlockedRank& blocked) {
  return "rank " + std::to_string(blocked.rank.value) + " in event " +
         std::to_string(blocked.event) + ", " + blocked.call;
}

std::string list_ranks(const std::vector<WorldRank>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size() && i < kShown; ++i)
    text += (i ? ", " : "") + std::to_string(ranks[i].value);
  if (ranks.size() > kShown) text += " and " + std::to_string(ranks.size() - kShown) + " more";
  return text;
}

// The blocked ranks as a graph: an edge to everyone that a rank waits for.
class WaitGraph {
 public:
  WaitGraph(int ranks, const std::vector<BlockedRank>& blocked)
      : blocked_(blocked),
        index_(static_cast<std::size_t>(ranks), kNotBlocked),
        waiters_(static_cast<std::size_t>(ranks)) {
    for (std::size_t i = 0; i < blocked.size(); ++i) {
      index_[static_cast<std::size_t>(blocked[i].rank.value)] = i;
      for (const WorldRank target : blocked[i].waits_for)
        waiters_[static_cast<std::size_t>(target.value)].push_back(i);
    }
  }

  bool is_blocked(WorldRank rank) const { return index_of(rank) != kNotBlocked; }

  // Indices of blocked ranks that wait for each other; empty if there is none.
  std::vector<std::size_t> find_circle() const {
    enum Mark : char { fresh, open, closed };
    std::vector<Mark> marks(blocked_.size(), fresh);
    std::vector<std::pair<std::size_t, std::size_t>> path;  // node, next edge
    for (std::size_t start = 0; start < blocked_.size(); ++start) {
      if (marks[start] != fresh) continue;
      marks[start] = open;
      path.assign(1, {start, 0});
      while (!path.empty()) {
        auto& [node, edge] = path.back();
        const auto& targets = blocked_[node].waits_for;
        if (edge == targets.size()) {
          marks[node] = closed;
          path.pop_back();
          continue;
        }
        const std::size_t target = index_of(targets[edge++]);
        if (target == kNotBlocked || marks[target] == closed) continue;
        if (marks[target] == open) return circle_from(path, target);
        marks[target] = open;
        path.emplace_back(target, 0);
      }
    }
    return {};
  }

  // Marks who waits, directly or not, for `rank`.
  std::vector<bool> waiting_for(WorldRank rank) const {
    std::vector<bool> reached(blocked_.size(), false);
    std::vector<WorldRank> todo{rank};
    while (!todo.empty()) {
      const WorldRank target = todo.back();
      todo.pop_back();
      for (const std::size_t i : waiters_[static_cast<std::size_t>(target.value)]) {
        if (reached[i]) continue;
        reached[i] = true;
        todo.push_back(blocked_[i].rank);
      }
    }
    return reached;
  }

 private:
  static constexpr std::size_t kNotBlocked = SIZE_MAX;

  std::size_t index_of(WorldRank rank) const {
    return index_[static_cast<std::size_t>(rank.value)];
  }
  static std::vector<std::size_t> circle_from(
      const std::vector<std::pair<std::size_t, std::size_t>>& path, std::size_t first) {
    std::vector<std::size_t> circle;
    auto at = std::ranges::find(path, first, &std::pair<std::size_t, std::size_t>::first);
    for (; at != path.end(); ++at) circle.push_back(at->first);
    return circle;
  }

  const std::vector<BlockedRank>& blocked_;
  std::vector<std::size_t> index_;                 // by world rank
  std::vector<std::vector<std::size_t>> waiters_;  // by world rank: who waits for it
};

[[noreturn]] void throw_circle(std::vector<BlockedRank> blocked,
                               const std::vector<std::size_t>& circle,
                               std::optional<std::uint64_t> threshold) {
  std::vector<WorldRank> ranks;
  bool needs_buffer = false;
  std::string text = "deadlock on the target: ";
  for (std::size_t i = 0; i < circle.size(); ++i) {
    const BlockedRank& member = blocked[circle[i]];
    ranks.push_back(member.rank);
    needs_buffer = needs_buffer || member.needs_buffer;
    if (i < kShown) text += line_of(member) + "; ";
  }
  if (circle.size() > kShown)
    text += "and " + std::to_string(circle.size() - kShown) + " more in the circle; ";
  if (needs_buffer) {
    text += "the program relies on buffering that the target does not have";
    if (threshold) text += " (S=" + std::to_string(*threshold) + " bytes)";
    text += "; post receives first, or use MPI_Sendrecv or MPI_Isend";
  } else {
    text += "each waits for the next and the last for the first";
  }
  throw Deadlock(text, std::move(blocked), std::move(ranks));
}

// Without a circle every chain of waiting ranks ends at one that is not
// blocked; if its operations were not cut off, it has finalized.
[[noreturn]] void throw_never_comes(std::vector<BlockedRank> blocked,
                                    const std::vector<WorldRank>& finalized, std::size_t who) {
  const std::string text = "deadlock on the target: " + line_of(blocked[who]) + ", waits for " +
                           list_ranks(finalized) + ", which ended without it";
  throw Deadlock(text, std::move(blocked), {});
}

void check_all_explained(const WaitGraph& graph, std::vector<BlockedRank>& blocked,
                         const std::vector<bool>& explained, bool cut_off) {
  for (std::size_t i = 0; i < blocked.size(); ++i) {
    if (explained[i]) continue;
    std::vector<WorldRank> finalized;
    for (const WorldRank target : blocked[i].waits_for)
      if (!graph.is_blocked(target)) finalized.push_back(target);
    if (!finalized.empty()) throw_never_comes(std::move(blocked), finalized, i);
    // It waits for anybody; a rank that was cut off might have been the one.
    if (blocked[i].waits_for.empty() && !cut_off) {
      const std::string text = "deadlock on the target: " + line_of(blocked[i]) +
                               ", waits for a message that nobody sends";
      throw Deadlock(text, std::move(blocked), {});
    }
  }
}

}  // namespace

Deadlock::Deadlock(const std::string& what, std::vector<BlockedRank> blocked,
                   std::vector<WorldRank> circle)
    : Error(what), blocked_(std::move(blocked)), circle_(std::move(circle)) {}

std::string Deadlock::report() const {
  constexpr std::size_t kMostLines = 64;
  std::string text;
  for (const BlockedRank& blocked : blocked_) {
    if (&blocked == blocked_.data() + kMostLines) {
      text += "and " + std::to_string(blocked_.size() - kMostLines) + " more blocked ranks\n";
      break;
    }
    text += line_of(blocked);
    if (!blocked.waits_for.empty()) text += ": waits for " + list_ranks(blocked.waits_for);
    text += "\n";
  }
  return text;
}

std::vector<std::string> diagnose(int ranks, std::vector<BlockedRank> blocked,
                                  const std::vector<EndedRank>& ended,
                                  std::optional<std::uint64_t> threshold) {
  const WaitGraph graph(ranks, blocked);
  if (const auto circle = graph.find_circle(); !circle.empty())
    throw_circle(std::move(blocked), circle, threshold);
  std::vector<std::string> notes;
  std::vector<bool> explained(blocked.size(), false);
  for (const EndedRank& end : ended) {
    const std::vector<bool> waiting = graph.waiting_for(end.rank);
    std::vector<WorldRank> who;
    for (std::size_t i = 0; i < blocked.size(); ++i) {
      if (!waiting[i]) continue;
      explained[i] = true;
      who.push_back(blocked[i].rank);
    }
    std::string note = "rank " + std::to_string(end.rank.value) + "'s trace ends at event " +
                       std::to_string(end.events);
    if (!end.reason.empty()) note += " (" + end.reason + ")";
    if (!who.empty())
      note += "; " + list_ranks(who) + (who.size() == 1 ? " waits for it" : " wait for it");
    notes.push_back(std::move(note));
  }
  check_all_explained(graph, blocked, explained, !ended.empty());
  return notes;
}

}  // namespace foretrace::sim
