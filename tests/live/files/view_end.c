/* Where a file that is seen through holes ends.
 * live: ranks 1 3
 * The MPIs themselves each get one of the two wrong: Open MPI 4.1.4 where the end
 * is, MPICH 4.0.2 how much could be read before it. */
#include "name.h"

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  char name[300];
  snprintf(name, sizeof name, "%s-%d", new_name(), check_rank);
  const int lengths[2] = {2, 3}, places[2] = {1, 5};
  MPI_Datatype indexed, filetype;
  MPI_Type_indexed(2, lengths, places, MPI_SHORT, &indexed);
  MPI_Type_create_resized(indexed, 0, 20, &filetype);
  MPI_Type_commit(&filetype);
  MPI_File file;
  MPI_Status status;
  short numbers[40], in[12];
  for (short i = 0; i < 40; ++i) numbers[i] = i;
  CHECK_OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_write(file, numbers, 27, MPI_SHORT, &status));
  CHECK_OK(MPI_File_set_view(file, 2, MPI_SHORT, filetype, "native", MPI_INFO_NULL));
  /* Shown are 2 3 6 7 8, 12 13 16 17 18, 22 23 26: 13 numbers. */
  MPI_Offset position = -1;
  CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_END));
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQUAL(position, 13);
  CHECK_OK(MPI_File_read_at(file, 11, in, 5, MPI_SHORT, &status));
  CHECK_EQUAL(bytes_of(&status), 4);
  CHECK_EQUAL(in[0], 23);
  CHECK_EQUAL(in[1], 26);
  MPI_Type_free(&indexed);
  MPI_Type_free(&filetype);
  CHECK_OK(MPI_File_close(&file));
  return check_end();
}
