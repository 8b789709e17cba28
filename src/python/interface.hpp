// The functions that the Python package calls by ctypes. Strings are UTF-8 and stay valid until
// the next call for the same object; foretrace_error() says what the last call of this thread
// that failed (nullptr, or -1) complained of. An object serves one thread at a time.
#pragma once

#include <cstdint>
#include <exception>

#define FORETRACE_EXPORT extern "C" __attribute__((visibility("default")))

namespace foretrace::python {
class OpenTrace;

// Keeps the message for foretrace_error() while `work` throws, and answers `failed` then.
void keep_error(const char* message);
template <class Result, class Work>
Result guarded(Result failed, Work&& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    keep_error(error.what());
    return failed;
  }
}
}  // namespace foretrace::python

FORETRACE_EXPORT const char* foretrace_error();

FORETRACE_EXPORT foretrace::python::OpenTrace* foretrace_trace_open(const char* path);
FORETRACE_EXPORT void foretrace_trace_close(foretrace::python::OpenTrace* trace);
FORETRACE_EXPORT const char* foretrace_trace_description(foretrace::python::OpenTrace* trace);
// "name type\n" for each column of a table.
FORETRACE_EXPORT const char* foretrace_columns(const char* table);
FORETRACE_EXPORT std::int64_t foretrace_trace_rows(foretrace::python::OpenTrace* trace,
                                                   const char* table, std::int32_t rank);
FORETRACE_EXPORT std::int32_t foretrace_trace_fill(foretrace::python::OpenTrace* trace,
                                                   const char* table, std::int32_t rank,
                                                   const char* const* names, void* const* columns,
                                                   std::int32_t count);

namespace foretrace::machine {
struct MachineModel;
}
FORETRACE_EXPORT foretrace::machine::MachineModel* foretrace_machine_open(const char* path);
FORETRACE_EXPORT void foretrace_machine_close(foretrace::machine::MachineModel* model);
// What the model says of itself, as JSON.
FORETRACE_EXPORT const char* foretrace_machine_description(
    const foretrace::machine::MachineModel* model);
// Seconds for each of `count` pairs of ranks and bytes; `bound`: min, avg or max.
FORETRACE_EXPORT std::int32_t foretrace_machine_times(const foretrace::machine::MachineModel* model,
                                                      const char* function, const char* bound,
                                                      const std::int64_t* ranks,
                                                      const std::uint64_t* bytes, double* seconds,
                                                      std::int64_t count);
