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

}  // namespace

bool program_withdraws_messages() {
  bool cancels = false;
  bool asks = false;
  for_each_object([&](const LoadedObject& object) {
    // Libraries that define MPI's functions refer to them as well.
    if (object.file_name().starts_with("libmpi")) return;
    object.for_each_import([&](const char* symbol) {
      cancels = cancels || is_function(symbol, "mpi_cancel");
      asks = asks || is_function(symbol, "mpi_test_cancelled");
    });
  });
  return cancels && asks;
}

}  // namespace foretrace::mpi
