// The capture library's outside: MPI's functions, generated, and the hooks of
// foretrace.h.
#include "callers/fortran_calls.hpp"
#include "capture/handlers/handlers.hpp"
#include "capture/host/fortran.hpp"
#include "capture/host/fortran_requests.hpp"
#include "capture/host/own_layer.hpp"
#include "capture/predict/yielding.hpp"
#include "capture/profile/call.hpp"
#include "compute/work_counter.hpp"
#include "foretrace.h"
#include "mpi_api/mpi_and_extensions.h"

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
int hook_kernel_begin(const char* name, double key) {
  return session.kernel_begin(name, key) ? 1 : 0;
}
void hook_kernel_end(const char* name) {
  session.kernel_end(name);
}

constexpr foretrace_hooks kHooks{sizeof(foretrace_hooks), hook_compute, hook_phase_begin,
                                 hook_phase_end,          hook_mark,    hook_kernel_begin,
                                 hook_kernel_end};

}  // namespace

extern "C" FORETRACE_EXPORT const foretrace_hooks* foretrace_get_hook_table() {
  return &kHooks;
}

// For libforetrace-blocks.a.
extern "C" FORETRACE_EXPORT void foretrace_count_blocks(compute::BlockCounter counter) {
  compute::add_block_counter(counter);
}

#include "mpi_fortran.inc"
#include "mpi_wrappers.inc"

// Before the program runs: what it is linked with is loaded by then.
__attribute__((constructor)) static void redirect_calls() {
  capture::redirect_fortran_calls(kFortranCalls);
  capture::redirect_own_layers();
  capture::watch_fortran_requests(sizeof(MPI_Request));
  capture::begin_yielding_early();
}

// When all that the program does at its end is done, a last MPI_Finalize included.
__attribute__((destructor)) static void leave() {
  session.leave();
}
