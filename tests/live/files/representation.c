/* external32, and views that MPI forbids. live: ranks 1 3 */
/* live: not under record */
/* live: not under predict */
#include "holes.h"

static void external(const char* name) {
  struct {
    int number;
    double real;
    short few[2];
  } out[3], in[3];
  MPI_Datatype record, line;
  const MPI_Aint places[3] = {(char*)&out[0].number - (char*)out, (char*)&out[0].real - (char*)out,
                              (char*)&out[0].few - (char*)out};
  MPI_Type_create_struct(3, (int[]){1, 1, 2}, places,
                         (MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_SHORT}, &line);
  MPI_Type_create_resized(line, 0, sizeof out[0], &record);
  MPI_Type_commit(&record);
  memset(in, 0, sizeof in);
  for (int i = 0; i < 3; ++i) {
    out[i].number = 0x01020304 + i;
    out[i].real = 0.5 + check_rank;
    out[i].few[0] = 0x0506;
    out[i].few[1] = (short)check_rank;
  }
  MPI_File file;
  MPI_Status status;
  CHECK_OK(
      MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  const MPI_Offset start = check_rank * 3 * (MPI_Offset)sizeof out[0];
  CHECK_OK(MPI_File_set_view(file, start, record, record, "external32", MPI_INFO_NULL));
  CHECK_OK(MPI_File_write_all(file, out, 3, record, &status));
  CHECK_EQUAL(bytes_of(&status), 3 * 16);
  CHECK_OK(MPI_File_read_at_all(file, 1, in, 2, record, &status));
  for (int i = 0; i < 2; ++i)
    CHECK(in[i].number == out[i + 1].number && in[i].real == out[i + 1].real &&
          in[i].few[0] == 0x0506 && in[i].few[1] == check_rank);
  char representation[MPI_MAX_DATAREP_STRING];
  MPI_Offset displacement;
  MPI_Datatype etype, filetype;
  MPI_File_get_view(file, &displacement, &etype, &filetype, representation);
  CHECK(!strcmp(representation, "external32"));

  /* Big-endian, whatever this machine is. */
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  const unsigned char expected[4] = {1, 2, 3, 4};
  unsigned char bytes[4];
  CHECK_OK(MPI_File_read_at(file, 0, bytes, 4, MPI_BYTE, &status));
  CHECK(!memcmp(bytes, expected, 4));

  /* A long has 4 bytes there. */
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL),
              MPI_ERR_UNSUPPORTED_DATAREP);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
  long wide = 0;
  CHECK_CLASS(MPI_File_read_at(file, 0, &wide, 1, MPI_LONG, &status), MPI_ERR_CONVERSION);
  MPI_Type_free(&line);
  MPI_Type_free(&record);
  MPI_File_close(&file);
}

/* Views with these two integers of three, in that order. */
static int view_of(MPI_File file, int first, int second, int length) {
  MPI_Datatype type;
  MPI_Type_indexed(2, (int[]){length, 1}, (int[]){first, second}, MPI_INT, &type);
  MPI_Type_commit(&type);
  const int error = MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL);
  MPI_Type_free(&type);
  return error;
}

static void forbidden(const char* name) {
  MPI_File file;
  CHECK_OK(
      MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  CHECK_OK(view_of(file, 0, 2, 1));
  CHECK_OK(view_of(file, 0, 2, 2));
  CHECK_CLASS(view_of(file, 2, 0, 1), MPI_ERR_IO);
  CHECK_CLASS(view_of(file, -2, 2, 1), MPI_ERR_IO);
  CHECK_CLASS(view_of(file, 0, 1, 3), MPI_ERR_IO);
  MPI_File_close(&file);
  MPI_Barrier(MPI_COMM_WORLD);
  /* What is only read may overlap. */
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  CHECK_OK(view_of(file, 0, 1, 3));
  CHECK_CLASS(view_of(file, 2, 0, 1), MPI_ERR_IO);
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  external(new_name());
  forbidden(new_name());
  return check_end();
}
