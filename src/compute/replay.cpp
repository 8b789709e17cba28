#include "compute/replay.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "mpi_api/groups.hpp"
#include "trace/damage.hpp"

namespace foretrace::compute {

using trace::EventKind;

ReplayRule::ReplayRule(std::shared_ptr<trace::TraceReader> trace, WorldRank rank)
    : trace_(std::move(trace)), rank_(rank) {
  if (rank.value >= trace_->ranks())
    throw Error(trace_->path() + ": is of a run on " + std::to_string(trace_->ranks()) +
                " ranks; there is nothing to replay for rank " + std::to_string(rank.value));
  advance();
}

// To the next event that every run of the program has; what was computed before
// those that are passed over is added to what is there.
void ReplayRule::advance() {
  for (;;) {
    if (!trace_->next(rank_, event_)) {
      trace::refuse_damaged(*trace_);
      at_end_ = true;
      return;
    }
    ++number_;
    name_ = trace_->name(rank_, event_.name);
    // Programs look as often as it takes, in every run another number of times. What they compute
    // between looks that only wait is none (docs/theory.md, Looks in vain).
    const bool looks = mpi_api::is_poll(name_);
    const bool idle =
        looks && row_.may_be_idle(event_.compute, std::max(event_.count, 1U), event_.steps != 0);
    (idle ? idle_ : compute_) += event_.compute;
    if (looks && event_.kind == EventKind::call) {
      row_.found_nothing();
      continue;
    }
    row_.end();
    const Time waited = std::exchange(idle_, Time());
    if (!looks) compute_ += waited;
    // Nothing is computed before MPI_Init; predict does not ask for it.
    const bool counts = !looks || event_.kind == EventKind::complete;
    if (counts && event_.kind != EventKind::init) return;
  }
}

void ReplayRule::mismatch(const std::string& calls) const {
  throw Error("rank " + std::to_string(rank_.value) + " calls " + calls + " where " +
              trace_->path() + (at_end_ ? " ends (after event " : " has " + name_ + " (event ") +
              std::to_string(number_) + "); replay the trace of a run with the same calls");
}

Time ReplayRule::before(const Interval& interval) {
  looking_ = false;
  if (interval.kind == EventKind::init) return Time();
  if (mpi_api::is_poll(interval.name)) {
    // Whether it is the one that found something shows afterwards.
    if (at_end_ || name_ != interval.name) return Time();
    looking_ = true;
    return std::exchange(compute_, Time());
  }
  if (interval.kind == EventKind::call && repeated_ == interval.name) {
    const bool another = !at_end_ && name_ == interval.name;
    if (left_ > 0 || !another) {
      left_ -= std::min(left_, interval.count);
      return Time();
    }
  }
  // Local calls that were repeated more often then.
  while (!at_end_ && event_.kind == EventKind::call && name_ == repeated_ && name_ != interval.name)
    advance();
  if (at_end_ || name_ != interval.name) mismatch(std::string(interval.name));
  const bool call = event_.kind == EventKind::call;
  repeated_ = call ? name_ : std::string();
  left_ = call ? std::max(event_.count, 1U) - std::min(event_.count, interval.count) : 0;
  const Time time = std::exchange(compute_, Time());
  advance();
  return time;
}

void ReplayRule::looked(bool found) {
  if (!std::exchange(looking_, false) || !found) return;
  repeated_.clear();
  advance();
}

}  // namespace foretrace::compute
