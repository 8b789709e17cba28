// Calls that the program makes inside a call of MPI: in functions that MPI calls to copy and delete
// attributes, in error handlers, in those of generalized requests. Each is an event before that of
// the call around it, which goes on from there; what the rank had computed before that one is told
// with the first of them. What such a function computes takes no time.
#include <utility>

#include "base/called_back.hpp"
#include "callers/mpi_code.hpp"
#include "capture/session/session.hpp"

namespace foretrace::capture {

bool is_called_back(const void* address) {
  return session.active() && !session.several_threads() && !is_combining &&
         !callers::is_of_mpi(address, reinterpret_cast<const void*>(&PMPI_Init));
}

void Session::begin_nested() {
  trace::Event& outer = thread_->event;
  if (thread_->in_event) {
    // A look that may be idle is none.
    if (std::exchange(may_be_idle_, false) && predicting()) now_ += outer.compute;
    unlogged_ += std::exchange(outer.compute, Time());
    unlogged_steps_ += std::exchange(outer.steps, 0);
  }
  // The call around it has had its event: since then the program has done nothing but this.
  if (thread_->goes_on) computation_.forget_interval();
  if (open_nested_ == nested_.size()) nested_.emplace_back();
  thread_ = &nested_[open_nested_++];
  thread_->goes_on = false;
}

void Session::end_nested() {
  --open_nested_;
  thread_ = open_nested_ == 0 ? &first_thread_ : &nested_[open_nested_ - 1];
  computation_.forget_interval();
  if (!thread_->in_event) return;
  trace::Event& outer = thread_->event;
  outer.enter = outer.leave = now_;
  // Where none of them was logged.
  outer.compute += std::exchange(unlogged_, Time());
  outer.steps += std::exchange(unlogged_steps_, 0);
  writer_.enter(outer.name, outer.site);
}

}  // namespace foretrace::capture
