// FoundLook: a call that looked at requests (MPI_Test, MPI_Testall) and found them complete, as
// long as the program may yet show that it does not care: its next call looks at them again, or
// waits for them. Then the look was one in vain, and the next call completes them (docs/theory.md,
// Looks in vain).
#pragma once

#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "capture/handlers/functions.hpp"
#include "machine/look_row.hpp"
#include "machine/port.hpp"
#include "trace/event.hpp"

namespace foretrace::capture {

// What a call completes, and when that ends by itself under predict.
struct Taken {
  enum class What : std::uint8_t { nothing, collective_or_access, send, receive };
  trace::Completion completion;
  What what = What::nothing;
  bool untouched = false;
  Bytes piece;        // a receive: Endpoint::piece of its room
  WorldRank partner;  // of a message
  Time end;
  Bytes bytes;
};

struct FoundLook {
  bool is_held = false;  // it has ended, and is not written yet
  bool stands_between_work = false;
  bool is_ignored = false;  // what it found was found before, and nobody cared
  Fn fn{};
  trace::Event event;
  std::vector<const void*> variables;  // of the requests, in C or Fortran
  std::vector<Taken> taken;

  // The rank when the look began.
  Time now;
  machine::LookRow row;
  Time idle_compute;
  Time idle_cost;
  Time slept_aside;
  machine::Ports ports;
};

}  // namespace foretrace::capture
