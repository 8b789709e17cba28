/* MPI_MODE_SEQUENTIAL: only the shared pointer; views that begin where it is.
 * Open MPI 4.1's own library does not check this, nor take MPI_DISPLACEMENT_CURRENT. */
#include "name.h"

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const char* name = new_name();
  MPI_File file;
  MPI_Status status;
  int value = check_rank, in[64];
  char letter = (char)('a' + check_rank);
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_write_ordered(file, &letter, 1, MPI_CHAR, &status));
  CHECK(MPI_File_write(file, &value, 1, MPI_INT, &status) != MPI_SUCCESS);
  CHECK(MPI_File_write_at(file, 0, &value, 1, MPI_INT, &status) != MPI_SUCCESS);
  CHECK(MPI_File_seek(file, 0, MPI_SEEK_SET) != MPI_SUCCESS);
  CHECK_OK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MPI_Offset place = -1;
  MPI_Datatype etype, filetype;
  char representation[MPI_MAX_DATAREP_STRING];
  CHECK_OK(MPI_File_get_view(file, &place, &etype, &filetype, representation));
  CHECK_EQUAL(place, check_size);
  CHECK_OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, &status));
  CHECK_OK(MPI_File_close(&file));

  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  letter = '?';
  CHECK_OK(MPI_File_read_ordered(file, &letter, 1, MPI_CHAR, &status));
  CHECK_EQUAL(letter, 'a' + check_rank);
  CHECK_OK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_read_ordered(file, in, 1, MPI_INT, &status));
  CHECK_EQUAL(in[0], check_rank);
  CHECK_OK(MPI_File_close(&file));
  return check_end();
}
