/* Collective, split and non-blocking forms. */
#include "name.h"

enum { kCount = 32 };

static double value(int rank, int form, int i) {
  return 1e6 * form + 1000 * rank + i;
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const char* name = new_name();
  MPI_File file;
  MPI_Status status;
  MPI_Request requests[2];
  double out[kCount], in[kCount];
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  const int right = (check_rank + 1) % check_size;
  /* Form f of rank r writes a row of kCount numbers at row f * size + r. */
  for (int form = 0; form < 8; ++form) {
    const MPI_Offset row = (MPI_Offset)(form * check_size + check_rank) * sizeof out;
    for (int i = 0; i < kCount; ++i) out[i] = value(check_rank, form, i);
    MPI_File_seek(file, row, MPI_SEEK_SET);
    memset(&status, 0, sizeof status);
    switch (form) {
      case 0: CHECK_OK(MPI_File_write_at_all(file, row, out, kCount, MPI_DOUBLE, &status)); break;
      case 1: CHECK_OK(MPI_File_write_all(file, out, kCount, MPI_DOUBLE, &status)); break;
      case 2:
        CHECK_OK(MPI_File_write_at_all_begin(file, row, out, kCount, MPI_DOUBLE));
        CHECK_OK(MPI_File_write_at_all_end(file, out, &status));
        break;
      case 3:
        CHECK_OK(MPI_File_write_all_begin(file, out, kCount, MPI_DOUBLE));
        CHECK_OK(MPI_File_write_all_end(file, out, &status));
        break;
      case 4:
        CHECK_OK(MPI_File_iwrite_at(file, row, out, kCount, MPI_DOUBLE, &requests[0]));
        CHECK_OK(MPI_Wait(&requests[0], &status));
        break;
      case 5:
        CHECK_OK(MPI_File_iwrite(file, out, kCount, MPI_DOUBLE, &requests[0]));
        CHECK_OK(MPI_Wait(&requests[0], &status));
        break;
      case 6:
        CHECK_OK(MPI_File_iwrite_at_all(file, row, out, kCount, MPI_DOUBLE, &requests[0]));
        CHECK_OK(MPI_Wait(&requests[0], &status));
        break;
      case 7:
        CHECK_OK(MPI_File_iwrite_all(file, out, kCount, MPI_DOUBLE, &requests[0]));
        CHECK_OK(MPI_Wait(&requests[0], &status));
        break;
    }
    CHECK_EQUAL(bytes_of(&status), sizeof out);
  }
  CHECK_OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_sync(file));
  for (int form = 0; form < 8; ++form) {
    const MPI_Offset row = (MPI_Offset)(form * check_size + right) * sizeof out;
    for (int i = 0; i < kCount; ++i) in[i] = -1;
    MPI_File_seek(file, row, MPI_SEEK_SET);
    memset(&status, 0, sizeof status);
    switch (form) {
      case 0: CHECK_OK(MPI_File_read_at_all(file, row, in, kCount, MPI_DOUBLE, &status)); break;
      case 1: CHECK_OK(MPI_File_read_all(file, in, kCount, MPI_DOUBLE, &status)); break;
      case 2:
        CHECK_OK(MPI_File_read_at_all_begin(file, row, in, kCount, MPI_DOUBLE));
        CHECK_OK(MPI_File_read_at_all_end(file, in, &status));
        break;
      case 3:
        CHECK_OK(MPI_File_read_all_begin(file, in, kCount, MPI_DOUBLE));
        CHECK_OK(MPI_File_read_all_end(file, in, &status));
        break;
      case 4:
        CHECK_OK(MPI_File_iread_at(file, row, in, kCount / 2, MPI_DOUBLE, &requests[0]));
        CHECK_OK(MPI_File_iread_at(file, row + sizeof in / 2, in + kCount / 2, kCount / 2, MPI_DOUBLE, &requests[1]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        break;
      case 5:
        CHECK_OK(MPI_File_iread(file, in, kCount, MPI_DOUBLE, &requests[0]));
        CHECK_OK(MPI_Wait(&requests[0], &status));
        break;
      case 6:
        CHECK_OK(MPI_File_iread_at_all(file, row, in, kCount, MPI_DOUBLE, &requests[0]));
        CHECK_OK(MPI_Wait(&requests[0], &status));
        break;
      case 7:
        CHECK_OK(MPI_File_iread_all(file, in, kCount, MPI_DOUBLE, &requests[0]));
        CHECK_OK(MPI_Wait(&requests[0], &status));
        break;
    }
    if (form != 4) CHECK_EQUAL(bytes_of(&status), sizeof in);
    for (int i = 0; i < kCount; ++i)
      CHECK(in[i] == value(right, form, i), "form %d: %g, expected %g", form, in[i], value(right, form, i));
  }
  /* A null buffer with nothing to move. */
  CHECK_OK(MPI_File_write_all(file, NULL, 0, MPI_DOUBLE, &status));
  CHECK_EQUAL(bytes_of(&status), 0);
  CHECK_OK(MPI_File_close(&file));
  CHECK(access(name, F_OK) != 0);
  return check_end();
}
