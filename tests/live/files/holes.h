/* holes.h - a file that is seen through a view with two blocks of different lengths. */
#pragma once

#include "name.h"

/* The shorts 0 to 26, of which the view shows 2 3 6 7 8, 12 13 16 17 18, 22 23 26. */
static inline MPI_File open_with_holes(char name[300], MPI_Datatype* filetype) {
  snprintf(name, 300, "%s-%d", new_name(), check_rank);
  const int lengths[2] = {2, 3}, places[2] = {1, 5};
  MPI_Datatype indexed;
  MPI_Type_indexed(2, lengths, places, MPI_SHORT, &indexed);
  MPI_Type_create_resized(indexed, 0, 20, filetype);
  MPI_Type_commit(filetype);
  MPI_Type_free(&indexed);
  short numbers[27];
  for (short i = 0; i < 27; ++i) numbers[i] = i;
  MPI_File file;
  MPI_Status status;
  CHECK_OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_write(file, numbers, 27, MPI_SHORT, &status));
  CHECK_OK(MPI_File_set_view(file, 2, MPI_SHORT, *filetype, "native", MPI_INFO_NULL));
  return file;
}
