#include "capture/host/imports.hpp"

#include <string_view>

#include "base/loaded_object.hpp"

namespace foretrace::capture {
namespace {

// Libraries that define MPI's functions refer to them as well.
bool is_mpi_library(std::string_view file_name) {
  return file_name.substr(0, 6) == "libmpi" || file_name.substr(0, 12) == "libforetrace";
}

// MPI_Ssend, MPI_Issend, MPI_Ssend_init, with what may follow in the names of
// large counts and of Fortran's: MPI_Ssend_c, mpi_ssend_, mpi_issend_f08ts_.
bool is_synchronous_send(std::string_view symbol) {
  const std::string_view prefix = symbol.substr(0, 4);
  if (prefix != "MPI_" && prefix != "mpi_") return false;
  symbol.remove_prefix(4);
  if (symbol.substr(0, 1) == "I" || symbol.substr(0, 1) == "i") symbol.remove_prefix(1);
  const std::string_view verb = symbol.substr(0, 5);
  if (verb != "Ssend" && verb != "ssend") return false;
  symbol.remove_prefix(5);
  return symbol.empty() || symbol.front() == '_';
}

}  // namespace

bool program_imports_synchronous_sends() {
  bool found = false;
  for_each_object([&](const LoadedObject& object) {
    if (found || is_mpi_library(object.file_name())) return;
    object.for_each_import(
        [&](const char* symbol) { found = found || is_synchronous_send(symbol); });
  });
  return found;
}

}  // namespace foretrace::capture
