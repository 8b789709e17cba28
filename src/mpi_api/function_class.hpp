// What class a data sheet's function is of, by its name alone: for machine models that do not say.
#pragma once

#include <string_view>

namespace foretrace::mpi_api {

// "point-to-point", "one-sided", "collective", "barrier", "file" or "local" (docs/machine-file.md),
// of MPI's name in lower case without "MPI_" ("allreduce") or one of the data sheet's own
// ("irecv2", "bcast_root", "ibcastoverlap"). Empty: nothing is known.
std::string_view function_class_of(std::string_view function);

}  // namespace foretrace::mpi_api
