/* live: ranks 1 2 4 */
/* Arguments that collectives refuse, alike on all ranks, and messages that do not fit. */
#include "collectives.h"

static MPI_Comm world = MPI_COMM_WORLD;

static void arguments(void) {
  int a[64] = {0}, b[64] = {0}, counts[64] = {0}, places[64] = {0};
  MPI_Request request;
  MPI_Datatype unready, pair;
  MPI_Type_contiguous(2, MPI_INT, &unready);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Bcast(a, 1, MPI_INT, check_size, world), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Bcast(a, 1, MPI_INT, -7, world), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Bcast(a, -1, MPI_INT, 0, world), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, world), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Bcast(a, 1, unready, 0, world), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Ibcast(a, 1, MPI_INT, check_size, world, &request), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, check_size, world), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Allgather(a, -1, MPI_INT, b, 1, MPI_INT, world), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Alltoall(a, 1, MPI_INT, b, -1, MPI_INT, world), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Allreduce(a, b, 1, MPI_INT, MPI_OP_NULL, world), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(a, b, 1, pair, MPI_SUM, world), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_BAND, world), MPI_ERR_OP);
  CHECK_CLASS(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, check_size, world), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Iallreduce(a, b, 1, MPI_INT, MPI_OP_NULL, world, &request), MPI_ERR_OP);
  CHECK_CLASS(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, world), MPI_ERR_TOPOLOGY);
  if (!real_mpi()) { /* they do not all look at this */
    CHECK_CLASS(MPI_Reduce(a, b, -1, MPI_INT, MPI_SUM, 0, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Scan(a, b, -1, MPI_INT, MPI_SUM, world), MPI_ERR_COUNT);
    counts[0] = -1;
    CHECK_CLASS(MPI_Allgatherv(a, 1, MPI_INT, b, counts, places, MPI_INT, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Allreduce(a, b, 1, MPI_INT, MPI_REPLACE, world), MPI_ERR_OP);
    CHECK_CLASS(MPI_Bcast(NULL, 1, MPI_INT, 0, world), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allreduce(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, world), MPI_ERR_BUFFER);
#ifndef OPEN_MPI
    CHECK_CLASS(MPI_Allreduce(a, a, 1, MPI_INT, MPI_SUM, world), MPI_ERR_BUFFER);
#endif
  }
  MPI_Type_free(&unready);
  MPI_Type_free(&pair);
}

static void inter_communicators(void) {
  if (check_size < 2 || real_mpi()) return;
  MPI_Comm half, between;
  int a = 1, b = 0;
  const int side = check_rank >= check_size / 2;
  MPI_Comm_split(world, side, 0, &half);
  MPI_Intercomm_create(half, 0, world, side ? 0 : check_size / 2, 1, &between);
  MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Scan(&a, &b, 1, MPI_INT, MPI_SUM, between), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Exscan(&a, &b, 1, MPI_INT, MPI_SUM, between), MPI_ERR_COMM);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

/* The data that do fit are not looked at. */
static void too_long(void) {
  int a[64] = {0}, b[64] = {0};
  const int far = check_rank != 0;
  MPI_Request request;
  CHECK_CLASS(MPI_Bcast(a, far ? 2 : 4, MPI_INT, 0, world), far ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
  CHECK_OK(MPI_Ibcast(a, far ? 2 : 4, MPI_INT, 0, world, &request));
  CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), far ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
  if (check_size == 1) return;
  const int sent = check_rank == 1 ? 2 : 1;
  CHECK_CLASS(MPI_Gather(a, sent, MPI_INT, b, 1, MPI_INT, 0, world),
              far ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Allgather(a, sent, MPI_INT, b, 1, MPI_INT, world), MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Allreduce(a, b, sent, MPI_INT, MPI_SUM, world), MPI_ERR_TRUNCATE);
  CHECK_CLASS(MPI_Reduce(a, b, sent, MPI_INT, MPI_SUM, 0, world),
              far ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
  CHECK_OK(MPI_Barrier(world));
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  arguments();
  inter_communicators();
  if (!real_mpi()) too_long();
  return check_end();
}
