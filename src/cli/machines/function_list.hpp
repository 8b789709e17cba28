// The MPI functions and how each is treated, for notes and `coverage`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrace::cli {

struct ListedFunction {
  std::string_view name;
  std::string_view treatment;  // the class in src/mpi_api/functions.txt
};

// The functions of one MPI's mpi.h ("openmpi", "mpich"); empty if the tool was
// built without it.
std::vector<ListedFunction> functions_of(std::string_view mpi);

// True for functions that move data or wait, but have no timing rule yet.
bool carries_no_time(std::string_view function);

// What is told of them; `list`: the names of those that were called.
std::string note_of_untimed(std::string_view list);

}  // namespace foretrace::cli
