// When an event of a trace begins and ends in the time line. Private to src/pyramid.
#pragma once

#include "trace/event.hpp"

namespace foretrace::pyramid {

// MPI_Init is all at its end, MPI_Finalize all at its start.
inline Time enter_of(const trace::Event& event) {
  return event.kind == trace::EventKind::init ? event.leave : event.enter;
}
inline Time leave_of(const trace::Event& event) {
  return event.kind == trace::EventKind::finalize ? event.enter : event.leave;
}

}  // namespace foretrace::pyramid
