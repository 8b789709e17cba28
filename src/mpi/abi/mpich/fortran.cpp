// What MPICH's Fortran library takes from its C library besides MPI's functions.
// Handles are the same in both languages, except for files.
#include "live_impl.hpp"
#include "mpi/abi/cells.hpp"
#include "mpi/core/object.hpp"

#define FORETRACE_EXPORT __attribute__((visibility("default")))

namespace foretrace::mpi::impl {

// MPI_FILE_NULL is 0.
MPI_Fint File_c2f(MPI_File file) {
  abi::Cell* const cell = abi::cell_at(ObjectKind::file, reinterpret_cast<std::intptr_t>(file));
  return cell && cell->object ? abi::fortran_number(*cell) + 1 : 0;
}

MPI_File File_f2c(MPI_Fint file) {
  return reinterpret_cast<MPI_File>(abi::cell_with_number(ObjectKind::file, file - 1));
}

}  // namespace foretrace::mpi::impl

namespace {
int unweighted;
int weights_empty;
}  // namespace

extern "C" {

// The Fortran library sets these when MPI is initialised.
FORETRACE_EXPORT MPI_Fint* MPI_F_STATUS_IGNORE = nullptr;
FORETRACE_EXPORT MPI_Fint* MPI_F_STATUSES_IGNORE = nullptr;

FORETRACE_EXPORT extern int* const MPI_UNWEIGHTED;
FORETRACE_EXPORT extern int* const MPI_WEIGHTS_EMPTY;
int* const MPI_UNWEIGHTED = &unweighted;
int* const MPI_WEIGHTS_EMPTY = &weights_empty;

// Module mpi_f08 knows these by address.
FORETRACE_EXPORT int* MPIR_C_MPI_UNWEIGHTED = &unweighted;
FORETRACE_EXPORT int* MPIR_C_MPI_WEIGHTS_EMPTY = &weights_empty;
FORETRACE_EXPORT int MPIR_F08_MPI_BOTTOM = 0;
FORETRACE_EXPORT int MPIR_F08_MPI_IN_PLACE = 0;
FORETRACE_EXPORT MPI_F08_status MPIR_F08_MPI_STATUS_IGNORE_OBJ = {};
FORETRACE_EXPORT MPI_F08_status MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1] = {};
FORETRACE_EXPORT MPI_F08_status* MPI_F08_STATUS_IGNORE = &MPIR_F08_MPI_STATUS_IGNORE_OBJ;
FORETRACE_EXPORT MPI_F08_status* MPI_F08_STATUSES_IGNORE = &MPIR_F08_MPI_STATUSES_IGNORE_OBJ[0];
}
