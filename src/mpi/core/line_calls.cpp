// Where the program's calls begin and end, and those that ask nothing of the simulator.
#include <utility>

#include "base/slept.hpp"
#include "callers/fortran_calls.hpp"
#include "mpi/core/function.hpp"
#include "mpi/core/line.hpp"
#include "shared/site_list.hpp"

namespace foretrace::mpi {

using trace::EventKind;

void Line::enter(Fn function, const callers::CallPoint& point) {
  at_hand_.point = point;
  if (!slot_) return;
  if (!several_) in_calls_.begin();
  take_over();
  stop_work();  // what follows is not the program's
  settle_work();
  begin_call(function);
  if (!at_hand_.for_library) publish_call(static_cast<std::uint32_t>(function) + 1);
  if (at_entry_) at_entry_(function);
}

// For who asks where the rank is; calls in calls are not told.
void Line::publish_call(std::uint32_t call) {
  slot_->last_site.store(at_hand_.site, std::memory_order_relaxed);
  slot_->last_call.store(call, std::memory_order_relaxed);
}

void Line::begin_call(Fn function) {
  at_hand_.for_library =
      find_site() && !callers::is_programs_call(name_of(function), at_hand_.point.address);
  at_hand_.said = at_hand_.goes_on = false;
  if (!at_hand_.for_library) ++calls_;
}

// Whether a library of MPI's makes the call at hand.
bool Line::find_site() {
  const auto [site, by_library] = call_sites_.find(at_hand_.point, [](const trace::Site& place) {
    return sites::add(place.object, place.offset);
  });
  at_hand_.site = site;
  return by_library;
}

void Line::leave(Fn function) {
  if (!slot_) return;
  if (!at_hand_.for_library) publish_call((static_cast<std::uint32_t>(function) + 1) | Slot::kLeft);
  if (!at_hand_.said && !at_hand_.for_library) note_call(function);
  raise_floor(clock_.floor());
  logging_ = logging_next_;
  measuring_ = true;
  note_back_from_mpi();
  begin_work();
  lendings_ = SharedMemory::header().lendings.load();
  if (!several_) in_calls_.end();
  resume_work();
}

// The program had computed until the call around it; that is told with the first of these.
void Line::enter_nested(Fn function, const callers::CallPoint& point) {
  outer_.push_back(at_hand_);
  at_hand_.point = point;
  if (slot_) begin_call(function);
}

void Line::leave_nested(Fn function) {
  if (slot_ && !at_hand_.said && !at_hand_.for_library) note_call(function);
  at_hand_ = outer_.back();
  outer_.pop_back();
}

// Adds up what the program computed until now, if it has begun to. `calls`: it makes a call.
void Line::stop_work(bool calls) {
  if (!measuring_) return;
  if (measured_ == Measured::cpu) {
    if (calls)
      work_->end(counts_waits());
    else
      work_->stop();
  }
  work_->note_sleep();
  if (counter_.is_open()) work_->steps += static_cast<double>(counter_.stop());
}

void Line::resume_work() {
  work_->resume(measured_ == Measured::cpu);
  if (counter_.is_open()) counter_.resume();
}

// A call that asked nothing of the simulator. Those in a row under one name
// become one event.
void Line::note_call(Fn function) {
  if (!logging_) return;
  const bool announced = work_->steps != 0 && !counter_.is_open();
  if (!has_call_ || call_.name != static_cast<std::uint32_t>(function) || announced) {
    flush_call();
    call_ = Record();
    call_.kind = static_cast<std::uint8_t>(EventKind::call);
    call_.name = static_cast<std::uint32_t>(function);
    call_.site = at_hand_.site;
    call_.count = 0;
    has_call_ = true;
  }
  // Calls from several places are from none in particular.
  if (call_.site != at_hand_.site) call_.site = 0;
  ++call_.count;
  call_.steps += std::exchange(work_->steps, 0);
  call_.compute += work_->compute.count_ps();
  work_->compute = Time();
}

void Line::flush_call() {
  if (!has_call_) return;
  has_call_ = false;
  append(call_);
}

}  // namespace foretrace::mpi
