// Processes that a rank forks. They are no ranks: the line to the simulator is the rank's, and two
// that posted on it would each wait for the other's answers.
#include <pthread.h>

#include <algorithm>
#include <string>

#include "base/program_clock.hpp"
#include "base/ticks.hpp"
#include "mpi/core/function.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/core/threads.hpp"

namespace foretrace::mpi {

// Not run by vfork(), whose child shares the parent's memory and has to leave it alone.
void Line::let_children_go() {
  ::pthread_atfork(nullptr, nullptr, [] {
    forget_other_threads();
    line.leave_to_parent();
  });
}

void Line::leave_to_parent() {
  follow_no_core(followed_);
  if (!slot_) return;
  const program_clock::Real real;
  latest_ = std::max({latest_, clock_.now().count_ps(), clock_wait_.last().count_ps()});
  forked_ns_ = monotonic_ns();
  slot_ = nullptr;
  has_call_ = false;
  held_back_ = 0;
  may_run_ahead_ = may_pass_time_ = false;
}

Time Line::time_beyond() const {
  return Time::ps(latest_) + Time::ns(is_childs() ? monotonic_ns() - forked_ns_ : 0);
}

void Line::must_be_open() const {
  if (slot_) return;
  const std::string name = name_of(current_function());
  if (!is_childs()) end_run(1, name + " is called before MPI_Init or after MPI_Finalize");
  end_run(1, name + " is called by a process that rank " + std::to_string(rank_) +
                 " has forked, which is no rank: it ends here with status 1. Let the rank "
                 "itself make the call");
}

}  // namespace foretrace::mpi
