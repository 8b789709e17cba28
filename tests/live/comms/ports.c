/* Ports, published names, and groups that find each other. live: ranks 2 3 4 7 */
/* live: not real openmpi */
/* live: not under record */
/* live: not under predict */
#include "check.h"

static MPI_Comm half;
static int serves, others;

/* All of both halves hear from all of the other one. */
static void talk(MPI_Comm inter) {
  int flag, size, sum = 0;
  MPI_Comm_test_inter(inter, &flag);
  CHECK(flag);
  CHECK_OK(MPI_Comm_remote_size(inter, &size));
  CHECK_EQUAL(size, others);
  MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, inter);
  CHECK_EQUAL(sum, others);
  MPI_Comm merged;
  MPI_Intercomm_merge(inter, !serves, &merged);
  int rank;
  MPI_Comm_rank(merged, &rank);
  if (serves) CHECK_EQUAL(rank, check_rank / 2);
  MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, merged);
  CHECK_EQUAL(sum, check_size * (check_size - 1) / 2);
  MPI_Comm_free(&merged);
}

static void meet(const char* service) {
  char port[MPI_MAX_PORT_NAME] = "", published[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter;
  if (check_rank == 0) {
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    CHECK_OK(MPI_Publish_name(service, MPI_INFO_NULL, port));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 1) {
    CHECK_OK(MPI_Lookup_name(service, MPI_INFO_NULL, published));
    CHECK(strlen(published) > 0);
  }
  for (int i = 0; i < 3; ++i) {
    if (serves)
      CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter));
    else
      CHECK_OK(MPI_Comm_connect(published, MPI_INFO_NULL, 0, half, &inter));
    talk(inter);
    CHECK_OK(MPI_Comm_disconnect(&inter));
    CHECK(inter == MPI_COMM_NULL);
  }
  if (check_rank == 0) {
    CHECK_OK(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
    CHECK_CLASS(MPI_Lookup_name(service, MPI_INFO_NULL, published), MPI_ERR_NAME);
    CHECK_CLASS(MPI_Unpublish_name(service, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    CHECK_OK(MPI_Close_port(port));
    CHECK_CLASS(MPI_Close_port(port), MPI_ERR_PORT);
  }
}

static void wrong(void) {
  MPI_Comm inter = MPI_COMM_SELF;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Comm_connect("nowhere", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
  CHECK(inter == MPI_COMM_NULL);
  CHECK_CLASS(MPI_Comm_accept("nowhere", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
  CHECK_CLASS(MPI_Comm_accept("nowhere", MPI_INFO_NULL, 1, MPI_COMM_SELF, &inter), MPI_ERR_ROOT);
  if (check_rank == 0) {
    char port[MPI_MAX_PORT_NAME];
    MPI_Open_port(MPI_INFO_NULL, port);
    CHECK_OK(MPI_Publish_name("twice", MPI_INFO_NULL, port));
    CHECK_CLASS(MPI_Publish_name("twice", MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    CHECK_OK(MPI_Unpublish_name("twice", MPI_INFO_NULL, port));
    MPI_Close_port(port);
    /* A port that is closed is no port. */
    CHECK_CLASS(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
  }
}

/* One server, all others come one by one, in any order. */
static void many_callers(void) {
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm inter;
  if (check_rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (check_rank == 0) {
    int sum = 0;
    for (int i = 1; i < check_size; ++i) {
      int value;
      CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
      MPI_Recv(&value, 1, MPI_INT, 0, 4, inter, MPI_STATUS_IGNORE);
      sum += value;
      MPI_Comm_disconnect(&inter);
    }
    CHECK_EQUAL(sum, check_size * (check_size - 1) / 2);
    MPI_Close_port(port);
  } else {
    CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
    MPI_Send(&check_rank, 1, MPI_INT, 0, 4, inter);
    MPI_Comm_disconnect(&inter);
  }
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  serves = check_rank % 2 == 0;
  others = serves ? check_size / 2 : (check_size + 1) / 2;
  MPI_Comm_split(MPI_COMM_WORLD, serves, check_rank, &half);
  meet("a service");
  meet("another");
  wrong();
  many_callers();
  MPI_Comm_free(&half);
  return check_end();
}
