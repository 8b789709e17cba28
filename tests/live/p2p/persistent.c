/* Persistent requests: started again and again, one at a time and together, completed by
 * each of the calls; buffers read at each start. */
#include "check.h"

enum { kWidth = 4, kRounds = 6 };

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const int next = (check_rank + 1) % check_size;
  const int previous = (check_rank + check_size - 1) % check_size;
  int out[kWidth], in[kWidth];
  MPI_Request all[2 * kWidth];
  for (int i = 0; i < kWidth; ++i) {
    MPI_Recv_init(&in[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : previous, i, MPI_COMM_WORLD,
                  &all[i]);
    MPI_Send_init(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &all[kWidth + i]);
  }
  for (int round = 0; round < kRounds; ++round) {
    MPI_Status statuses[2 * kWidth];
    for (int i = 0; i < kWidth; ++i) {
      out[i] = 1000 * round + 10 * check_rank + i;
      in[i] = -1;
    }
    if (round % 2) {
      MPI_Startall(2 * kWidth, all);
    } else {
      for (int i = 0; i < 2 * kWidth; ++i) MPI_Start(&all[i]);
    }
    int flag = 0, done = 0, index = -1, some = 0, indices[2 * kWidth];
    switch (round) {
      case 0:
        MPI_Waitall(2 * kWidth, all, statuses);
        break;
      case 1:
        for (int i = 0; i < 2 * kWidth; ++i) MPI_Wait(&all[i], &statuses[i]);
        break;
      case 2:
        do MPI_Testall(2 * kWidth, all, &flag, statuses);
        while (!flag);
        break;
      case 3:
        for (; done < 2 * kWidth; ++done) {
          MPI_Status status;
          MPI_Waitany(2 * kWidth, all, &index, &status);
          CHECK(index >= 0, "index %d", index);
          if (index >= 0) statuses[index] = status;
        }
        break;
      case 4:
        while (done < 2 * kWidth) {
          MPI_Status part[2 * kWidth];
          MPI_Waitsome(2 * kWidth, all, &some, indices, part);
          for (int i = 0; i < some; ++i) statuses[indices[i]] = part[i];
          done += some;
        }
        break;
      default:
        for (int i = 0; i < 2 * kWidth; ++i) {
          do MPI_Test(&all[i], &flag, &statuses[i]);
          while (!flag);
        }
    }
    for (int i = 0; i < kWidth; ++i) {
      CHECK(in[i] == 1000 * round + 10 * previous + i, "round %d: %d at %d", round, in[i], i);
      CHECK_EQUAL(statuses[i].MPI_SOURCE, previous);
      CHECK_EQUAL(statuses[i].MPI_TAG, i);
    }
    for (int i = 0; i < 2 * kWidth; ++i) CHECK(all[i] != MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int i = 0; i < 2 * kWidth; ++i) MPI_Request_free(&all[i]);

  /* Freed while under way, and the library's own duplicate of a communicator. */
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Request send, receive;
  MPI_Send_init(&out[0], 1, MPI_INT, next, 9, comm, &send);
  MPI_Recv_init(&in[0], 1, MPI_INT, previous, 9, comm, &receive);
  MPI_Start(&send);
  MPI_Request_free(&send);
  MPI_Start(&receive);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  CHECK_EQUAL(in[0], 1000 * (kRounds - 1) + 10 * previous);
  MPI_Request_free(&receive);
  MPI_Comm_free(&comm);
  return check_end();
}
