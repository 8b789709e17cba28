#include "base/position.hpp"

#include <algorithm>
#include <cstddef>

namespace foretrace {
namespace {

using Behind = Position::Behind;

bool same_begin(const Behind& a, const Behind& b) {
  return a.event == b.event && a.gap == b.gap && a.is_next == b.is_next;
}

// The later, the less it is behind.
Time begin_of(const Behind& behind) {
  return behind.left + behind.idle;
}

// Whatever the times of calls, whoever is as far behind a later event is behind this as well.
bool covers(const Behind& a, const Behind& b) {
  return !a.is_next && !b.is_next && a.event >= b.event && begin_of(a) <= begin_of(b) &&
         a.steps <= b.steps;
}

// Of one too many.
std::size_t least_of(const std::array<Behind, 4>& all) {
  const auto index_of = [&](auto best) { return static_cast<std::size_t>(best - all.begin()); };
  const std::size_t leads =
      index_of(std::ranges::min_element(all, {}, [](const Behind& each) { return each.idle; }));
  const std::size_t last = index_of(std::ranges::max_element(all, {}, &Behind::event));
  const std::size_t farthest = index_of(std::ranges::min_element(all, {}, begin_of));
  std::size_t least = all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == leads || i == last || i == farthest) continue;
    if (least == all.size() || all[i].idle > all[least].idle) least = i;
  }
  return least;
}

void add(Position& at, Behind behind, const Position& of) {
  if (behind.event == 0) return;
  behind.idle += at.clock - of.clock;
  behind.steps += at.steps - of.steps;
  for (Behind& known : at.behind) {
    if (same_begin(known, behind)) {
      known.idle = std::min(begin_of(known), begin_of(behind)) - known.left;
      known.steps = std::min(known.steps, behind.steps);
      return;
    }
    if (known.event != 0 && covers(known, behind)) return;
  }
  for (Behind& known : at.behind)
    if (known.event != 0 && covers(behind, known)) known = {};
  for (Behind& known : at.behind) {
    if (known.event != 0) continue;
    known = behind;
    return;
  }
  const std::size_t least = least_of({at.behind[0], at.behind[1], at.behind[2], behind});
  if (least < at.behind.size()) at.behind[least] = behind;
}

bool knows_begin(const Position& at) {
  return std::ranges::any_of(at.behind, [](const Behind& each) { return each.event != 0; });
}

}  // namespace

Position after_both(const Position& a, const Position& b) {
  Position at{std::max(a.clock, b.clock), std::max(a.steps, b.steps), std::max(a.slept, b.slept)};
  // Nobody knows where that has begun.
  const auto leads = [](const Position& one, const Position& other) {
    return !knows_begin(one) && (one.clock > other.clock || one.steps > other.steps);
  };
  if (leads(a, b) || leads(b, a)) return at;
  for (const Position* of : {&a, &b})
    for (const Behind& behind : of->behind) add(at, behind, *of);
  return at;
}

std::array<Behind, 3> by_idle(const Position& at) {
  std::array<Behind, 3> all = at.behind;
  std::ranges::stable_sort(
      all, {}, [](const Behind& each) { return each.event == 0 ? Time::max() : each.idle; });
  return all;
}

}  // namespace foretrace
