/* A program without MPI_Init. live: mpi mpich */
#include "check.h"

int main(void) {
  MPI_Session session;
  MPI_Group world;
  MPI_Comm comm;
  MPI_Info wanted, info;
  char level[MPI_MAX_INFO_VAL];
  int rank, size, sum, provided, flag;
  MPI_Info_create(&wanted);
  MPI_Info_set(wanted, "thread_level", "MPI_THREAD_MULTIPLE");
  CHECK_OK(MPI_Session_init(wanted, MPI_ERRORS_RETURN, &session));
  MPI_Info_free(&wanted);
  CHECK_OK(MPI_Session_get_info(session, &info));
  CHECK_OK(MPI_Info_get(info, "thread_level", sizeof level - 1, level, &flag));
  CHECK(flag && strcmp(level, "MPI_THREAD_MULTIPLE") == 0, "the level that was asked for");
  MPI_Info_free(&info);
  MPI_Query_thread(&provided);
  CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
  CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
  CHECK_OK(MPI_Comm_create_from_group(world, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  MPI_Group_free(&world);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK_EQUAL(sum, size * (size - 1) / 2);
  MPI_Comm_free(&comm);
  CHECK_OK(MPI_Group_from_session_pset(session, "mpi://self", &world)); /* in any case */
  MPI_Group_size(world, &size);
  CHECK_EQUAL(size, 1);
  MPI_Group_free(&world);
  CHECK_OK(MPI_Session_finalize(&session));
  CHECK(session == MPI_SESSION_NULL, "a finalized session");
  return check_done();
}
