/* Files: open, write, read, seek, size, close; what a status says. */
#include "name.h"

enum { kCount = 100 };

/* The file's size, which no rank changes meanwhile: one that is ahead would. Open MPI 4.1
 * lets the others go before its first rank has cut a file. */
static void check_file_size(MPI_File file, MPI_Offset expected) {
  MPI_Offset size = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQUAL(size, expected);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const char* name = new_name();
  MPI_File file;
  MPI_Status status;
  MPI_Offset size = -1, position = -1;
  int out[kCount], in[kCount];
  for (int i = 0; i < kCount; ++i) out[i] = 1000 * check_rank + i;
  const MPI_Offset mine = (MPI_Offset)check_rank * sizeof out;

  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQUAL(size, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_write_at(file, mine, out, kCount, MPI_INT, &status));
  CHECK_EQUAL(bytes_of(&status), sizeof out);
  int count = -1;
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQUAL(count, kCount);
  MPI_Get_elements(&status, MPI_INT, &count);
  CHECK_EQUAL(count, kCount);
  CHECK_OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_sync(file));
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQUAL(size, check_size * sizeof out);

  /* The neighbour's part, with the individual pointer. */
  const int right = (check_rank + 1) % check_size;
  CHECK_OK(MPI_File_seek(file, (MPI_Offset)right * sizeof out, MPI_SEEK_SET));
  CHECK_OK(MPI_File_read(file, in, 10, MPI_INT, &status));
  CHECK_OK(MPI_File_seek(file, 20, MPI_SEEK_CUR));
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQUAL(position, (MPI_Offset)right * sizeof out + 60);
  CHECK_OK(MPI_File_read(file, in + 10, 10, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < 10; ++i) CHECK_EQUAL(in[i], 1000 * right + i);
  for (int i = 10; i < 20; ++i) CHECK_EQUAL(in[i], 1000 * right + i + 5);
  CHECK_OK(MPI_File_seek(file, -40, MPI_SEEK_END));
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQUAL(position, check_size * sizeof out - 40);
  /* Past the end there is less than was asked for, then nothing. */
  CHECK_OK(MPI_File_read(file, in, kCount, MPI_INT, &status));
  CHECK_EQUAL(bytes_of(&status), 40);
  CHECK_EQUAL(in[9], 1000 * (check_size - 1) + kCount - 1);
  CHECK_OK(MPI_File_read_at(file, size, in, 1, MPI_INT, &status));
  CHECK_EQUAL(bytes_of(&status), 0);

  /* Memory with gaps. */
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Datatype second;
  MPI_Type_vector(kCount / 2, 1, 2, MPI_INT, &second);
  MPI_Type_commit(&second);
  CHECK_OK(MPI_File_write_at(file, mine, out, 1, second, &status));
  CHECK_EQUAL(bytes_of(&status), sizeof out / 2);
  for (int i = 0; i < kCount; ++i) in[i] = -1;
  CHECK_OK(MPI_File_read_at(file, mine, in, 1, second, &status));
  for (int i = 0; i < kCount; ++i) CHECK_EQUAL(in[i], i % 2 ? -1 : 1000 * check_rank + i);
  CHECK_OK(MPI_File_read_at(file, mine, in, kCount / 2, MPI_INT, &status));
  for (int i = 0; i < kCount / 2; ++i) CHECK_EQUAL(in[i], 1000 * check_rank + 2 * i);
  MPI_Type_free(&second);

  /* Size. */
  check_file_size(file, kCount * sizeof(int) * check_size);
  CHECK_OK(MPI_File_set_size(file, 50));
  check_file_size(file, 50);
  CHECK_OK(MPI_File_preallocate(file, 4000));
  check_file_size(file, 4000);
  CHECK_OK(MPI_File_preallocate(file, 10));
  check_file_size(file, 4000);

  /* What it was opened with. */
  int amode = -1, same = -1, flag = -1;
  CHECK_OK(MPI_File_get_amode(file, &amode));
  CHECK_EQUAL(amode, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Group group, world;
  CHECK_OK(MPI_File_get_group(file, &group));
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(group, world, &same);
  CHECK_EQUAL(same, MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  MPI_Info info;
  CHECK_OK(MPI_File_get_info(file, &info));
  CHECK(info != MPI_INFO_NULL);
  CHECK_OK(MPI_File_set_info(file, info));
  MPI_Info_free(&info);
  CHECK_OK(MPI_File_get_atomicity(file, &flag));
  CHECK_EQUAL(flag, 0);
  CHECK_OK(MPI_File_set_atomicity(file, 1));
  CHECK_OK(MPI_File_get_atomicity(file, &flag));
  CHECK_EQUAL(flag, 1);
  CHECK_OK(MPI_File_write_at(file, mine, out, kCount, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Aint extent = -1;
  CHECK_OK(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
  CHECK_EQUAL(extent, 8);
  CHECK_OK(MPI_File_close(&file));
  CHECK(file == MPI_FILE_NULL);

  /* Appending. */
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_APPEND | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQUAL(position, size);
  CHECK_OK(MPI_File_get_position_shared(file, &position));
  CHECK_EQUAL(position, size);
  CHECK_OK(MPI_File_close(&file));

  /* A file of one process; it goes when it is closed. */
  char own[300];
  snprintf(own, sizeof own, "%s-%d", name, check_rank);
  CHECK_OK(MPI_File_open(MPI_COMM_SELF, own, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_write(file, out, kCount, MPI_INT, &status));
  CHECK_EQUAL(bytes_of(&status), sizeof out);
  CHECK(access(own, F_OK) == 0);
  CHECK_OK(MPI_File_close(&file));
  CHECK(access(own, F_OK) != 0);

  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) {
    CHECK_OK(MPI_File_delete(name, MPI_INFO_NULL));
    CHECK(access(name, F_OK) != 0);
  }
  return check_end();
}
