/* Calls that MPI refuses, under error handlers that return: prints for each which
   class of error it gave, and how often a handler of which communicator was called.
   With the word "alone" rank 0 alone makes some before the calls of all. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static MPI_Comm on;
static int calls_here, calls_elsewhere;

/* Rank 0 prints for all, so that their lines stay whole. */
static char said[16384];
static size_t length;
#define SAY(...) (length += (size_t)snprintf(said + length, sizeof said - length, __VA_ARGS__))

static void handle(MPI_Comm *comm, int *code, ...) {
  (void)code;
  if (*comm == on)
    ++calls_here;
  else
    ++calls_elsewhere;
}

static void tell(const char *what, int code) {
  int class = MPI_SUCCESS, rank;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  SAY("%d %s: class %d, handlers %d here, %d elsewhere\n", rank, what, class, calls_here,
         calls_elsewhere);
  calls_here = calls_elsewhere = 0;
}

#define TRY(call) tell(#call, call)

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &on);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(on, handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  int data[64] = {0}, more[64] = {0};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Comm made = MPI_COMM_NULL;
  const int nobody = size + 3;

  TRY(MPI_Send(data, 1, MPI_INT, nobody, 0, on));
  TRY(MPI_Send(data, 1, MPI_INT, rank, -7, on));
  TRY(MPI_Send(data, -1, MPI_INT, rank, 0, on));
  TRY(MPI_Send(data, 1, MPI_DATATYPE_NULL, rank, 0, on));
  TRY(MPI_Send(data, 1, MPI_INT, rank, 0, MPI_COMM_NULL));
  TRY(MPI_Isend(data, 1, MPI_INT, nobody, 0, on, &request));
  TRY(MPI_Isend(data, 1, MPI_DATATYPE_NULL, rank, 0, on, &request));
  TRY(MPI_Recv(data, 1, MPI_INT, nobody, 0, on, &status));
  TRY(MPI_Recv(data, 1, MPI_DATATYPE_NULL, rank, 0, on, &status));
  TRY(MPI_Irecv(data, -1, MPI_INT, rank, 0, on, &request));
  TRY(MPI_Irecv(data, 1, MPI_INT, nobody, 0, on, &request));
  TRY(MPI_Send_init(data, 1, MPI_DATATYPE_NULL, rank, 0, on, &request));
  TRY(MPI_Sendrecv(data, 1, MPI_INT, nobody, 0, more, 1, MPI_INT, rank, 0, on, &status));
  /* Longer than its buffer: found when the message comes. */
  const int next = (rank + 1) % size;
  MPI_Isend(data, 4, MPI_INT, next, 3, on, &request);
  TRY(MPI_Recv(more, 1, MPI_INT, next, 3, on, &status));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  TRY(MPI_Sendrecv(data, 4, MPI_INT, next, 3, more, 1, MPI_INT, next, 3, on, &status));
  TRY(MPI_Sendrecv(data, 4, MPI_INT, next, 3, more, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &status));
  TRY(MPI_Probe(nobody, 0, on, &status));
  TRY(MPI_Bcast(data, 1, MPI_INT, nobody, on));
  TRY(MPI_Bcast(data, 1, MPI_INT, -1, on));
  TRY(MPI_Bcast(data, -1, MPI_INT, 0, on));
  TRY(MPI_Bcast(data, 1, MPI_DATATYPE_NULL, 0, on));
  TRY(MPI_Bcast(data, 1, MPI_INT, 0, MPI_COMM_NULL));
  TRY(MPI_Reduce(data, more, 1, MPI_INT, MPI_SUM, nobody, on));
  TRY(MPI_Reduce(data, more, 1, MPI_INT, MPI_OP_NULL, 0, on));
  TRY(MPI_Allreduce(data, more, 1, MPI_DATATYPE_NULL, MPI_SUM, on));
  TRY(MPI_Allreduce(data, more, 1, MPI_INT, MPI_OP_NULL, on));
  TRY(MPI_Gather(data, 1, MPI_INT, more, 1, MPI_INT, nobody, on));
  TRY(MPI_Scatter(data, 1, MPI_INT, more, 1, MPI_INT, nobody, on));
  TRY(MPI_Scan(data, more, 1, MPI_INT, MPI_OP_NULL, on));
  TRY(MPI_Alltoall(data, 1, MPI_DATATYPE_NULL, more, 1, MPI_INT, on));
  TRY(MPI_Ibcast(data, 1, MPI_INT, nobody, on, &request));
  TRY(MPI_Iallreduce(data, more, 1, MPI_INT, MPI_OP_NULL, on, &request));
  TRY(MPI_Comm_dup(MPI_COMM_NULL, &made));
  TRY(MPI_Comm_split(on, -5, 0, &made));

  /* Nowhere to put a handle, or to find it; the latter Open MPI does not survive. */
  MPI_Group group;
  MPI_Comm_group(on, &group);
  TRY(MPI_Comm_dup(on, NULL));
  TRY(MPI_Comm_split(on, 0, 0, NULL));
  TRY(MPI_Comm_create_group(on, group, 10, NULL));
  TRY(MPI_Intercomm_create(MPI_COMM_SELF, 0, on, 1 - rank, 52, NULL));
  TRY(MPI_Isend(data, 1, MPI_INT, rank, 0, on, NULL));
#ifdef MPICH_VERSION
  TRY(MPI_Ibcast(data, 1, MPI_INT, 0, on, NULL));
  TRY(MPI_Comm_free(NULL));
  TRY(MPI_Win_free(NULL));
  TRY(MPI_Wait(NULL, &status));
  TRY(MPI_Request_free(NULL));
  TRY(MPI_Start(NULL));
  TRY(MPI_Mrecv(data, 1, MPI_INT, NULL, &status));
#endif
  MPI_Group_free(&group);

  /* What Waitall says of errors in statuses when there were none. */
  MPI_Request two[2];
  MPI_Status statuses[2];
  statuses[0].MPI_ERROR = statuses[1].MPI_ERROR = MPI_ERR_OTHER;
  MPI_Irecv(more, 1, MPI_INT, rank, 0, on, &two[0]);
  MPI_Isend(data, 1, MPI_INT, rank, 0, on, &two[1]);
  MPI_Waitall(2, two, statuses);
  SAY("%d statuses: %d %d\n", rank, statuses[0].MPI_ERROR, statuses[1].MPI_ERROR);

  if (argc > 1 && strcmp(argv[1], "alone") == 0 && rank == 0) {
    TRY(MPI_Bcast(data, -1, MPI_INT, 0, on));
    TRY(MPI_Gather(data, 1, MPI_INT, more, -1, MPI_INT, 0, on));
    TRY(MPI_Reduce(data, more, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, on));
    TRY(MPI_Scan(data, more, 1, MPI_INT, MPI_OP_NULL, on));
  }
  TRY(MPI_Bcast(data, 1, MPI_INT, 0, on));
  data[0] = rank + 1;
  TRY(MPI_Reduce(data, more, 1, MPI_INT, MPI_SUM, 0, on));
  TRY(MPI_Allreduce(data, more, 1, MPI_INT, MPI_SUM, on));
  TRY(MPI_Sendrecv(data, 1, MPI_INT, (rank + 1) % size, 0, more + 1, 1, MPI_INT,
                   (rank + size - 1) % size, 0, on, &status));
  SAY("%d sum %d, from the left %d\n", rank, more[0], more[1]);
  for (int from = 0; from < size; ++from) {
    if (rank == from && from != 0) MPI_Send(said, sizeof said, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    if (rank != 0) continue;
    if (from != 0) MPI_Recv(said, sizeof said, MPI_CHAR, from, 1, MPI_COMM_WORLD, &status);
    fputs(said, stdout);
  }
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
  return 0;
}
