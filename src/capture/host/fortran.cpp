#include "capture/host/fortran.hpp"

#include <algorithm>
#include <cstring>

#include "base/loaded_object.hpp"
#include "callers/fortran_calls.hpp"

namespace foretrace::capture {
namespace {

const FortranCall* find(std::span<const FortranCall> calls, const char* name) {
  const auto found = std::lower_bound(
      calls.begin(), calls.end(), name,
      [](const FortranCall& c, const char* n) { return std::strcmp(c.name, n) < 0; });
  return found != calls.end() && std::strcmp(found->name, name) == 0 ? &*found : nullptr;
}

}  // namespace

void redirect_fortran_calls(std::span<const FortranCall> calls) {
  for_each_object([&](const LoadedObject& object) {
    if (!callers::is_fortran_library(object.file_name())) return;
    object.for_each_slot([&](const char* symbol, void** slot) {
      if (*symbol != 'P') return;
      const FortranCall* call = find(calls, symbol + 1);
      if (call && *slot != call->function) object.redirect(slot, call->function);
    });
  });
}

}  // namespace foretrace::capture
