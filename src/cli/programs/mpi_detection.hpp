// Which MPI does a program need? Asked of the program itself.
#pragma once

#include <optional>
#include <string>

namespace foretrace::cli {

// `standard` is the ABI of MPI 5.0 (libmpi_abi), which foretrace-cc compiles for. There
// is a live library for it, but no launcher, and no capture library.
enum class Mpi { openmpi, mpich, standard };

const char* name_of(Mpi mpi);
// "openmpi", "mpich" or "standard"; throws UsageError for anything else.
Mpi parse_mpi(const std::string& name);

// The file that `program` names, looked up in PATH as a shell does. Throws
// UsageError when there is none that can be run.
std::string find_program(const std::string& program);

// Whether the dynamic linker would load a library of that name for the program.
bool loads(const std::string& path, const std::string& library);

// AddressSanitizer's library ends a program that loads it after others, which it cannot see; ours
// do it no harm. If the program needs it, sets our environment so that it goes on.
void let_asan_stand_behind(const std::string& path);

// The MPI of the program in the file `path`: the `given` one, else the one that the
// dynamic linker would load for it. Throws UsageError when there is none, when the
// two differ, or where the program is linked in a way in which it cannot be followed.
Mpi mpi_of(const std::string& path, const std::optional<std::string>& given);

}  // namespace foretrace::cli
