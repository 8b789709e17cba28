// From a template and an MPI's functions to the source of a wrapper library.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "wrap/mpi_function.hpp"
#include "wrap/template.hpp"

namespace foretrace::wrap {

struct Source {
  std::string text;   // C or C++
  int functions = 0;  // that the template wraps
};

// `file` is what the source calls itself, for the compiler's messages and
// debuggers; lines that come from the template keep its name and their numbers.
// `fortran`: with what directs the calls of the MPI's Fortran libraries to it,
// to be linked with our archive. Throws Error "NAME:LINE: ...".
Source generate(const Template& source, std::string_view mpi,
                std::span<const MpiFunction> functions, std::string_view file, bool fortran);

}  // namespace foretrace::wrap
