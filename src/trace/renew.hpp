// Makes an event new without giving up the room of its completions.
#pragma once

#include "trace/event.hpp"

namespace foretrace::trace {

// As Event(). Field by field, which is quicker than a move of a new one.
inline void renew(Event& event) {
  event.kind = EventKind::call;
  event.name = 0;
  event.site = 0;
  event.compute = event.enter = event.leave = event.wait = Time();
  event.steps = 0;
  event.comm = 0;
  event.send = event.recv = Endpoint();
  event.mode = machine::SendMode::standard;
  event.collective = machine::Cost::kCount;
  event.bytes = Bytes();
  event.root = LocalRank();
  event.request = event.taken = 0;
  event.completions.clear();
  event.count = 1;
  event.code = 0;
  event.value = 0;
}

}  // namespace foretrace::trace
