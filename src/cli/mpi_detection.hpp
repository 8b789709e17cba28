// Which MPI does a program need? Asked of the program itself.
#pragma once

#include <string>

namespace foretrace::cli {

enum class Mpi { openmpi, mpich };

const char* name_of(Mpi mpi);
// "openmpi" or "mpich"; throws UsageError for anything else.
Mpi parse_mpi(const std::string& name);

// The file that `program` names, looked up in PATH as a shell does. Throws
// UsageError when there is none that can be run.
std::string find_program(const std::string& program);

// The MPI library among all that the dynamic linker would load for `path`.
// Throws UsageError when there is none, or the program is statically linked.
Mpi detect_mpi(const std::string& path);

}  // namespace foretrace::cli
