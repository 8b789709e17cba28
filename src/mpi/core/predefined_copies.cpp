#include "mpi/core/predefined_copies.hpp"

#include <mpi.h>

#define FORETRACE_EXPORT __attribute__((visibility("default")))

extern "C" {

#ifdef MPICH

FORETRACE_EXPORT int MPIR_Dup_fn(MPI_Comm, int, void*, void* in, void* out, int* flag) {
  *static_cast<void**>(out) = in;
  *flag = 1;
  return MPI_SUCCESS;
}

#elif defined OPEN_MPI

#define FORETRACE_FUNCTIONS(Kind, Handle)                                                 \
  FORETRACE_EXPORT int OMPI_C_MPI_##Kind##DUP_FN(Handle, int, void*, void* in, void* out, \
                                                 int* flag) {                             \
    *static_cast<void**>(out) = in;                                                       \
    *flag = 1;                                                                            \
    return MPI_SUCCESS;                                                                   \
  }                                                                                       \
  FORETRACE_EXPORT int OMPI_C_MPI_##Kind##NULL_COPY_FN(Handle, int, void*, void*, void*,  \
                                                       int* flag) {                       \
    *flag = 0;                                                                            \
    return MPI_SUCCESS;                                                                   \
  }                                                                                       \
  FORETRACE_EXPORT int OMPI_C_MPI_##Kind##NULL_DELETE_FN(Handle, int, void*, void*) {     \
    return MPI_SUCCESS;                                                                   \
  }

FORETRACE_FUNCTIONS(COMM_, MPI_Comm)
FORETRACE_FUNCTIONS(TYPE_, MPI_Datatype)
FORETRACE_FUNCTIONS(WIN_, MPI_Win)
FORETRACE_FUNCTIONS(, MPI_Comm)
#undef FORETRACE_FUNCTIONS

#endif
}

namespace foretrace::mpi {

bool is_dup_function(void (*function)()) {
  const auto is = [&](auto* known) { return function == reinterpret_cast<void (*)()>(known); };
#ifdef MPICH
  return is(&MPIR_Dup_fn);
#elif defined OPEN_MPI
  return is(&OMPI_C_MPI_COMM_DUP_FN) || is(&OMPI_C_MPI_TYPE_DUP_FN) || is(&OMPI_C_MPI_WIN_DUP_FN) ||
         is(&OMPI_C_MPI_DUP_FN);
#else
  // Numbers, and one for all kinds of objects.
  return is(MPI_COMM_DUP_FN);
#endif
}

}  // namespace foretrace::mpi
