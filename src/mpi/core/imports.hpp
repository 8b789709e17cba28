// What the program and its libraries import.
#pragma once

namespace foretrace::mpi {

// Whether anything that is loaded now, other than MPI libraries, may withdraw messages that it
// has sent, by MPI_Cancel: it then has to ask, by MPI_Test_cancelled, what became of them.
// Programs that cancel receives at their end only need not ask. What Open MPI's C++ bindings import
// into every C++ program that includes <mpi.h> does not count.
bool program_withdraws_messages();

}  // namespace foretrace::mpi
