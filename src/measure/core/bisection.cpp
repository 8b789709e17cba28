#include "measure/core/bisection.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace foretrace::measure {
namespace {

// So often a search begins again after a contradiction.
constexpr int kSearches = 4;

// So often a candidate is looked into before it is given up.
constexpr int kTries = 3;

// How far apart two times are, as a ratio's logarithm; signed.
double change(double from, double to) {
  return from > 0 && to > 0 ? std::log(to / from) : 0;
}

}  // namespace

std::optional<std::int64_t> last_that_holds(
    const std::function<std::optional<bool>(std::int64_t)>& holds, std::int64_t most) {
  for (int search = 0; search < kSearches; ++search) {
    std::int64_t yes = -1;
    std::int64_t no = most + 1;  // the largest size first: mostly one question is enough
    for (std::int64_t size = most; no - yes > 1; size = yes + (no - yes) / 2) {
      const auto answer = holds(size);
      if (!answer) return std::nullopt;
      (*answer ? yes : no) = size;
    }
    if (no > most) return std::nullopt;
    bool confirmed = true;
    for (int i = 0; confirmed && i < kConfirmations; ++i) {
      const std::optional<bool> at = yes < 0 ? true : holds(yes);
      const auto above = holds(no);
      if (!at || !above) return std::nullopt;
      confirmed = *at && !*above;
    }
    if (confirmed) return yes;
  }
  return std::nullopt;
}

std::vector<Interval> jump_candidates(std::span<const CurvePoint> curve, double least) {
  std::vector<double> changes;
  for (std::size_t i = 1; i < curve.size(); ++i)
    changes.push_back(change(curve[i - 1].seconds, curve[i].seconds));
  const double enough = std::log1p(least);
  std::vector<std::pair<double, Interval>> found;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    // Two intervals to each side tell how fast the curve grows anyway.
    std::vector<double> around;
    for (std::size_t j = i < 2 ? 0 : i - 2; j < changes.size() && j <= i + 2; ++j)
      if (j != i) around.push_back(changes[j]);
    if (around.empty()) around.push_back(0);
    std::ranges::sort(around);
    const double excess = std::fabs(changes[i] - around[around.size() / 2]);
    if (excess > enough) found.push_back({excess, {curve[i].bytes, curve[i + 1].bytes}});
  }
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Interval> intervals;
  for (const auto& [excess, interval] : found) intervals.push_back(interval);
  return intervals;
}

bool confirm_jump(const std::function<std::optional<double>(std::uint64_t)>& seconds,
                  std::uint64_t below, std::uint64_t step, double least) {
  const double enough = std::log1p(least);
  int up = 0;
  for (int i = 0; i < kConfirmations; ++i) {
    const auto before = seconds(below);
    const auto after = before ? seconds(below + step) : std::nullopt;
    if (!after) return false;
    const double jump = change(*before, *after);
    if (std::fabs(jump) <= enough) return false;
    up += jump > 0;
  }
  return up == 0 || up == kConfirmations;
}

std::optional<std::uint64_t> find_jump(
    const std::function<std::optional<double>(std::uint64_t)>& seconds, Interval interval,
    std::uint64_t step, double least) {
  auto [below, above] = interval;
  auto low = seconds(below);
  auto high = seconds(above);
  while (low && high && above - below > step) {
    const std::uint64_t middle = below + (above - below) / step / 2 * step;
    const auto between = seconds(middle);
    if (!between) return std::nullopt;
    const double left = std::fabs(change(*low, *between));
    const double right = std::fabs(change(*between, *high));
    if (std::max(left, right) <= std::log1p(least)) return std::nullopt;
    if (left > right) {
      above = middle;
      high = between;
    } else {
      below = middle;
      low = between;
    }
  }
  if (!low || !high || !confirm_jump(seconds, below, step, least)) return std::nullopt;
  return below;
}

FoundJumps search_jumps(const std::function<std::optional<double>(std::uint64_t)>& seconds,
                        std::span<const CurvePoint> curve, const std::set<std::uint64_t>& known,
                        std::uint64_t step, double least) {
  FoundJumps found{known, {}};
  const std::vector<Interval> large = jump_candidates(curve, 2 * least);
  bool in_time = true;
  const auto asked = [&](std::uint64_t bytes) {
    const auto answer = seconds(bytes);
    in_time = answer.has_value();
    return answer;
  };
  for (const Interval& interval : jump_candidates(curve, least)) {
    const auto [below, above] = interval;
    const auto after = found.jumps.lower_bound(below);
    if (after != found.jumps.end() && *after < above) continue;
    std::optional<std::uint64_t> jump;
    for (int i = 0; !jump && in_time && i < kTries; ++i) {
      if (std::has_single_bit(below) && confirm_jump(asked, below, step, least))
        jump = below;
      else if (std::has_single_bit(above) && above - below > step &&
               confirm_jump(asked, above - step, step, least))
        jump = above - step;
      else
        jump = find_jump(asked, interval, step, least);
    }
    if (jump) {
      found.jumps.insert(*jump);
    } else if (in_time && above - below > std::max(below / 8, 4 * step) &&
               std::ranges::count(large, interval) > 0) {
      const std::uint64_t quarter = (above - below) / 4;
      for (std::uint64_t k = 1; k < 4; ++k)
        found.between.insert((below + k * quarter) / step * step);
    }
  }
  return found;
}

}  // namespace foretrace::measure
