/* one_way FROM TO BYTES: the host of each rank, and the seconds of a message that is answered. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  char host[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Get_processor_name(host, &length);
  printf("rank %d on %s\n", rank, host);
  const int from = atoi(argv[1]);
  const int to = atoi(argv[2]);
  const int bytes = atoi(argv[3]);
  char* data = calloc((size_t)bytes, 1);
  double start = 0;
  for (int i = 0; i < 2; ++i) { /* the first opens the connection */
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    if (rank == from) {
      MPI_Send(data, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
      MPI_Recv(data, 1, MPI_BYTE, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == to) {
      MPI_Recv(data, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(data, 1, MPI_BYTE, from, 0, MPI_COMM_WORLD);
    }
  }
  if (rank == from) printf("seconds %.6f\n", MPI_Wtime() - start);
  free(data);
  MPI_Finalize();
  return 0;
}
