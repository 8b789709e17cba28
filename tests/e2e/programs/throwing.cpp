// Error handlers that throw: exceptions pass through MPI and through us, and the program goes on.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

void fail(MPI_Comm*, int* code, ...) {
  throw std::runtime_error("MPI error " + std::to_string(*code));
}

template <class Call>
bool throws(Call call) {
  try {
    call();
  } catch (const std::runtime_error&) {
    return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(fail, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  int rank;
  int size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int caught = 0;
  int sum = 0;
  caught += throws([&] { MPI_Send(&rank, 1, MPI_INT, size, 0, comm); });
  caught += throws([&] { MPI_Bcast(&rank, 1, MPI_INT, -5, comm); });
  caught += throws([&] { MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER); });
  MPI_Allreduce(&caught, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (rank == 0) std::printf("throwing: %d of %d caught\n", sum, 3 * size);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  MPI_Finalize();
}
