/* Ranks in a ring: each sends to the next, receives from the one before, computes a little; now
 * and then all meet. Until the file STOP exists. Writes its process id to pid.RANK. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, size, stop = 0;
  char name[32];
  FILE* file;
  (void)argc;
  (void)argv;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  snprintf(name, sizeof name, "pid.%d", rank);
  file = fopen(name, "w");
  fprintf(file, "%ld\n", (long)getpid());
  fclose(file);
  for (int step = 0; !stop; ++step) {
    int out = step, in = 0;
    MPI_Send(&out, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(3000);
    if (step % 10 == 0) {
      stop = rank == 0 && access("STOP", F_OK) == 0;
      MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
