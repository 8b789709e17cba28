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
  Position others{from.clock};
  Time computed = own;
  auto other = others.behind.begin();
  for (const Position::Behind& behind : from.behind) {
    if (behind.gap == gap_)
      computed = std::max(computed, from.clock - behind.idle);
    else if (behind.gap != 0)
      *other++ = behind;
  }
  if (other == others.behind.begin()) return;
  held_ += std::max(from.clock - computed, Time());
  if (has_joined_) {
    from_.clock += std::max(own - until_, Time());
    others = after_both(from_, others);
  }
  has_joined_ = true;
  from_ = others;
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
  const Time computed = computed_ + event.compute - held;
  const Time since_wait = std::max(now - until_, Time());
  for (const Position::Behind& behind : by_idle(from_)) {
    const std::optional<Entered> begun = begin_of(behind);
    if (!begun || event.second.back != 0) continue;
    const Time after = from_.clock - behind.idle - begun->at + since_wait;
    // Who has computed as long itself since then never waits.
    if (after <= Time() || (held == Time() && computed - begun->computed >= after)) continue;
    trace::Join& join = event.join.back == 0 ? event.join : event.second;
    join.entered = behind.is_next;
    join.back = join.entered ? behind.gap : behind.event;
    join.after = after;
  }
  if (event.join.back != 0) event.join.held = held;
}

// Where what a thread is behind has begun; nothing: that is not known any more.
std::optional<Joins::Entered> Joins::begin_of(const Position::Behind& behind) const {
  if (behind.gap == 0) return std::nullopt;
  if (!behind.is_next) return Entered{behind.left, behind.computed};
  const auto entered = entered_.find(behind.gap);
  return entered == entered_.end() ? std::nullopt : std::optional(entered->second);
}

Time Joins::beyond(const Position& there) const {
  Time most;
  for (const Position::Behind& behind : there.behind) {
    const std::optional<Entered> begun = begin_of(behind);
    if (!begun) continue;
    const Time own = computed_ - begun->computed;
    most = std::max(most, there.clock - behind.idle - begun->at - own);
  }
  return most;
}

void Joins::begin(trace::Event& event, const Position& at) {
  const auto join = [&at](const Position::Behind& behind) {
    trace::Join made;
    made.back = behind.event;
    made.after = std::max(at.clock - behind.idle - behind.left, Time());
    made.knows_steps = true;
    made.after_steps = std::max(at.steps - behind.steps, 0.0);
    return made;
  };
  const auto behind = by_idle(at);
  event.join = join(behind[0]);
  event.second = behind[1].event == 0 ? trace::Join() : join(behind[1]);
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
  if (join.back == 0 && event.second.back != 0) {
    event.second.held = join.held;
    join = std::exchange(event.second, {});
  }
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
