/* Processes that the program starts: this program again. live: ranks 1 2 3 4 */
/* live: options --spawn 12 */
/* live: not real openmpi */
/* live: not under record */
/* live: not under predict */
#include <unistd.h>

#include "check.h"

static void child(MPI_Comm parent, int argc, char** argv) {
  int remote, number = -1, *appnum, flag, sum;
  CHECK_EQUAL(argc, 3);
  CHECK(!strcmp(argv[1], "child") && !strcmp(argv[2], "of two words"), "%s", argv[2]);
  MPI_Comm_remote_size(parent, &remote);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag);
  CHECK(flag);
  MPI_Bcast(&number, 1, MPI_INT, 0, parent);
  MPI_Reduce(&check_rank, 0, 1, MPI_INT, MPI_SUM, 0, parent);
  MPI_Send(appnum, 1, MPI_INT, 0, number, parent);
  MPI_Comm all;
  MPI_Intercomm_merge(parent, 1, &all);
  MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, all);
  CHECK_EQUAL(sum, remote + check_size);
  MPI_Comm_free(&all);
  /* They are a world of their own. */
  MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(sum, check_size);
  MPI_Comm_disconnect(&parent);
  MPI_Comm_get_parent(&parent);
  CHECK(parent == MPI_COMM_NULL);
}

static void meet(MPI_Comm children, int expected, int border) {
  int remote, size, sum;
  MPI_Comm_remote_size(children, &remote);
  CHECK_EQUAL(remote, expected);
  int number = 17;
  MPI_Bcast(&number, 1, MPI_INT, check_rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children);
  MPI_Reduce(0, &sum, 1, MPI_INT, MPI_SUM, check_rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children);
  if (check_rank == 0) {
    CHECK_EQUAL(sum, expected * (expected - 1) / 2);
    for (int i = 0; i < expected; ++i) {
      int application = -1;
      MPI_Recv(&application, 1, MPI_INT, i, 17, children, MPI_STATUS_IGNORE);
      CHECK_EQUAL(application, i >= border);
    }
  }
  MPI_Comm all;
  MPI_Intercomm_merge(children, 0, &all);
  MPI_Comm_size(all, &size);
  CHECK_EQUAL(size, check_size + expected);
  MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, all);
  CHECK_EQUAL(sum, size);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&children);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm parent, children;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    child(parent, argc, argv);
    return check_end();
  }
  int errors[5] = {-1, -1, -1, -1, -1};
  char* arguments[] = {"child", "of two words", 0};
  CHECK_OK(MPI_Comm_spawn(argv[0], arguments, 3, MPI_INFO_NULL, check_size - 1, MPI_COMM_WORLD,
                          &children, errors));
  for (int i = 0; i < 3; ++i) CHECK_EQUAL(errors[i], MPI_SUCCESS);
  meet(children, 3, 3);

  /* The same program twice, by its name in another directory. */
  char *name = strrchr(argv[0], '/') + 1, directory[1000];
  snprintf(directory, sizeof directory, "%.*s", (int)(name - argv[0]), argv[0]);
  MPI_Info infos[2];
  for (int i = 0; i < 2; ++i) {
    MPI_Info_create(&infos[i]);
    MPI_Info_set(infos[i], i == 0 ? "wdir" : "path", directory);
  }
  char *commands[] = {name, name}, **both[] = {arguments, arguments};
  CHECK_OK(MPI_Comm_spawn_multiple(2, commands, both, (int[]){2, 3}, infos, 0, MPI_COMM_WORLD,
                                   &children, errors));
  for (int i = 0; i < 5; ++i) CHECK_EQUAL(errors[i], MPI_SUCCESS);
  meet(children, 5, 2);
  for (int i = 0; i < 2; ++i) MPI_Info_free(&infos[i]);

  /* What cannot be had. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (!known_defect("mpich")) {
    CHECK_CLASS(MPI_Comm_spawn("./no such program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0,
                               MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE),
                MPI_ERR_SPAWN);
    CHECK(children == MPI_COMM_NULL);
    CHECK_CLASS(MPI_Comm_spawn(argv[0], arguments, 100, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                               MPI_ERRCODES_IGNORE),
                MPI_ERR_SPAWN);
  }
  return check_end();
}
