// Looks that found something, until the next call shows whether the program cares. Nobody else has
// seen the rank's clock by then; the program may have, by the computer's clocks, which then stand
// still for a while (Session::shown_time).
#include <algorithm>

#include "base/cpu_clock.hpp"
#include "capture/session/session.hpp"

namespace foretrace::capture {

// A recording by the wall clock says what was, and threads share their rank's clock.
bool Session::begin_found() {
  const bool wall = !predicting() && settings_.clock == trace::Clock::wall;
  if (others_called_ || may_be_idle_ || wall) return false;
  found_.stands_between_work =
      machine::LookRow::is_between_work(computation_.measured(), thread_->event.steps != 0);
  found_.is_ignored = false;
  found_.fn = thread_->fn;
  found_.variables.clear();
  found_.taken.clear();
  found_.now = now_;
  found_.row = row_;
  found_.idle_compute = idle_compute_;
  found_.idle_cost = idle_cost_;
  found_.slept_aside = computation_.sleep_aside();
  found_.ports = ports_;
  return true;
}

// Where the clock hardly moves, whatever passes (a program sleeps between its looks, or does
// something else that does not count), it would take too long here until something is there.
bool Session::hides_finds(std::uint64_t about) {
  const bool read_clock = std::exchange(read_clock_, false);
  constexpr std::int64_t kAtLeastNs = 20'000'000;
  constexpr std::int64_t kTimesAsLong = 50;
  constexpr std::size_t kMost = 64;
  if (!predicting() || others_called_ || !logging_) return false;
  const trace::Event& event = thread_->event;
  const bool announced = event.steps != 0;
  const bool works = !may_be_idle_ && event.compute > machine::kIdleComputation &&
                     machine::LookRow::is_between_work(computation_.measured(), announced) &&
                     (announced || !slept_between_looks_);
  is_by_clock_ = read_clock && !works;
  worked_ = works || read_clock || (worked_ && !slept_between_looks_);
  if (works || read_clock) looked_at_.clear();
  if (!worked_ || looked_at_.size() >= kMost ||
      std::ranges::find(looked_at_, about) != looked_at_.end())
    return false;
  looked_at_.push_back(about);
  const std::int64_t now = monotonic_ns();
  if (looks_since_ns_ == 0) {
    looks_since_ns_ = now;
    looks_since_ = look_time();
  }
  if (now - looks_since_ns_ >
      kAtLeastNs + kTimesAsLong * ((look_time() - looks_since_).count_ps() / 1000))
    return false;
  piggyback.show(look_time());
  piggyback.let_others_catch_up(look_time());
  leave_out_of_looks(monotonic_ns() - now);
  return true;
}

void Session::note_hidden_find() {
  constexpr std::int64_t kOfThem = 1000;
  if (!is_by_clock_) return;
  trace::Event& event = thread_->event;
  const Time more = Time::ps((look_time() - looks_since_).count_ps() / kOfThem);
  event.compute += more;
  if (may_be_idle_) return;
  now_ += more;
  event.enter = event.leave = now_;
}

// The clock of a row that may be waiting stands still, but what the program sees of it goes on.
Time Session::look_time() const {
  const trace::Event& event = thread_->event;
  return event.enter + idle_compute_ + idle_cost_ + (may_be_idle_ ? event.compute : Time());
}

void Session::close_found(Time leave, Time wait) {
  trace::Event& event = thread_->event;
  if (predicting()) {
    event.leave = now_ = leave;
    event.wait = wait;
  }
  thread_->in_event = false;
  clock_wait_.end_with_sleep();
  looks_since_ns_ = 0;
  row_.end();
  idle_compute_ = idle_cost_ = Time();
  computation_.set_sleep_aside(Time());
  found_.event = event;
  found_.is_held = true;
  writer_.leave();
  show_clock(false);
  computation_.resume();
}

// Another call: the program may have cared.
void Session::settle_found() {
  if (!std::exchange(found_.is_held, false)) return;
  write_pending();
  write_alone(found_.event);
  computation_.looked(true);
}

bool Session::asks_again(std::span<const void* const> variables, bool looks) const {
  if (!found_.is_held || (!looks && !found_.stands_between_work && !found_.is_ignored))
    return false;
  return std::ranges::all_of(found_.variables, [&](const void* variable) {
    return std::ranges::find(variables, variable) != variables.end();
  });
}

void Session::take_back_found() {
  found_.is_held = false;
  now_ = found_.now;
  row_ = found_.row;
  idle_compute_ = found_.idle_compute;
  idle_cost_ = found_.idle_cost;
  computation_.set_sleep_aside(found_.slept_aside);
  ports_ = found_.ports;
  may_be_idle_ = false;
  trace::Event& event = thread_->event;
  event = found_.event;
  event.completions.clear();
  event.leave = event.enter;
  event.wait = Time();
  thread_->counts.clear();
  thread_->fn = found_.fn;
  end_as_call();
}

}  // namespace foretrace::capture
