// Messages of 0, 12, 100 and 4,000 bytes from each rank to the next, by calls
// whose arguments are called differently.
#include <mpi.h>

#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const MPI_Comm world = MPI_COMM_WORLD;
  int rank;
  int size;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  const int next = (rank + 1) % size;
  const int last = (rank + size - 1) % size;
  std::vector<char> out(4000);
  std::vector<char> in(4000);
  for (int bytes : {0, 100}) {
    MPI_Request request;
    MPI_Irecv(in.data(), bytes, MPI_BYTE, last, 1, world, &request);
    MPI_Send(out.data(), bytes, MPI_BYTE, next, 1, world);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Sendrecv(out.data(), 3, MPI_INT, next, 2, in.data(), 3, MPI_INT, last, 2, world,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(out.data(), 25, MPI_FLOAT, next, 3, last, 3, world, MPI_STATUS_IGNORE);
  MPI_Request requests[2];
  MPI_Irecv(in.data(), 500, MPI_DOUBLE, last, 4, world, &requests[0]);
  MPI_Isend(out.data(), 500, MPI_DOUBLE, next, 4, world, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Send(out.data(), 4000, MPI_BYTE, MPI_PROC_NULL, 5, world);
  MPI_Finalize();
}
