#include "machine/timing.hpp"

namespace foretrace::machine {

void WaitsInTurn::complete_send(const Timing& timing, Port& port, Time end, Bytes bytes) {
  if (timing.has_gap()) end = port.move(end, timing.sending_takes(bytes));
  leave_ = timing.isend_complete_leave(leave_, end, bytes);
  alone_ += timing.isend_complete_minimum(bytes);
}

void WaitsInTurn::complete_receive(const Timing& timing, Port& port, Time end, Bytes bytes) {
  if (timing.has_gap()) end = port.move(end, timing.receiving_takes(bytes));
  leave_ = timing.irecv_complete_leave(leave_, end, bytes);
  alone_ += timing.irecv_complete_minimum(bytes);
}

}  // namespace foretrace::machine
