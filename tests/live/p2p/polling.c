/* Loops that poll come to an end: on messages that are sent late, by Test, Testany,
 * Testsome, Iprobe, Improbe, Request_get_status and the clock; also when several poll. */
#include "check.h"

static void burn(void) {
  volatile double x = 1;
  for (int i = 0; i < 20000; ++i) x = x * 1.0000001;
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const int next = (check_rank + 1) % check_size;
  const int previous = (check_rank + check_size - 1) % check_size;
  for (int how = 0; how < 7; ++how) {
    int in = -1, out = 10 * check_rank + how, flag = 0, index = -1, some = 0;
    MPI_Request send, receive = MPI_REQUEST_NULL;
    MPI_Message message;
    MPI_Status status;
    /* Rank 0 sends first, everybody else only when its own message has come. */
    if (check_rank == 0) {
      burn();
      MPI_Isend(&out, 1, MPI_INT, next, how, MPI_COMM_WORLD, &send);
    }
    const int posts = how != 3 && how != 4;
    if (posts) MPI_Irecv(&in, 1, MPI_INT, previous, how, MPI_COMM_WORLD, &receive);
    const double start = MPI_Wtime();
    long polls = 0;
    while (!flag) {
      ++polls;
      switch (how) {
        case 0:
          MPI_Test(&receive, &flag, &status);
          break;
        case 1:
          MPI_Testany(1, &receive, &index, &flag, &status);
          break;
        case 2:
          MPI_Testsome(1, &receive, &some, &index, &status);
          flag = some == 1;
          break;
        case 3:
          MPI_Iprobe(previous, how, MPI_COMM_WORLD, &flag, &status);
          break;
        case 4:
          MPI_Improbe(previous, how, MPI_COMM_WORLD, &flag, &message, &status);
          break;
        case 5:
          MPI_Request_get_status(receive, &flag, &status);
          break;
        default:
          MPI_Testall(1, &receive, &flag, &status);
          (void)(MPI_Wtime() - start);
      }
    }
    if (how == 3) MPI_Recv(&in, 1, MPI_INT, previous, how, MPI_COMM_WORLD, &status);
    if (how == 4) MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
    if (how == 5) MPI_Wait(&receive, &status);
    CHECK(in == 10 * previous + how, "form %d: %d", how, in);
    CHECK(polls > 0 && MPI_Wtime() >= start);
    if (check_rank != 0) MPI_Isend(&out, 1, MPI_INT, next, how, MPI_COMM_WORLD, &send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
  }
  return check_end();
}
