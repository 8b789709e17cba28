/* What a status says: source, tag, count, elements, cancelled; fields that calls leave alone;
 * the ignored forms. */
#include "check.h"

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const int next = (check_rank + 1) % check_size;
  const int previous = (check_rank + check_size - 1) % check_size;
  int out[10] = {0}, in[10], count = -1;
  MPI_Request request;
  MPI_Status status;

  /* A call that returns no error for one request leaves MPI_ERROR as it is. */
  status.MPI_ERROR = 4711;
  MPI_Isend(out, 6, MPI_INT, next, 12, MPI_COMM_WORLD, &request);
  MPI_Recv(in, 10, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  CHECK_EQUAL(status.MPI_SOURCE, previous);
  CHECK_EQUAL(status.MPI_TAG, 12);
  CHECK_EQUAL(status.MPI_ERROR, 4711);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQUAL(count, 6);
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK_EQUAL(count, 24);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  CHECK_EQUAL(count, 3);
  MPI_Datatype five;
  MPI_Type_contiguous(5, MPI_INT, &five);
  MPI_Type_commit(&five);
  MPI_Get_count(&status, five, &count);
  CHECK_EQUAL(count, MPI_UNDEFINED);
  MPI_Get_elements(&status, five, &count);
  CHECK_EQUAL(count, 6);
  MPI_Count large = -1;
  MPI_Get_elements_x(&status, five, &large);
  CHECK_EQUAL(large, 6);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&five);

  int flag = 0;
  status.MPI_ERROR = 4711;
  MPI_Irecv(in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Request_get_status(request, &flag, &status);
  CHECK(flag);
  CHECK_EQUAL(status.MPI_ERROR, 4711);
  MPI_Wait(&request, &status);
  CHECK_EQUAL(status.MPI_ERROR, 4711);
#ifdef MPICH
  MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status);
  CHECK_EQUAL(status.MPI_ERROR, MPI_SUCCESS);
#endif

  /* A send's status has no source to speak of, but says that it was not cancelled. */
  MPI_Isend(out, 1, MPI_INT, next, 13, MPI_COMM_WORLD, &request);
  MPI_Recv(in, 1, MPI_INT, previous, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, &status);
  int cancelled = 1;
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(!cancelled);

  /* Ignored everywhere. */
  MPI_Request requests[2];
  int index = -1, some = -1, indices[2];
  for (int how = 0; how < 6; ++how) {
    MPI_Irecv(in, 1, MPI_INT, previous, 14, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 1, MPI_INT, next, 14, MPI_COMM_WORLD, &requests[1]);
    switch (how) {
      case 0:
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        break;
      case 1:
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        break;
      case 2:
        do MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
        while (!flag);
        break;
      case 3:
        for (int done = 0; done < 2; done += some)
          MPI_Waitsome(2, requests, &some, indices, MPI_STATUSES_IGNORE);
        break;
      case 4:
        for (int i = 0; i < 2; ++i) {
          do MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
          while (!flag);
        }
        break;
      default:
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "form %d", how);
  }
  MPI_Isend(out, 1, MPI_INT, next, 15, MPI_COMM_WORLD, &request);
  MPI_Probe(previous, 15, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  do MPI_Iprobe(previous, 15, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  while (!flag);
  MPI_Recv(in, 1, MPI_INT, previous, 15, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  /* Statuses that the program fills. */
  MPI_Status_set_elements(&status, MPI_DOUBLE, 7);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  CHECK_EQUAL(count, 7);
  MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)5000000000LL);
  MPI_Get_elements_x(&status, MPI_BYTE, &large);
  CHECK_EQUAL(large, 5000000000LL);
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK_EQUAL(count, MPI_UNDEFINED);
  MPI_Status_set_cancelled(&status, 1);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(cancelled);
  return check_end();
}
