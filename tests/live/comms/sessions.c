/* Sessions and communicators from groups alone. live: mpi mpich */
#include "check.h"

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Session session;
  MPI_Group world, group;
  MPI_Comm comm;
  int n, rank, size, sum;
  CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
  CHECK(n >= 2, "%d", n);
  int found = 0;
  for (int i = 0; i < n; ++i) {
    char name[MPI_MAX_PSET_NAME_LEN];
    int length = 0;
    CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL));
    CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
    CHECK_EQUAL(length, strlen(name) + 1);
    found += !strcmp(name, "mpi://WORLD") || !strcmp(name, "mpi://SELF");
  }
  CHECK_EQUAL(found, 2);
  MPI_Info info;
  char value[20];
  int flag, room = 20;
  CHECK_OK(MPI_Session_get_pset_info(session, "mpi://WORLD", &info));
  CHECK_OK(MPI_Info_get_string(info, "mpi_size", &room, value, &flag));
  CHECK(flag && atoi(value) == check_size, "'%s'", value);
  MPI_Info_free(&info);

  CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
  CHECK_OK(MPI_Comm_create_from_group(world, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  CHECK_EQUAL(size, check_size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK_EQUAL(sum, size * (size - 1) / 2);
  MPI_Comm_free(&comm);

  /* The odd ones among themselves. */
  if (check_rank % 2 == 1) {
    int range[1][3] = {{1, check_size - 1 - check_size % 2, 2}};
    MPI_Group_range_incl(world, 1, range, &group);
    CHECK_OK(MPI_Comm_create_from_group(group, "odd", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI_Comm_rank(comm, &rank);
    CHECK_EQUAL(rank, check_rank / 2);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
  }
  if (check_size > 1) {
    MPI_Group rest, first;
    int zero = 0;
    MPI_Group_incl(world, 1, &zero, &first);
    MPI_Group_excl(world, 1, &zero, &rest);
    CHECK_OK(MPI_Intercomm_create_from_groups(check_rank ? rest : first, 0,
                                              check_rank ? first : rest, 0, "star", MPI_INFO_NULL,
                                              MPI_ERRORS_RETURN, &comm));
    MPI_Comm_remote_size(comm, &n);
    CHECK_EQUAL(n, check_rank ? 1 : check_size - 1);
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQUAL(sum, check_rank ? 0 : check_size * (check_size - 1) / 2);
    MPI_Comm_free(&comm);
    MPI_Group_free(&rest);
    MPI_Group_free(&first);
  }
  MPI_Group_free(&world);
  CHECK_OK(MPI_Session_finalize(&session));
  return check_end();
}
