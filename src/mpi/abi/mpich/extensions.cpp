// MPICH's own functions that ask for graphics processors: messages lie in memory.
#include "live_impl.hpp"

namespace foretrace::mpi::impl {

int X_Query_cuda_support() {
  return 0;
}

int X_Query_hip_support() {
  return 0;
}

int X_Query_ze_support() {
  return 0;
}

int X_GPU_query_support(int, int* is_supported) {
  *is_supported = 0;
  return MPI_SUCCESS;
}

}  // namespace foretrace::mpi::impl
