/* Error handlers, error classes and codes. */
#include "check.h"

static int calls, last_class, last_comm_size;

static void on_comm(MPI_Comm* comm, int* code, ...) {
  ++calls;
  MPI_Error_class(*code, &last_class);
  MPI_Comm_size(*comm, &last_comm_size);
}
static void on_comm_changing(MPI_Comm* comm, int* code, ...) {
  on_comm(comm, code);
  *code = MPI_ERR_TOPOLOGY;
}
static void on_win(MPI_Win* win, int* code, ...) {
  (void)win;
  ++calls;
  MPI_Error_class(*code, &last_class);
}
static void on_file(MPI_File* file, int* code, ...) {
  (void)file;
  ++calls;
  MPI_Error_class(*code, &last_class);
}

static void handlers(void) {
  MPI_Errhandler handler, got;
  MPI_Comm self;
  int number = 0;
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  MPI_Comm_get_errhandler(self, &got);
  CHECK(got == MPI_ERRORS_ARE_FATAL, "the first handler");
  MPI_Errhandler_free(&got);
  CHECK(got == MPI_ERRHANDLER_NULL, "a freed handle");
  CHECK_OK(MPI_Comm_create_errhandler(on_comm, &handler));
  CHECK_OK(MPI_Comm_set_errhandler(self, handler));
  MPI_Comm_get_errhandler(self, &got);
  CHECK(got == handler, "what was set");
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&handler);
  CHECK_CLASS(MPI_Send(&number, 1, MPI_INT, 5, 0, self), MPI_ERR_RANK);
  CHECK_EQUAL(calls, 1);
  CHECK_EQUAL(last_class, MPI_ERR_RANK);
  CHECK_EQUAL(last_comm_size, 1);
  CHECK_OK(MPI_Comm_call_errhandler(self, MPI_ERR_TOPOLOGY));
  CHECK_EQUAL(calls, 2);
  CHECK_EQUAL(last_class, MPI_ERR_TOPOLOGY);

  /* The code that it is given is the one that the call returns. */
  CHECK_OK(MPI_Comm_create_errhandler(on_comm_changing, &handler));
  CHECK_OK(MPI_Comm_set_errhandler(self, handler));
  MPI_Errhandler_free(&handler);
  CHECK_CLASS(MPI_Send(&number, 1, MPI_INT, 5, 0, self), MPI_ERR_TOPOLOGY);
  CHECK_EQUAL(last_class, MPI_ERR_RANK);
  CHECK_EQUAL(calls, 3);

  /* Inherited. */
  MPI_Comm child;
  MPI_Comm_dup(self, &child);
  CHECK(MPI_Recv(&number, 1, MPI_INT, 5, 0, child, MPI_STATUS_IGNORE) != MPI_SUCCESS, "");
  CHECK_EQUAL(calls, 4);
  MPI_Comm_free(&child);

  /* Only for its own kind of object. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Win_create_errhandler(on_win, &handler);
  MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  if (!known_defect("mpich")) {
    CHECK(MPI_Comm_set_errhandler(self, handler) != MPI_SUCCESS, "a window's handler");
  }
  MPI_Comm_free(&self);
  MPI_File_get_errhandler(MPI_FILE_NULL, &got);
  CHECK(got == MPI_ERRORS_RETURN, "MPI_FILE_NULL's first handler");
  MPI_Errhandler_free(&got);
  if (known_defect("openmpi")) return;
  MPI_Win win;
  MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  CHECK_OK(MPI_Win_set_errhandler(win, handler));
  MPI_Errhandler_free(&handler);
  CHECK_OK(MPI_Win_call_errhandler(win, MPI_ERR_DISP));
  CHECK_EQUAL(calls, 5);
  CHECK_EQUAL(last_class, MPI_ERR_DISP);
  MPI_Win_free(&win);

  MPI_File_create_errhandler(on_file, &handler);
  CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
  CHECK_OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO));
  CHECK_EQUAL(calls, 6);
  CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  MPI_Errhandler_free(&handler);
}

static void codes(void) {
  int error_class, code, got, length, *last, flag;
  char text[MPI_MAX_ERROR_STRING];
  CHECK_OK(MPI_Add_error_class(&error_class));
  CHECK(error_class > MPI_ERR_LASTCODE, "%d", error_class);
  CHECK_OK(MPI_Add_error_code(error_class, &code));
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
  CHECK(flag && *last >= error_class, "%d and %d", *last, code);
  CHECK_OK(MPI_Add_error_string(code, "my own"));
  CHECK_OK(MPI_Add_error_string(error_class, "my class"));
  CHECK_OK(MPI_Error_string(code, text, &length));
  CHECK(!strcmp(text, "my own") && length == 6, "'%s'", text);
  CHECK_OK(MPI_Error_string(error_class, text, &length));
  CHECK(!strcmp(text, "my class") && length == 8, "'%s'", text);
  CHECK_OK(MPI_Error_class(code, &got));
  CHECK_EQUAL(got, error_class);
  if (!known_defect("openmpi")) {
    CHECK_OK(MPI_Error_class(error_class, &got));
    CHECK_EQUAL(got, error_class);
  }
  if (!known_defect("mpich")) {
    CHECK(MPI_Add_error_string(MPI_ERR_RANK, "no") != MPI_SUCCESS, "a predefined class");
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int i = MPI_SUCCESS; i <= MPI_ERR_RANK; ++i) {
    CHECK_OK(MPI_Error_class(i, &got));
    CHECK_EQUAL(got, i);
    CHECK_OK(MPI_Error_string(i, text, &length));
    CHECK(length > 0 && length == (int)strlen(text), "%d and '%s'", length, text);
  }
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  handlers();
  codes();
  return check_end();
}
