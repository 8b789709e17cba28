/* What the first call of an MPI function takes longer than later ones: docs/accuracy.md, First
   calls.

     mpicc.openmpi -O1 bench/accuracy/first_calls.c -o first_calls && mpirun.openmpi -n 2
   ./first_calls

   Two ranks make each call six times, each after two barriers, in this order: what one call has set
   up serves those after it. Prints the first call's time less the sixth's, in microseconds, the
   longer of both ranks. MPI_Comm_rank, the first call of all, and the first barrier begin at a full
   tenth of a second of the machine's clock, since nothing else can bring ranks together before. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMES = 6, LARGEST = 1000000 };

static int rank;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

static void wait_for_tenth(void) {
  const double end = ((long)(now() / 1e5) + 1) * 1e5;
  while (now() < end) {
  }
}

static void tell(const char* call, double longer) {
  double most = 0;
  PMPI_Reduce(&longer, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%-24s %8.1f us\n", call, most);
}

#define MEASURE(name, call)                    \
  do {                                         \
    double took[TIMES];                        \
    for (int i = 0; i < TIMES; ++i) {          \
      MPI_Barrier(MPI_COMM_WORLD);             \
      MPI_Barrier(MPI_COMM_WORLD);             \
      const double begin = now();              \
      call;                                    \
      took[i] = now() - begin;                 \
    }                                          \
    longer[count] = took[0] - took[TIMES - 1]; \
    names[count++] = name;                     \
  } while (0)

int main(int argc, char** argv) {
  static double longer[64];
  static const char* names[64];
  int count = 0;
  double begin[TIMES], end[TIMES];
  MPI_Init(&argc, &argv);
  wait_for_tenth();
  for (int i = 0; i < TIMES; ++i) {
    begin[i] = now();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    end[i] = now();
  }
  longer[count] = end[0] - begin[0] - (end[TIMES - 1] - begin[TIMES - 1]);
  names[count++] = "MPI_Comm_rank";
  char* const out = malloc(LARGEST);
  char* const in = malloc(LARGEST);
  memset(out, 1, LARGEST);
  memset(in, 1, LARGEST);
  wait_for_tenth();
  for (int i = 0; i < TIMES; ++i) {
    begin[i] = now();
    MPI_Barrier(MPI_COMM_WORLD);
    end[i] = now();
  }
  longer[count] = end[0] - begin[0] - (end[TIMES - 1] - begin[TIMES - 1]);
  names[count++] = "MPI_Barrier";
  static const int sizes[] = {8, 1000, 10000, 100000, 1000000};
  static const char* const messages[] = {"message of 8 B", "of 1 kB", "of 10 kB", "of 100 kB",
                                         "of 1 MB"};
  for (int k = 0; k < 5; ++k)
    MEASURE(messages[k], {
      if (rank == 0)
        MPI_Send(out, sizes[k], MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      else
        MPI_Recv(in, sizes[k], MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
  MPI_Comm comm;
  MPI_Datatype type;
  double* const sum = (double*)in;
  const double* const part = (const double*)out;
  MEASURE("MPI_Bcast, 8 B", MPI_Bcast(out, 8, MPI_BYTE, 0, MPI_COMM_WORLD));
  MEASURE("MPI_Reduce", MPI_Reduce(part, sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
  MEASURE("MPI_Allreduce, 8 B", MPI_Allreduce(part, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  MEASURE("MPI_Allreduce, 100 kB",
          MPI_Allreduce(part, sum, 12500, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  MEASURE("MPI_Gather", MPI_Gather(out, 8, MPI_BYTE, in, 8, MPI_BYTE, 0, MPI_COMM_WORLD));
  MEASURE("MPI_Scatter", MPI_Scatter(out, 8, MPI_BYTE, in, 8, MPI_BYTE, 0, MPI_COMM_WORLD));
  MEASURE("MPI_Allgather", MPI_Allgather(out, 8, MPI_BYTE, in, 8, MPI_BYTE, MPI_COMM_WORLD));
  MEASURE("MPI_Alltoall", MPI_Alltoall(out, 8, MPI_BYTE, in, 8, MPI_BYTE, MPI_COMM_WORLD));
  MEASURE("MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MEASURE("MPI_Comm_split", MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm));
  MEASURE("MPI_Type_vector", MPI_Type_vector(10, 1, 4, MPI_INT, &type));
  for (int i = 0; i < count; ++i) tell(names[i], longer[i]);
  MPI_Finalize();
  return 0;
}
