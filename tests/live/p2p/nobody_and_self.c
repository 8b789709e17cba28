/* MPI_PROC_NULL, messages to oneself, messages of no bytes. */
#include "check.h"

static void nobody(void) {
  int value = 5, count = -1;
  MPI_Status status;
  MPI_Request requests[4];
  CHECK_OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  CHECK_OK(MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  /* No buffer is attached: nothing is to be kept there. */
  CHECK_OK(MPI_Bsend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  CHECK_OK(MPI_Ibsend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]));
  CHECK_OK(MPI_Wait(&requests[0], &status));
  CHECK_OK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status));
  CHECK_EQUAL(value, 5);
  CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQUAL(status.MPI_TAG, MPI_ANY_TAG);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQUAL(count, 0);
  MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[3]);
  MPI_Startall(2, &requests[2]);
  MPI_Status statuses[4];
  for (int i = 0; i < 4; ++i) MPI_Wait(&requests[i], &statuses[i]);
  if (!known_defect("mpich")) {
    CHECK_EQUAL(statuses[1].MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQUAL(statuses[3].MPI_SOURCE, MPI_PROC_NULL);
  }
  CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
  MPI_Request_free(&requests[2]);
  MPI_Request_free(&requests[3]);
}

static void oneself(MPI_Comm comm, int me, int bytes) {
  unsigned char *out = malloc((size_t)bytes + 1), *in = malloc((size_t)bytes + 1);
  MPI_Request request;
  MPI_Status status;
  int count = -1;
  check_fill(out, check_rank, bytes, bytes);
  memset(in, 0xee, (size_t)bytes);
  MPI_Irecv(in, bytes, MPI_BYTE, me, 1, comm, &request);
  MPI_Send(out, bytes, MPI_BYTE, me, 1, comm);
  MPI_Wait(&request, &status);
  CHECK_EQUAL(check_wrong(in, check_rank, bytes, bytes), -1);
  CHECK_EQUAL(status.MPI_SOURCE, me);

  memset(in, 0xee, (size_t)bytes);
  MPI_Isend(out, bytes, MPI_BYTE, me, 2, comm, &request);
  MPI_Recv(in, bytes, MPI_BYTE, me, 2, comm, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK_EQUAL(check_wrong(in, check_rank, bytes, bytes), -1);
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK_EQUAL(count, bytes);

  memset(in, 0xee, (size_t)bytes);
  MPI_Sendrecv(out, bytes, MPI_BYTE, me, 3, in, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
               &status);
  CHECK_EQUAL(check_wrong(in, check_rank, bytes, bytes), -1);
  CHECK_EQUAL(status.MPI_TAG, 3);
  free(out);
  free(in);
}

static void no_bytes(void) {
  const int next = (check_rank + 1) % check_size;
  const int previous = (check_rank + check_size - 1) % check_size;
  MPI_Status status;
  MPI_Request request;
  int count = -1;
  MPI_Isend(NULL, 0, MPI_DOUBLE, next, 4, MPI_COMM_WORLD, &request);
  MPI_Recv(NULL, 0, MPI_DOUBLE, previous, 4, MPI_COMM_WORLD, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  CHECK_EQUAL(count, 0);
  CHECK_EQUAL(status.MPI_SOURCE, previous);
  /* Less than what there is room for. */
  double room[3] = {1, 2, 3};
  MPI_Isend(NULL, 0, MPI_DOUBLE, next, 5, MPI_COMM_WORLD, &request);
  MPI_Recv(room, 3, MPI_DOUBLE, previous, 5, MPI_COMM_WORLD, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  CHECK_EQUAL(count, 0);
  CHECK(room[0] == 1 && room[1] == 2 && room[2] == 3);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  nobody();
  const int sizes[] = {0, 1, 1000, 100000, 2000000};
  for (int i = 0; i < 5; ++i) {
    oneself(MPI_COMM_WORLD, check_rank, sizes[i]);
    oneself(MPI_COMM_SELF, 0, sizes[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD); /* receives from anybody are over: others may send */
  no_bytes();
#ifdef MPICH
  /* With no elements MPICH takes no look at the datatype. */
  MPI_Request empty;
  CHECK_OK(MPI_Isend(NULL, 0, MPI_DATATYPE_NULL, check_rank, 2, MPI_COMM_WORLD, &empty));
  CHECK_OK(MPI_Recv(NULL, 0, MPI_DATATYPE_NULL, check_rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Wait(&empty, MPI_STATUS_IGNORE));
#endif
  return check_end();
}
