/* Probe, Iprobe, Mprobe, Improbe, Mrecv, Imrecv, with and without wildcards.
 * live: ranks 2 3 4 8 64 */
#include "check.h"

static void fill(int* data, int count, int from) {
  for (int i = 0; i < count; ++i) data[i] = from * 1000 + i;
}
static void verify(const int* data, int count, int from) {
  for (int i = 0; i < count; ++i) {
    if (data[i] != from * 1000 + i) {
      CHECK(0, "from %d: element %d is %d", from, i, data[i]);
      return;
    }
  }
}

/* Rank r sends r + 1 numbers with tag 2 r; rank 0 finds out who and how many. */
static void unknown_lengths(int how) {
  int data[2000];
  if (check_rank > 0) {
    fill(data, check_rank + 1, check_rank);
    MPI_Send(data, check_rank + 1, MPI_INT, 0, 2 * check_rank, MPI_COMM_WORLD);
  } else {
    long seen = 0;
    for (int i = 1; i < check_size; ++i) {
      MPI_Status status, again;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Request request;
      int flag = 0, count = -1;
      switch (how) {
        case 0:
          MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
          break;
        case 1:
          while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
          break;
        case 2:
          MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
          break;
        default:
          while (!flag) {
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
            if (!flag) CHECK(message == MPI_MESSAGE_NULL);
          }
      }
      MPI_Get_count(&status, MPI_INT, &count);
      const int source = status.MPI_SOURCE;
      CHECK(source > 0 && source < check_size, "source %d", source);
      CHECK_EQUAL(status.MPI_TAG, 2 * source);
      CHECK_EQUAL(count, source + 1);
      memset(data, 0xee, sizeof data);
      if (how < 2) {
        MPI_Recv(data, count, MPI_INT, source, status.MPI_TAG, MPI_COMM_WORLD, &again);
      } else if (how == 2) {
        CHECK(message != MPI_MESSAGE_NULL);
        MPI_Mrecv(data, count, MPI_INT, &message, &again);
        CHECK(message == MPI_MESSAGE_NULL);
      } else {
        MPI_Imrecv(data, count, MPI_INT, &message, &request);
        CHECK(message == MPI_MESSAGE_NULL);
        MPI_Wait(&request, &again);
      }
      verify(data, count, source);
      CHECK_EQUAL(again.MPI_SOURCE, source);
      MPI_Get_count(&again, MPI_INT, &count);
      CHECK_EQUAL(count, source + 1);
      CHECK(!(seen & 1L << source), "rank %d came twice", source);
      seen |= 1L << source;
    }
    int flag = 1;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "a message is left");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A matched message is out of the queue: what comes later is received before it. */
static void matched_first_received_last(void) {
  if (check_rank == 1) {
    for (int i = 0; i < 3; ++i) MPI_Send(&i, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
  } else if (check_rank == 0) {
    MPI_Message first;
    MPI_Status status;
    int value = -1;
    MPI_Mprobe(1, 5, MPI_COMM_WORLD, &first, &status);
    for (int i = 1; i < 3; ++i) {
      MPI_Recv(&value, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK_EQUAL(value, i);
    }
    MPI_Mrecv(&value, 1, MPI_INT, &first, &status);
    CHECK_EQUAL(value, 0);
    CHECK_EQUAL(status.MPI_TAG, 5);
  }
}

/* Probing twice finds the same message; a probe of a tag passes others over. */
static void probing_takes_nothing(void) {
  if (check_rank == 1) {
    for (int tag = 10; tag < 13; ++tag) {
      const int count = tag - 9;
      int data[3] = {tag, tag, tag};
      MPI_Ssend(data, tag == 10 ? 0 : count, MPI_INT, 0, tag, MPI_COMM_WORLD);
    }
  } else if (check_rank == 0) {
    int data[3], count;
    MPI_Status status;
    for (int i = 0; i < 3; ++i) {
      MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      CHECK_EQUAL(status.MPI_TAG, 10);
      MPI_Get_count(&status, MPI_INT, &count);
      CHECK_EQUAL(count, 0);
    }
    for (int tag = 10; tag < 13; ++tag) MPI_Recv(data, 3, MPI_INT, 1, tag, MPI_COMM_WORLD, &status);
    CHECK_EQUAL(data[2], 12);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 1) {
    MPI_Request requests[2];
    int values[2] = {1, 2};
    MPI_Isend(&values[0], 1, MPI_INT, 0, 20, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&values[1], 1, MPI_INT, 0, 21, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else if (check_rank == 0) {
    MPI_Status status;
    int value = 0;
    MPI_Probe(1, 21, MPI_COMM_WORLD, &status);
    CHECK_EQUAL(status.MPI_TAG, 21);
    MPI_Recv(&value, 1, MPI_INT, 1, 21, MPI_COMM_WORLD, &status);
    CHECK_EQUAL(value, 2);
    MPI_Recv(&value, 1, MPI_INT, 1, 20, MPI_COMM_WORLD, &status);
    CHECK_EQUAL(value, 1);
  }
}

static void nobody(void) {
  MPI_Status status;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Request request;
  int flag = 0, count = -1, value = 77;
  MPI_Probe(MPI_PROC_NULL, 4, MPI_COMM_WORLD, &status);
  CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQUAL(status.MPI_TAG, MPI_ANY_TAG);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQUAL(count, 0);
  MPI_Iprobe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
  CHECK(flag);
  CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
  MPI_Mprobe(MPI_PROC_NULL, 4, MPI_COMM_WORLD, &message, &status);
  CHECK(message == MPI_MESSAGE_NO_PROC);
  MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
  CHECK(message == MPI_MESSAGE_NULL && value == 77);
  CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
  flag = 0;
  MPI_Improbe(MPI_PROC_NULL, 4, MPI_COMM_WORLD, &flag, &message, &status);
  CHECK(flag && message == MPI_MESSAGE_NO_PROC);
  MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
  MPI_Wait(&request, &status);
  CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK(message == MPI_MESSAGE_NULL && value == 77);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  nobody();
  for (int how = 0; how < 4; ++how) unknown_lengths(how);
  matched_first_received_last();
  MPI_Barrier(MPI_COMM_WORLD);
  probing_takes_nothing();
  return check_end();
}
