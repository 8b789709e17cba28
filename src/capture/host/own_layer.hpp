// Programs that define functions of MPI themselves, to count or to check their calls, and call the
// profiling functions (PMPI_X) from there. No wrapper sees the program's calls of MPI_X then; those
// of PMPI_X are directed to the wrappers here.
//
// Does not see MPI, and defines none of its names.
#pragma once

namespace foretrace::capture {

// Redirects the calls of PMPI_X in every object that is loaded and whose own MPI_X others call.
void redirect_own_layers();

}  // namespace foretrace::capture
