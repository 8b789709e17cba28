// What the program and its libraries import.
#pragma once

namespace foretrace::mpi {

// Whether anything that is loaded now, other than MPI libraries, may call MPI_Cancel.
bool program_imports_cancel();

}  // namespace foretrace::mpi
