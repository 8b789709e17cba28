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
  return {gap_, has_joined_ ? 0 : written_, left, computed_};
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
  if (behind.event == 0) {
    const auto entered = entered_.find(behind.gap);
    if (entered == entered_.end()) return;
    since = entered->second.at;
    computed = entered->second.computed;
  }
  const Time after = from_.clock - since + std::max(now - until_, Time());
  // Who has computed as long itself since then never waits.
  const Time own = computed_ + event.compute - held - computed;
  if (after <= Time() || (held == Time() && own >= after)) return;
  event.join.entered = behind.event == 0;
  event.join.back = event.join.entered ? behind.gap : behind.event;
  event.join.after = after;
  event.join.held = held;
}

void Joins::write(trace::Event& event) {
  trace::Join& join = event.join;
  ++written_;
  computed_ += event.compute - join.held;
  if (const auto entered = entered_.find(join.mark); entered != entered_.end())
    entered->second.event = written_;
  if (join.back == 0) return;
  std::uint64_t number = join.back;
  if (join.entered) {
    const auto entered = entered_.find(number);
    number = entered == entered_.end() ? 0 : entered->second.event;
  }
  if (number == 0 || number >= written_)
    join = {};
  else
    join.back = written_ - number;
}

}  // namespace foretrace::capture
