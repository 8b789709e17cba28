/* Even ranks send a long and a middling message to odd ones, which come late. */
#include <foretrace.h>
#include <mpi.h>

static char data[1 << 16];

static void send_two(int to) {
  MPI_Send(data, 1 << 16, MPI_CHAR, to, 0, MPI_COMM_WORLD);
  MPI_Send(data, 1 << 14, MPI_CHAR, to, 0, MPI_COMM_WORLD);
}

static void receive_late(int from) {
  FORETRACE_COMPUTE(1000);
  MPI_Recv(data, 1 << 16, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  FORETRACE_COMPUTE(1000);
  MPI_Recv(data, 1 << 14, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 5; ++i) {
    double sum = 0;
    double one = 1;
    FORETRACE_PHASE_BEGIN("solve");
    FORETRACE_COMPUTE(2000);
    FORETRACE_PHASE_END("solve");
    FORETRACE_PHASE_BEGIN("exchange");
    if (rank % 2 == 0)
      send_two(rank + 1);
    else
      receive_late(rank - 1);
    FORETRACE_PHASE_END("exchange");
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
