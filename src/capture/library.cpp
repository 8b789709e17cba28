// The capture library's outside: MPI's functions, generated, and the hooks of
// foretrace.h.
#include <mpi.h>

#include "capture/fortran.hpp"
#include "capture/fortran_requests.hpp"
#include "capture/handlers.hpp"
#include "foretrace.h"

#define FORETRACE_EXPORT __attribute__((visibility("default")))

using namespace foretrace;
using capture::CommInfo;
using capture::Cost;
using capture::Fn;
using capture::SendMode;
using namespace foretrace::capture;

namespace {

void hook_compute(double steps) {
  if (session.active()) session.add_steps(steps);
}
void hook_phase_begin(const char* name) {
  session.phase_begin(name);
}
void hook_phase_end(const char* name) {
  session.phase_end(name);
}
void hook_mark(const char* name, double value) {
  session.mark(name, value);
}

constexpr foretrace_hooks kHooks{sizeof(foretrace_hooks), hook_compute, hook_phase_begin,
                                 hook_phase_end, hook_mark};

}  // namespace

extern "C" FORETRACE_EXPORT const foretrace_hooks* foretrace_get_hook_table() {
  return &kHooks;
}

#include "mpi_fortran.inc"
#include "mpi_wrappers.inc"

// Before the program runs: what it is linked with is loaded by then.
__attribute__((constructor)) static void redirect_fortran() {
  capture::redirect_fortran_calls(kFortranCalls);
  capture::watch_fortran_requests(sizeof(MPI_Request));
}
