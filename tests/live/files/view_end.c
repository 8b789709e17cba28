/* Where a file that is seen through holes ends.
 * live: ranks 1 3
 * The MPIs themselves each get one of the two wrong: Open MPI 4.1.4 where the end
 * is, MPICH 4.0.2 how much could be read before it. */
#include "holes.h"

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  char name[300];
  MPI_Datatype filetype;
  MPI_File file = open_with_holes(name, &filetype);
  MPI_Status status;
  short in[5];
  MPI_Offset position = -1;
  CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_END));
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQUAL(position, 13);
  CHECK_OK(MPI_File_read_at(file, 11, in, 5, MPI_SHORT, &status));
  CHECK_EQUAL(bytes_of(&status), 4);
  CHECK_EQUAL(in[0], 23);
  CHECK_EQUAL(in[1], 26);
  MPI_Type_free(&filetype);
  CHECK_OK(MPI_File_close(&file));
  return check_end();
}
