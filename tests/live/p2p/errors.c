/* Errors that MPI_ERRORS_RETURN returns: truncation and wrong arguments; and that the
 * communicator can be used afterwards.
 * live: ranks 1 2 4 */
#include "check.h"

static void truncation(int bytes, int room) {
  if (check_size == 1 && known_defect("openmpi")) return;
  const int next = (check_rank + 1) % check_size;
  const int previous = (check_rank + check_size - 1) % check_size;
  unsigned char *out = malloc((size_t)bytes), *in = malloc((size_t)bytes + 8);
  check_fill(out, check_rank, 1, bytes);
  MPI_Request request;
  MPI_Status status;

  memset(in, 0xee, (size_t)bytes + 8);
  MPI_Isend(out, bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD, &request);
  CHECK_CLASS(MPI_Recv(in, room, MPI_BYTE, previous, 1, MPI_COMM_WORLD, &status), MPI_ERR_TRUNCATE);
  if (!known_defect("openmpi"))
    CHECK(in[room] == 0xee, "the receive wrote beyond its %d bytes", room);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  /* In MPI_Waitall the status says which one. */
  MPI_Request both[2];
  MPI_Status statuses[2];
  MPI_Irecv(in, room, MPI_BYTE, previous, 2, MPI_COMM_WORLD, &both[0]);
  MPI_Isend(out, bytes, MPI_BYTE, next, 2, MPI_COMM_WORLD, &both[1]);
  statuses[0].MPI_ERROR = statuses[1].MPI_ERROR = -1;
  CHECK_CLASS(MPI_Waitall(2, both, statuses), MPI_ERR_IN_STATUS);
  CHECK_EQUAL(class_of(statuses[0].MPI_ERROR), MPI_ERR_TRUNCATE);
  if (statuses[1].MPI_ERROR == MPI_ERR_PENDING) MPI_Wait(&both[1], MPI_STATUS_IGNORE);

  /* And all is well afterwards. */
  MPI_Isend(out, bytes, MPI_BYTE, next, 3, MPI_COMM_WORLD, &request);
  CHECK_OK(MPI_Recv(in, bytes, MPI_BYTE, previous, 3, MPI_COMM_WORLD, &status));
  CHECK_EQUAL(check_wrong(in, previous, 1, bytes), -1);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(out);
  free(in);
}

static void arguments(void) {
  int value = 0, two[2] = {0, 0}, flag;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, check_size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, -77, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Recv(&value, 1, MPI_INT, check_size, 0, MPI_COMM_WORLD, &status), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Recv(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &status), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Recv(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD, &status), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Isend(&value, 1, MPI_INT, check_size, 0, MPI_COMM_WORLD, &request), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Irecv(&value, 1, MPI_INT, check_size, 0, MPI_COMM_WORLD, &request), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Iprobe(check_size, 0, MPI_COMM_WORLD, &flag, &status), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Sendrecv(&value, 1, MPI_INT, check_size, 0, &value, 1, MPI_INT, 0, 0,
                           MPI_COMM_WORLD, &status),
              MPI_ERR_RANK);
  int *bound, found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
  CHECK(found && *bound >= 32767);
  if (found && *bound < 2147483647)
    CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, *bound + 1, MPI_COMM_WORLD), MPI_ERR_TAG);

  MPI_Datatype fresh;
  MPI_Type_contiguous(2, MPI_INT, &fresh);
  CHECK_CLASS(MPI_Send(two, 1, fresh, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  MPI_Type_free(&fresh);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  truncation(16, 8);
  truncation(16, 0);
  truncation(500000, 1000);
  arguments();
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  CHECK_OK(MPI_Error_string(MPI_ERR_TRUNCATE, text, &length));
  CHECK(length > 0 && (int)strlen(text) == length, "'%s' has length %d", text, length);
  return check_end();
}
