// What a library made by `foretrace wrap` takes from us, in C: the way from
// Fortran's calls to its wrappers (wrap/generate.cpp declares it the same way).
#include "callers/fortran_calls.hpp"
#include "capture/host/fortran.hpp"

extern "C" {

int foretrace_wrap_is_programs_call(const char* name, const void* return_address) {
  return foretrace::callers::is_programs_call(name, return_address) ? 1 : 0;
}

// `calls` are sorted by name and stay.
void foretrace_wrap_redirect(const foretrace::capture::FortranCall* calls, int count) {
  foretrace::capture::redirect_fortran_calls({calls, static_cast<std::size_t>(count)});
}
}
