#include "capture/host/own_layer.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <string_view>

#include "base/loaded_object.hpp"

namespace foretrace::capture {
namespace {

bool is_profiling_function(std::string_view symbol) {
  return symbol.starts_with("PMPI_") || symbol.starts_with("PMPIX_");
}

// Whether programs that call MPI_X get this object's.
bool stands_before_mpi(const LoadedObject& object) {
  bool found = false;
  object.for_each_slot([&](const char* symbol, void**) {
    if (found || !is_profiling_function(symbol)) return;
    const auto used = reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, symbol + 1));
    found = used >= object.base() && used < object.end();
  });
  return found;
}

}  // namespace

void redirect_own_layers() {
  Dl_info own;
  if (dladdr(reinterpret_cast<void*>(&redirect_own_layers), &own) == 0) return;
  void* const wrappers = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!wrappers) return;
  for_each_object([&](const LoadedObject& object) {
    if (object.base() == reinterpret_cast<std::uintptr_t>(own.dli_fbase)) return;
    if (!stands_before_mpi(object)) return;
    object.for_each_slot([&](const char* symbol, void** slot) {
      if (!is_profiling_function(symbol)) return;
      if (void* const wrapper = dlsym(wrappers, symbol + 1)) object.redirect(slot, wrapper);
    });
  });
  dlclose(wrappers);
}

}  // namespace foretrace::capture
