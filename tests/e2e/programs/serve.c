/* Each rank works for 1 ms, ten times, and asks the other one, of which a thread answers. With an
   argument it works alone. "no threads": MPI has no MPI_THREAD_MULTIPLE. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include "foretrace.h"
static void* serve(void* unused) {
  for (;;) {
    int asked;
    MPI_Status status;
    MPI_Recv(&asked, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
    if (asked < 0) return unused;
    MPI_Send(&asked, 1, MPI_INT, status.MPI_SOURCE, 6, MPI_COMM_WORLD);
  }
}
int main(int argc, char** argv) {
  int level, rank, ask = 1, answer;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level != MPI_THREAD_MULTIPLE) puts("no threads");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc == 1 && level == MPI_THREAD_MULTIPLE) pthread_create(&thread, 0, serve, 0);
  for (int i = 0; i < 10; ++i) {
    FORETRACE_COMPUTE(1000);
    if (argc == 1 && level == MPI_THREAD_MULTIPLE)
      MPI_Sendrecv(&ask, 1, MPI_INT, !rank, 5, &answer, 1, MPI_INT, !rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  ask = -1;
  if (argc == 1 && level == MPI_THREAD_MULTIPLE) {
    MPI_Send(&ask, 1, MPI_INT, rank, 5, MPI_COMM_WORLD);
    pthread_join(thread, 0);
  }
  MPI_Finalize();
  return 0;
}
