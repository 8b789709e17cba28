/* What a program asks about the library; the tools' interface. live: ranks 1 2 */
#include "check.h"

int main(int argc, char** argv) {
  int version, subversion, length, number, provided;
  char library[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];
  /* These may come before MPI_Init. */
  CHECK_OK(MPI_Get_version(&version, &subversion));
  CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION, "%d.%d", version, subversion);
  CHECK_OK(MPI_Get_library_version(library, &length));
  /* Open MPI counts the end of the string. */
  if (!known_defect("openmpi")) CHECK_EQUAL(length, strlen(library));
  CHECK(length > 0, "%d", length);
  CHECK_EQUAL(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  check_init(&argc, &argv);
  CHECK_OK(MPI_Get_processor_name(name, &length));
  CHECK(length == (int)strlen(name) && length > 0, "%d", length);

  double* memory;
  CHECK_OK(MPI_Alloc_mem(1000 * sizeof(double), MPI_INFO_NULL, &memory));
  for (int i = 0; i < 1000; ++i) memory[i] = i;
  MPI_Aint first, last;
  MPI_Get_address(memory, &first);
  MPI_Get_address(memory + 999, &last);
  CHECK_EQUAL(MPI_Aint_diff(last, first), 999 * sizeof(double));
  CHECK_EQUAL(MPI_Aint_add(first, 999 * sizeof(double)), last);
  CHECK_OK(MPI_Free_mem(memory));
  MPI_Pcontrol(1);
  MPI_Pcontrol(0, "more");

  CHECK_OK(MPI_T_cvar_get_num(&number));
  CHECK(number >= 0, "%d", number);
  CHECK_OK(MPI_T_pvar_get_num(&number));
  CHECK_OK(MPI_T_category_get_num(&number));
  CHECK(MPI_T_cvar_get_index("no such variable", &number) == MPI_T_ERR_INVALID_NAME, "");
  MPI_T_pvar_session session;
  CHECK_OK(MPI_T_pvar_session_create(&session));
  CHECK_OK(MPI_T_pvar_session_free(&session));
  CHECK(session == MPI_T_PVAR_SESSION_NULL, "");
  CHECK_OK(MPI_T_finalize());
  return check_end();
}
