#include "mpi/core/imports.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "base/loaded_object.hpp"

namespace foretrace::mpi {
namespace {

// Also under the names that Fortran compilers make of it, and under its profiling name.
bool is_function(std::string_view symbol, std::string_view name) {
  if (symbol.starts_with('P') || symbol.starts_with('p')) symbol.remove_prefix(1);
  return symbol.size() >= name.size() &&
         std::ranges::equal(symbol.substr(0, name.size()), name, {},
                            [](unsigned char c) { return std::tolower(c); });
}

// What the inline functions of class MPI::Request and of the others call in Open MPI's libmpi_cxx.
bool is_of_cxx_bindings(std::string_view symbol) {
  return symbol.starts_with("ompi_mpi_cxx_") || symbol.starts_with("_ZN3MPI");
}

}  // namespace

bool program_withdraws_messages() {
  bool cancels = false;
  bool asks = false;
  for_each_object([&](const LoadedObject& object) {
    // Libraries that define MPI's functions refer to them as well.
    if (object.file_name().starts_with("libmpi")) return;
    bool has_bindings = false;
    bool cancels_here = false;
    bool asks_here = false;
    object.for_each_import([&](const char* symbol) {
      has_bindings = has_bindings || is_of_cxx_bindings(symbol);
      cancels_here = cancels_here || is_function(symbol, "mpi_cancel");
      asks_here = asks_here || is_function(symbol, "mpi_test_cancelled");
    });
    if (has_bindings) return;
    cancels = cancels || cancels_here;
    asks = asks || asks_here;
  });
  return cancels && asks;
}

}  // namespace foretrace::mpi
