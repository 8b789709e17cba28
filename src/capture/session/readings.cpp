// The clocks that the program reads: MPI_Wtime, and the computer's under predict.
#include <algorithm>
#include <utility>

#include "base/program_clock.hpp"
#include "base/slept.hpp"
#include "base/ticks.hpp"
#include "capture/session/session.hpp"

namespace foretrace::capture {

double Session::close_as_reading() {
  trace::Event& event = thread_->event;
  if (event.count == 1 && !others_called_)
    event.count = clock_wait_.readings(Computation::slept_ever_by(first_thread_.computed));
  close_as_call();
  clock_wait_.showed(now_);
  read_clock_ = true;
  return now_.seconds();
}

void Session::close_as_reading_of(double seconds) {
  const trace::SiteId place = thread_->event.site;
  // Another place ends the row.
  if (has_pending_ && readings_ && readings_->site != place) settle_readings();
  close_as_call();
  if (predicting() || others_called_ || !has_pending_) return;
  if (pending_.count == 1 || !readings_ || readings_->site != place)
    readings_ = {place, 0, seconds, seconds, pending_.compute};
  ++readings_->count;
  readings_->last = seconds;
}

// A program that waits until the clock says so reads it again and again, at one place: what counts
// is the time that passes, not how often it looks (docs/theory.md, The rest). One that times its
// work reads it at two places in turn.
void Session::settle_readings() {
  const auto readings = std::exchange(readings_, std::nullopt);
  if (!readings || readings->count < machine::kReadingsOfAWait) return;
  const Time between = pending_.compute - readings->computed;
  if (between.count_ps() > readings->count * machine::kIdleComputation.count_ps()) return;
  const Time passed = Time::from_seconds(readings->last - readings->first);
  pending_.count -= readings->count - 1;
  pending_.compute = readings->computed + passed;
  waited_by_clock_ += passed;
  if (settings_.clock == trace::Clock::wall) return;
  const Time more = passed - between;
  now_ += more;
  pending_.leave += more;
  // The event that ends the row may have begun.
  thread_->event.enter += more;
  thread_->event.leave += more;
}

void Session::watch_clocks() {
  program_clock::watch([] {
    if (session.active() && wrapper_depth == 0) session.read_clock_ = true;
  });
}

// Of the row at hand a look has found nothing. What the program computes between looks is recorded.
void Session::note_reading_before_look() {
  if (predicting() || settings_.clock == trace::Clock::wall) return;
  const bool read = std::exchange(read_clock_, false);
  if (!row_.is_open()) {
    clocked_row_ = {work_of_thread(), false};
    return;
  }
  clocked_row_.began += thread_->event.compute;
  clocked_row_.reads_clock = clocked_row_.reads_clock || read;
}

// So is what it slept. While it had no core it did not look.
void Session::note_row_that_gives_up() {
  if (!row_.is_open() || !clocked_row_.reads_clock || others_called_) return;
  clocked_row_.reads_clock = false;
  const Time passed = work_of_thread() - clocked_row_.began;
  gave_up_after_ += std::max(passed - computation_.sleep_aside(), Time());
}

void Session::show_clocks() {
  program_clock::start([] {
    return session.active() && wrapper_depth == 0 ? std::optional(session.shown_time())
                                                  : std::nullopt;
  });
}

// A row of looks may be waiting: then its time is shown here and taken back at its end, after which
// the clock stands still for a while. Where nothing that the program does takes time, what it waits
// for is the clock, and it goes on as if it had called MPI_Wtime.
Time Session::shown_time() {
  const std::int64_t entered = monotonic_ns();
  // Who looks at a clock as well does not only wait for what it looks for.
  read_clock_ = true;
  thread_->in_vain = false;
  if (!others_called_) computation_.count_sleep_aside();
  const Time before = others_called_ ? first_thread_.clock : now_ + idle_compute_ + idle_cost_;
  Time clock = before + computation_.at_reading(first_thread_.computed);
  const std::uint32_t readings =
      others_called_ ? 1 : clock_wait_.readings(Computation::slept_ever_by(first_thread_.computed));
  if (clock_wait_.at_reading(clock, entered) || readings > 1) {
    program_call = {};
    const Inside inside;
    open(trace::EventKind::call, Fn::MPI_Wtime).count = readings;
    close_as_call();
    clock_wait_.moved_to(clock = now_);
  }
  clock_wait_.showed(clock);
  clock_wait_.left(monotonic_ns());
  return shown_ = std::max(shown_, clock);
}

}  // namespace foretrace::capture
