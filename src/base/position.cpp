#include "base/position.hpp"

#include <algorithm>
#include <utility>

namespace foretrace {
namespace {

bool same_begin(const Position::Behind& a, const Position::Behind& b) {
  return a.event == b.event && a.gap == b.gap && a.is_next == b.is_next;
}

// Whatever the times of calls, whoever is as far behind a later event is behind this as well.
bool covers(const Position::Behind& a, const Position::Behind& b) {
  return !a.is_next && !b.is_next && a.event >= b.event && a.left + a.idle <= b.left + b.idle &&
         a.steps <= b.steps;
}

void add(Position& at, Position::Behind behind, const Position& of) {
  if (behind.event == 0) return;
  behind.idle += at.clock - of.clock;
  behind.steps += at.steps - of.steps;
  for (Position::Behind* const known : {&at.behind, &at.other}) {
    if (same_begin(*known, behind)) {
      known->idle = std::min(known->left + known->idle, behind.left + behind.idle) - known->left;
      known->steps = std::min(known->steps, behind.steps);
      return;
    }
    if (known->event == 0 || covers(behind, *known)) {
      *known = behind;
      return;
    }
    if (covers(*known, behind)) return;
  }
  // A third one: the last event stays, and of the others the one that is farther behind.
  for (Position::Behind* const known : {&at.behind, &at.other})
    if (behind.event > known->event) std::swap(behind, *known);
  Position::Behind& first = at.behind.event < at.other.event ? at.behind : at.other;
  if (behind.left + behind.idle < first.left + first.idle) first = behind;
}

}  // namespace

Position after_both(const Position& a, const Position& b) {
  Position at{std::max(a.clock, b.clock), std::max(a.steps, b.steps), std::max(a.slept, b.slept)};
  // Nobody knows where that has begun.
  const auto leads = [](const Position& one, const Position& other) {
    return one.behind.event == 0 && (one.clock > other.clock || one.steps > other.steps);
  };
  if (leads(a, b) || leads(b, a)) return at;
  for (const Position* of : {&a, &b})
    for (const Position::Behind* behind : {&of->behind, &of->other}) add(at, *behind, *of);
  if (at.other.event != 0 && covers(at.behind, at.other)) at.other = {};
  return at;
}

}  // namespace foretrace
