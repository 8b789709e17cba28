/* Info objects. live: ranks 1 2 */
#include "check.h"

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Info info, copy;
  char key[MPI_MAX_INFO_KEY + 1], value[200];
  int n, flag;
  CHECK_OK(MPI_Info_create(&info));
  MPI_Info_get_nkeys(info, &n);
  CHECK_EQUAL(n, 0);
  CHECK_OK(MPI_Info_set(info, "second", "2"));
  CHECK_OK(MPI_Info_set(info, "a first", "one and a half"));
  CHECK_OK(MPI_Info_set(info, "second", "two"));
  MPI_Info_get_nkeys(info, &n);
  CHECK_EQUAL(n, 2);
  CHECK_OK(MPI_Info_get_nthkey(info, 0, key));
  CHECK(!strcmp(key, "second"), "'%s'", key);
  CHECK_OK(MPI_Info_get_nthkey(info, 1, key));
  CHECK(!strcmp(key, "a first"), "'%s'", key);
  CHECK_OK(MPI_Info_get(info, "a first", 199, value, &flag));
  CHECK(flag && !strcmp(value, "one and a half"), "'%s'", value);
  memset(value, 'x', sizeof value);
  if (!known_defect("mpich")) {
    CHECK_OK(MPI_Info_get(info, "a first", 5, value, &flag));
    CHECK(flag && !strncmp(value, "one a", 5) && !value[5], "'%s'", value);
  }
  CHECK_OK(MPI_Info_get(info, "missing", 5, value, &flag));
  CHECK_EQUAL(flag, 0);
  CHECK_OK(MPI_Info_get_valuelen(info, "second", &n, &flag));
  CHECK(flag && n == 3, "%d", n);

  CHECK_OK(MPI_Info_dup(info, &copy));
  CHECK_OK(MPI_Info_delete(info, "second"));
  CHECK_CLASS(MPI_Info_delete(info, "second"), MPI_ERR_INFO_NOKEY);
  MPI_Info_get_nkeys(info, &n);
  CHECK_EQUAL(n, 1);
  MPI_Info_get_nkeys(copy, &n);
  CHECK_EQUAL(n, 2);
  CHECK_CLASS(MPI_Info_set(info, "", "x"), MPI_ERR_INFO_KEY);
  CHECK(MPI_Info_get_nthkey(info, 4, key) != MPI_SUCCESS, "");
#if MPI_VERSION >= 4
  n = 3;
  CHECK_OK(MPI_Info_get_string(copy, "second", &n, value, &flag));
  CHECK(flag && n == 4 && !strcmp(value, "tw"), "%d '%s'", n, value);
#endif
  MPI_Info_free(&copy);
  CHECK(copy == MPI_INFO_NULL, "a freed handle");

  /* Communicators keep hints; which, is theirs to say. */
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
  CHECK_OK(MPI_Comm_set_info(comm, info));
  CHECK_OK(MPI_Comm_get_info(comm, &copy));
  MPI_Info_free(&copy);
  MPI_Comm_free(&comm);
  MPI_Info_free(&info);
  MPI_Info_get_nkeys(MPI_INFO_ENV, &n);
  CHECK(n >= 0, "%d", n);
  return check_end();
}
