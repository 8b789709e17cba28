// The names of MPI's functions, as headers, traces and machine models write them.
#pragma once

#include <string>
#include <string_view>

namespace foretrace::mpi_api {

// "MPI_Send" of "MPI_Send_c".
std::string_view without_large_count(std::string_view function);

// What machine models call a function: "put" of "MPI_Put", "MPI_Put_c", "mpi_put" and "Put".
std::string model_name(std::string_view function);

}  // namespace foretrace::mpi_api
