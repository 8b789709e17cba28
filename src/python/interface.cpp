#include "python/interface.hpp"

#include <string>

#include "base/error.hpp"
#include "python/table.hpp"

using foretrace::python::guarded;
using foretrace::python::OpenTrace;

namespace foretrace::python {
namespace {

thread_local std::string last_error;

}  // namespace

void keep_error(const char* message) {
  last_error = message;
}

}  // namespace foretrace::python

const char* foretrace_error() {
  return foretrace::python::last_error.c_str();
}

OpenTrace* foretrace_trace_open(const char* path) {
  return guarded<OpenTrace*>(nullptr, [&] { return new OpenTrace(path); });
}

void foretrace_trace_close(OpenTrace* trace) {
  delete trace;
}

const char* foretrace_trace_description(OpenTrace* trace) {
  return trace->description().c_str();
}

const char* foretrace_columns(const char* table) {
  return guarded<const char*>(nullptr, [&] {
    static thread_local std::string text;
    text.clear();
    foretrace::python::TableKind kind;
    for (const auto& column : foretrace::python::columns_of(table, kind))
      text += std::string(column.name) + " " + column.type + "\n";
    if (text.empty()) throw foretrace::Error("there is no table " + std::string(table));
    return text.c_str();
  });
}

std::int64_t foretrace_trace_rows(OpenTrace* trace, const char* table, std::int32_t rank) {
  return guarded<std::int64_t>(-1, [&] { return trace->rows(table, rank); });
}

std::int32_t foretrace_trace_fill(OpenTrace* trace, const char* table, std::int32_t rank,
                                  const char* const* names, void* const* columns,
                                  std::int32_t count) {
  return guarded(-1, [&] {
    std::vector<OpenTrace::Wanted> wanted;
    for (std::int32_t i = 0; i < count; ++i) wanted.push_back({names[i], columns[i]});
    trace->fill(table, rank, wanted);
    return 0;
  });
}
