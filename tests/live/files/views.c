/* Views: files seen through types with holes, as matrices that are spread over ranks. */
#include "holes.h"

enum { kEach = 6 };

/* Element i of the file belongs to rank i % size. */
static void cyclic(const char* name) {
  MPI_File file;
  MPI_Status status;
  MPI_Datatype every;
  int out[kEach], in[kEach * 64];
  MPI_Type_create_resized(MPI_INT, 0, check_size * sizeof(int), &every);
  MPI_Type_commit(&every);
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  const MPI_Offset start = 16 + check_rank * sizeof(int);
  CHECK_OK(MPI_File_set_view(file, start, MPI_INT, every, "native", MPI_INFO_NULL));
  for (int i = 0; i < kEach; ++i) out[i] = i * check_size + check_rank;
  CHECK_OK(MPI_File_write(file, out, kEach / 2, MPI_INT, &status));
  CHECK_EQUAL(bytes_of(&status), kEach / 2 * sizeof(int));
  MPI_Offset position = -1, place = -1, displacement = -1;
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQUAL(position, kEach / 2);
  CHECK_OK(MPI_File_get_byte_offset(file, position, &place));
  CHECK_EQUAL(place, start + kEach / 2 * check_size * sizeof(int));
  CHECK_OK(MPI_File_write_all(file, out + kEach / 2, kEach - kEach / 2, MPI_INT, &status));
  MPI_Datatype etype, filetype;
  char representation[MPI_MAX_DATAREP_STRING];
  CHECK_OK(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
  CHECK_EQUAL(displacement, start);
  CHECK(strcmp(representation, "native") == 0);
  int integers, addresses, types, combiner = -1, size = -1;
  MPI_Type_get_envelope(etype, &integers, &addresses, &types, &combiner);
  CHECK_EQUAL(combiner, MPI_COMBINER_NAMED);
  MPI_Type_size(filetype, &size);
  CHECK_EQUAL(size, 4);
  MPI_Type_get_envelope(filetype, &integers, &addresses, &types, &combiner);
  if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&filetype);
  MPI_Type_free(&every);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);

  for (int i = 0; i < kEach; ++i) in[i] = -1;
  CHECK_OK(MPI_File_read_at_all(file, 1, in, kEach - 1, MPI_INT, &status));
  CHECK_EQUAL(bytes_of(&status), (kEach - 1) * sizeof(int));
  for (int i = 1; i < kEach; ++i) CHECK_EQUAL(in[i - 1], out[i]);
  CHECK_OK(MPI_File_seek(file, -2, MPI_SEEK_CUR));
  CHECK_OK(MPI_File_read(file, in, 1, MPI_INT, &status));
  CHECK_EQUAL(in[0], out[kEach - 2]);

  CHECK_OK(MPI_File_set_view(file, 16, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQUAL(position, 0);
  CHECK_OK(MPI_File_read_all(file, in, kEach * check_size, MPI_INT, &status));
  for (int i = 0; i < kEach * check_size; ++i) CHECK_EQUAL(in[i], i);
  CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_END));
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQUAL(position, kEach * check_size);
  CHECK_OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) MPI_File_delete(name, MPI_INFO_NULL);
}

/* A matrix of 4 columns for each rank, 5 rows; in memory it has a frame round it. */
static void columns(const char* name) {
  enum { kRows = 5, kColumns = 4 };
  double part[kRows + 2][kColumns + 2], whole[kRows][kColumns * 64];
  const int all[2] = {kRows, kColumns * check_size}, mine[2] = {kRows, kColumns};
  const int start[2] = {0, kColumns * check_rank}, framed[2] = {kRows + 2, kColumns + 2}, inner[2] = {1, 1};
  MPI_Datatype in_file, in_memory;
  MPI_Type_create_subarray(2, all, mine, start, MPI_ORDER_C, MPI_DOUBLE, &in_file);
  MPI_Type_create_subarray(2, framed, mine, inner, MPI_ORDER_C, MPI_DOUBLE, &in_memory);
  MPI_Type_commit(&in_file);
  MPI_Type_commit(&in_memory);
  MPI_File file;
  MPI_Status status;
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_DOUBLE, in_file, "native", MPI_INFO_NULL));
  for (int row = 0; row < kRows + 2; ++row)
    for (int column = 0; column < kColumns + 2; ++column)
      part[row][column] = 100 * (row - 1) + kColumns * check_rank + column - 1;
  CHECK_OK(MPI_File_write_all(file, part, 1, in_memory, &status));
  CHECK_EQUAL(bytes_of(&status), kRows * kColumns * 8);
  /* Once more, behind: the filetype repeats. */
  CHECK_OK(MPI_File_write_all(file, part, 1, in_memory, &status));
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  for (int row = 0; row < kRows + 2; ++row)
    for (int column = 0; column < kColumns + 2; ++column) part[row][column] = -1;
  CHECK_OK(MPI_File_read_at_all(file, kRows * kColumns, part, 1, in_memory, &status));
  for (int row = 0; row < kRows + 2; ++row)
    for (int column = 0; column < kColumns + 2; ++column) {
      const int frame = row == 0 || column == 0 || row == kRows + 1 || column == kColumns + 1;
      const double expected = frame ? -1 : 100 * (row - 1) + kColumns * check_rank + column - 1;
      CHECK(part[row][column] == expected, "%g, expected %g", part[row][column], expected);
    }
  CHECK_OK(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
  for (int turn = 0; turn < 2; ++turn)
    for (int row = 0; row < kRows; ++row) {
      CHECK_OK(MPI_File_read(file, whole[row], kColumns * check_size, MPI_DOUBLE, &status));
      for (int column = 0; column < kColumns * check_size; ++column)
        CHECK(whole[row][column] == 100 * row + column, "%g", whole[row][column]);
    }
  MPI_Offset size = -1;
  MPI_File_get_size(file, &size);
  CHECK_EQUAL(size, 2 * kRows * kColumns * check_size * 8);
  MPI_Type_free(&in_file);
  MPI_Type_free(&in_memory);
  CHECK_OK(MPI_File_close(&file));
  CHECK(access(name, F_OK) != 0);
}

/* A view with two blocks of different lengths. */
static void blocks(void) {
  char name[300];
  MPI_Datatype filetype;
  MPI_File file = open_with_holes(name, &filetype);
  MPI_Status status;
  short in[12];
  MPI_Offset place = -1;
  const MPI_Offset expected[11] = {2, 3, 6, 7, 8, 12, 13, 16, 17, 18, 22};
  for (int i = 0; i < 11; ++i) {
    CHECK_OK(MPI_File_get_byte_offset(file, i, &place));
    CHECK_EQUAL(place, 2 * expected[i]);
  }
  CHECK_OK(MPI_File_read_at(file, 1, in, 9, MPI_SHORT, &status));
  for (int i = 0; i < 9; ++i) CHECK_EQUAL(in[i], expected[i + 1]);
  const short numbers[4] = {0, 1, 2, 3};
  CHECK_OK(MPI_File_write_at(file, 2, numbers, 4, MPI_SHORT, &status));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  short back[14];
  CHECK_OK(MPI_File_read_at(file, 0, back, 14, MPI_SHORT, &status));
  for (int i = 0; i < 14; ++i)
    CHECK_EQUAL(back[i], i >= 6 && i <= 8 ? i - 6 : i == 12 ? 3 : i);
  MPI_Type_free(&filetype);
  CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  cyclic(new_name());
  columns(new_name());
  blocks();
  return check_end();
}
