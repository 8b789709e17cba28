#include "mpi/core/imports.hpp"

#include <string_view>

#include "base/loaded_object.hpp"

namespace foretrace::mpi {
namespace {

// Also under the names that Fortran compilers make of it, and under its profiling name.
bool is_cancel(std::string_view symbol) {
  if (symbol.starts_with('P') || symbol.starts_with('p')) symbol.remove_prefix(1);
  return symbol.starts_with("MPI_Cancel") || symbol.starts_with("mpi_cancel") ||
         symbol.starts_with("MPI_CANCEL");
}

}  // namespace

bool program_imports_cancel() {
  bool imports = false;
  for_each_object([&](const LoadedObject& object) {
    // Libraries that define MPI's functions refer to them as well.
    if (object.file_name().starts_with("libmpi")) return;
    object.for_each_import([&](const char* symbol) { imports = imports || is_cancel(symbol); });
  });
  return imports;
}

}  // namespace foretrace::mpi
