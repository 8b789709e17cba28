// Makes an event new without giving up the room of its completions.
#pragma once

#include "trace/event.hpp"

namespace foretrace::trace {

// As Event().
inline void renew(Event& event) {
  static_cast<Call&>(event) = Call();
  event.enter = event.leave = event.wait = Time();
  event.completions.clear();
  event.code = 0;
  event.counts = 0;
  event.value = 0;
  event.join = event.second = Join();
}

}  // namespace foretrace::trace
