// The functions of each MPI as its mpi.h declares them, for `wrap`.
#pragma once

#include <span>
#include <string_view>

#include "wrap/mpi_function.hpp"

namespace foretrace::cli {

// Sorted by name; empty if the tool was built without that MPI.
std::span<const wrap::MpiFunction> signatures_of(std::string_view mpi);

}  // namespace foretrace::cli
