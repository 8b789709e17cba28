/* Calls whose lines a test looks for by the comments beside them.
 *
 *   places            all of them, three times
 *   places head_on    both ranks then send 3000 bytes before they receive
 *   places block      rank 0 then waits in MPI_Recv for ever, the others are killed
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define LARGE 3000

static int rank;

static void send_or_receive(int number) {
  if (rank == 0) {
    MPI_Send(&number, 1, MPI_INT, 1, 7, MPI_COMM_WORLD); /* send */
  } else {
    MPI_Request request;
    MPI_Irecv(&number, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request); /* post */
    MPI_Wait(&request, MPI_STATUS_IGNORE);                          /* wait */
  }
}

/* Tests that find nothing in a row are one event for the first and one for the others: from here,
 * and from there. */
static void poll(void) {
  int flag = 0;
  for (int i = 0; i < 5; ++i)
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); /* here */
  MPI_Barrier(MPI_COMM_WORLD);                                                /* barrier */
  for (int i = 0; i < 5; ++i) {
    MPI_Iprobe(MPI_ANY_SOURCE, 98, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); /* there */
    MPI_Iprobe(MPI_ANY_SOURCE, 97, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  static char out[LARGE];
  static char in[LARGE];
  const char* what = argc > 1 ? argv[1] : "";
  int sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; ++i) {
    send_or_receive(i);
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* allreduce */
  }
  poll();
  if (strcmp(what, "head_on") == 0) {
    MPI_Send(out, LARGE, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD); /* head on */
    MPI_Recv(in, LARGE, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (strcmp(what, "block") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Recv(in, LARGE, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* block */
    } else {
      raise(SIGKILL);
    }
  }
  MPI_Finalize(); /* finalize */
  if (rank == 0) printf("places: done\n");
  return 0;
}
