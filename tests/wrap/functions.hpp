// A few functions to fill templates with.
#pragma once

#include <array>

#include "wrap/mpi_function.hpp"

namespace foretrace::wrap {

inline constexpr std::array<MpiFunction, 11> kFunctions{{
    {"MPI_Allreduce", "int",
     "const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm "
     "comm",
     "sendbuf, recvbuf, count, datatype, op, comm"},
    {"MPI_Barrier", "int", "MPI_Comm comm", "comm"},
    {"MPI_Comm_c2f", "MPI_Fint", "MPI_Comm comm", "comm"},
    {"MPI_Finalize", "int", "void", ""},
    {"MPI_Ibarrier", "int", "MPI_Comm comm, MPI_Request *request", "comm, request"},
    {"MPI_Init", "int", "int *argc, char ***argv", "argc, argv"},
    {"MPI_Pcontrol", "int", "const int level, ...", "level"},
    {"MPI_Recv", "int",
     "void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status "
     "*status",
     "buf, count, datatype, source, tag, comm, status"},
    {"MPI_Send", "int",
     "const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm",
     "buf, count, datatype, dest, tag, comm"},
    {"MPI_Send_c", "int",
     "const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm",
     "buf, count, datatype, dest, tag, comm"},
    {"MPI_Wtime", "double", "void", ""},
}};

}  // namespace foretrace::wrap
