/* A step program on a ring of ranks with one fault in it, for tests of what a time line shows:
 * three phases, of which the computation alone is not even.
 *
 *   planted none|late|uneven|wave|far
 *
 * late: rank 5 sends to its right neighbour only after 4 ms of work that the others do afterwards.
 * uneven: in the phase "assemble" the ranks from 12 on have three times the work.
 * wave: no collective, and rank 11 sends 4 ms late in every third step; that goes round the ring.
 * far: messages go five ranks further, to be sent over links that they share. */
#include <mpi.h>
#include <string.h>

#include "foretrace.h"

enum { kSteps = 12, kWords = 4096 };

int main(int argc, char **argv) {
  int rank, ranks, step;
  double out[kWords] = {0}, in[kWords], norm, sum;
  const char *fault = argc > 1 ? argv[1] : "none";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int far = strcmp(fault, "far") ? 1 : 5, wave = !strcmp(fault, "wave");
  const int right = (rank + far) % ranks, left = (rank + ranks - far) % ranks;
  for (step = 0; step < kSteps; step++) {
    /* No two ranks and steps compute exactly alike. */
    const double jitter = (rank * 37 + step * 11) % 16;
    FORETRACE_PHASE_BEGIN("assemble");
    FORETRACE_COMPUTE((2000 + 10 * jitter) * (!strcmp(fault, "uneven") && rank >= 12 ? 3 : 1));
    if (!wave) MPI_Allreduce(&norm, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    FORETRACE_PHASE_END("assemble");
    FORETRACE_PHASE_BEGIN("exchange");
    MPI_Request request;
    MPI_Irecv(in, kWords, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, &request);
    if (!strcmp(fault, "late") && rank == 5) FORETRACE_COMPUTE(4000);
    if (wave && rank == 11 && step % 3 == 1) FORETRACE_COMPUTE(4000);
    MPI_Send(out, kWords, MPI_DOUBLE, right, 7, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    FORETRACE_PHASE_END("exchange");
    FORETRACE_PHASE_BEGIN("solve");
    FORETRACE_COMPUTE((!strcmp(fault, "late") && rank == 5 ? 1000 : 5000) + 10 * jitter);
    FORETRACE_PHASE_END("solve");
  }
  MPI_Finalize();
  return 0;
}
