/* What files say to wrong arguments; their handlers. */
#include "name.h"

static int calls;
static void on_error(MPI_File* file, int* code, ...) {
  (void)file;
  (void)code;
  ++calls;
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const char* name = new_name();
  MPI_File file;
  int x = 0;
  MPI_Status status;
  /* Without a handler of its own a file returns errors. */
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_AMODE);
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file), MPI_ERR_AMODE);
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file), MPI_ERR_AMODE);
  CHECK_CLASS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  MPI_Barrier(MPI_COMM_WORLD);

  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  CHECK(MPI_File_read(file, &x, 1, MPI_INT, &status) != MPI_SUCCESS);
  CHECK_OK(MPI_File_write_at(file, 0, &x, 1, MPI_INT, &status));
  CHECK_CLASS(MPI_File_write_at(file, 0, &x, -1, MPI_INT, &status), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_File_write_at(file, 0, &x, 1, MPI_DATATYPE_NULL, &status), MPI_ERR_TYPE);
  CHECK(MPI_File_seek(file, 0, 12345) != MPI_SUCCESS);
  CHECK(MPI_File_seek(file, -5, MPI_SEEK_SET) != MPI_SUCCESS);
  CHECK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) != MPI_SUCCESS);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "no such", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
  CHECK_OK(MPI_File_close(&file));
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, MPI_INFO_NULL, &file), MPI_ERR_FILE_EXISTS);

  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  CHECK_CLASS(MPI_File_write(file, &x, 1, MPI_INT, &status), MPI_ERR_READ_ONLY);
  MPI_Errhandler handler, now;
  CHECK_OK(MPI_File_create_errhandler(on_error, &handler));
  CHECK_OK(MPI_File_get_errhandler(file, &now));
  CHECK(now == MPI_ERRORS_RETURN);
  CHECK_OK(MPI_File_set_errhandler(file, handler));
  MPI_File_write(file, &x, 1, MPI_INT, &status);
  CHECK_EQUAL(calls, 1);
  CHECK_OK(MPI_File_call_errhandler(file, MPI_ERR_IO));
  CHECK_EQUAL(calls, 2);
  CHECK_OK(MPI_File_close(&file));

  /* New files take the handler of MPI_FILE_NULL. */
  CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
  MPI_File_open(MPI_COMM_SELF, "/no/such/directory/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  CHECK_EQUAL(calls, 3);
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  MPI_File_write(file, &x, 1, MPI_INT, &status);
  CHECK_EQUAL(calls, 4);
  CHECK_OK(MPI_File_close(&file));
  CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  /* The handler is not freed: MPICH 4.0 miscounts its uses here. */
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) CHECK_OK(MPI_File_delete(name, MPI_INFO_NULL));
  return check_end();
}
