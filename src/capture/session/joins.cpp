#include "capture/session/joins.hpp"

#include <algorithm>
#include <utility>

namespace foretrace::capture {

namespace {

// Who waits for a thread that was handed its work longer ago is not known to wait.
constexpr std::size_t kMostEntered = 4096;

}  // namespace

// Where the thread has waited for others since its last call, how long will be another matter where
// calls take another time. So what it hands on counts from its next call, not from the last one.
Position::Behind Joins::behind(Time left) {
  is_asked_ = is_asked_ || has_joined_;
  return {gap_, written_, has_joined_, left, computed_};
}

void Joins::note(const Position& from, Time own, Time until) {
  // What was handed on, and is waited for, between the same two calls is computation.
  if (from.behind.gap == 0 || from.behind.gap == gap_) return;
  held_ += std::max(from.clock - own, Time());
  if (has_joined_ && from.clock < from_.clock) return;
  has_joined_ = true;
  from_ = from;
  until_ = until;
}

void Joins::begin(trace::Event& event, Time now) {
  const Time held = std::min(std::exchange(held_, Time()), event.compute);
  const bool joins = std::exchange(has_joined_, false);
  if (std::exchange(is_asked_, false)) {
    if (entered_.size() >= kMostEntered) entered_.erase(entered_.begin());
    entered_[gap_] = {now, computed_ + event.compute - held};
    event.join.mark = gap_;
  }
  ++gap_;
  if (!joins) return;
  const Position::Behind& behind = from_.behind;
  Time since = behind.left;
  Time computed = behind.computed;
  if (behind.is_next) {
    const auto entered = entered_.find(behind.gap);
    if (entered == entered_.end()) return;
    since = entered->second.at;
    computed = entered->second.computed;
  }
  const Time after = from_.clock - since + std::max(now - until_, Time());
  // Who has computed as long itself since then never waits.
  const Time own = computed_ + event.compute - held - computed;
  if (after <= Time() || (held == Time() && own >= after)) return;
  event.join.entered = behind.is_next;
  event.join.back = event.join.entered ? behind.gap : behind.event;
  event.join.after = after;
  event.join.held = held;
}

// Whatever the times of calls, whoever is as far behind a later event is behind this as well.
static bool covers(const Position::Behind& a, const Position::Behind& b) {
  return a.event >= b.event && a.left <= b.left && a.steps <= b.steps;
}

Position after_both(const Position& here, const Position& other) {
  Position at{std::max(here.clock, other.clock), std::max(here.steps, other.steps)};
  // Nobody knows where that has begun.
  const auto leads = [](const Position& a, const Position& b) {
    return a.behind.event == 0 && (a.clock > b.clock || a.steps > b.steps);
  };
  if (leads(here, other) || leads(other, here)) return at;
  const auto add = [&at](Position::Behind behind, const Position& of) {
    if (behind.event == 0) return;
    behind.left += at.clock - of.clock;
    behind.steps += at.steps - of.steps;
    for (Position::Behind* const known : {&at.behind, &at.other}) {
      if (known->event == behind.event) {
        known->left = std::min(known->left, behind.left);
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
    if (behind.left < first.left) first = behind;
  };
  for (const Position* of : {&here, &other})
    for (const Position::Behind* behind : {&of->behind, &of->other}) add(*behind, *of);
  if (at.other.event != 0 && covers(at.behind, at.other)) at.other = {};
  return at;
}

void Joins::begin(trace::Event& event, const Position& at) {
  const auto join = [&at](const Position::Behind& behind) {
    trace::Join made;
    made.back = behind.event;
    made.after = std::max(at.clock - behind.left, Time());
    made.knows_steps = true;
    made.after_steps = std::max(at.steps - behind.steps, 0.0);
    return made;
  };
  event.join = join(at.behind);
  event.second = at.other.event == 0 ? trace::Join() : join(at.other);
}

void Joins::write(trace::Event& event) {
  trace::Join& join = event.join;
  ++written_;
  computed_ += event.compute - join.held;
  if (join.mark != 0) {
    const auto entered = entered_.find(join.mark);
    if (entered != entered_.end()) entered->second.event = written_;
  }
  for (trace::Join* each : {&join, &event.second}) settle(*each);
  // That the computation follows the event before goes without saying.
  const bool is_plain = join.back == 1 && !join.entered && join.after == event.compute &&
                        join.held == event.compute && join.after_steps == event.steps;
  if (join.back == 0 || (is_plain && event.second.back == 0)) event.join = event.second = {};
}

// What has told an event by its number, or by the gap before it, tells how far back it stands.
void Joins::settle(trace::Join& join) const {
  std::uint64_t number = join.back;
  if (number != 0 && join.entered) {
    const auto entered = entered_.find(number);
    number = entered == entered_.end() ? 0 : entered->second.event;
  }
  join.back = number == 0 || number >= written_ ? 0 : written_ - number;
}

}  // namespace foretrace::capture
