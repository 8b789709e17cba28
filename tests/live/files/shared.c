/* The shared pointer: nobody's part is lost, ordered parts lie in the order of ranks. */
#include "name.h"

enum { kParts = 5 };

static int cmp(const void* a, const void* b) {
  return *(const int*)a - *(const int*)b;
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const char* name = new_name();
  MPI_File file;
  MPI_Status status;
  MPI_Offset position = -1;
  int in[kParts * 64 * 2];
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int part = 0; part < kParts; ++part) {
    const int value = check_rank * kParts + part;
    CHECK_OK(MPI_File_write_shared(file, &value, 1, MPI_INT, &status));
    CHECK_EQUAL(bytes_of(&status), 4);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_get_position_shared(file, &position));
  CHECK_EQUAL(position, kParts * check_size);
  CHECK_OK(MPI_File_sync(file));
  CHECK_OK(MPI_File_read_at(file, 0, in, kParts * check_size, MPI_INT, &status));
  qsort(in, kParts * check_size, sizeof(int), cmp);
  for (int i = 0; i < kParts * check_size; ++i) CHECK_EQUAL(in[i], i);
  MPI_Barrier(MPI_COMM_WORLD);

  /* Every rank reads parts that nobody else reads. */
  CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  int mine = 0, sum = -1;
  for (int part = 0; part < kParts; ++part) {
    int value = -1;
    CHECK_OK(MPI_File_read_shared(file, &value, 1, MPI_INT, &status));
    mine += value;
  }
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(sum, kParts * check_size * (kParts * check_size - 1) / 2);

  /* Ordered; rank r writes r + 1 numbers. */
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  int out[64];
  for (int i = 0; i <= check_rank; ++i) out[i] = 100 * check_rank + i;
  CHECK_OK(MPI_File_write_ordered(file, out, check_rank + 1, MPI_INT, &status));
  CHECK_EQUAL(bytes_of(&status), 4 * (check_rank + 1));
  CHECK_OK(MPI_File_write_ordered_begin(file, out, check_rank + 1, MPI_INT));
  CHECK_OK(MPI_File_write_ordered_end(file, out, &status));
  CHECK_EQUAL(bytes_of(&status), 4 * (check_rank + 1));
  MPI_Barrier(MPI_COMM_WORLD);
  const int all = check_size * (check_size + 1) / 2;
  CHECK_OK(MPI_File_get_position_shared(file, &position));
  CHECK_EQUAL(position, 2 * all);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_read_at_all(file, 0, in, 2 * all, MPI_INT, &status));
  int at = 0;
  for (int turn = 0; turn < 2; ++turn)
    for (int rank = 0; rank < check_size; ++rank)
      for (int i = 0; i <= rank; ++i) CHECK_EQUAL(in[at++], 100 * rank + i);
  CHECK_OK(MPI_File_seek_shared(file, -all, MPI_SEEK_CUR));
  for (int i = 0; i <= check_rank; ++i) out[i] = -1;
  CHECK_OK(MPI_File_read_ordered(file, out, check_rank + 1, MPI_INT, &status));
  for (int i = 0; i <= check_rank; ++i) CHECK_EQUAL(out[i], 100 * check_rank + i);
  CHECK_OK(MPI_File_seek_shared(file, all, MPI_SEEK_SET));
  CHECK_OK(MPI_File_read_ordered_begin(file, out, check_rank + 1, MPI_INT));
  CHECK_OK(MPI_File_read_ordered_end(file, out, &status));
  for (int i = 0; i <= check_rank; ++i) CHECK_EQUAL(out[i], 100 * check_rank + i);

  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  CHECK_OK(MPI_File_iwrite_shared(file, out, 1, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_EQUAL(bytes_of(&status), 4);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  CHECK_OK(MPI_File_iread_shared(file, out, 1, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK(out[0] % 100 == 0 && out[0] / 100 < check_size, "%d", out[0]);
  CHECK_OK(MPI_File_close(&file));
  return check_end();
}
