/* Types of many kinds at the origin and at the target, with more pieces than one
 * system call takes, in windows on a program's own memory and in allocated ones.
 * live: ranks 2 3 4
 * Open MPI 4.1 makes no such windows on one rank. */
#include <stddef.h>

#include "check.h"

enum { kBytes = 60000 };

typedef struct {
  char tag;
  double value;
  int number[3];
} Record;

/* What is at `place` of rank's window at first. */
static unsigned char start_of(int rank, long place) {
  return check_byte(rank, 0, place);
}

static void fill(MPI_Win win, unsigned char* memory) {
  MPI_Win_fence(0, win);
  check_fill(memory, check_rank, 0, kBytes);
  MPI_Win_fence(0, win);
}

/* Packs `count` elements at `base` the way MPI itself does. */
static int packed(const void* base, int count, MPI_Datatype type, unsigned char* out) {
  int size, position = 0;
  MPI_Pack_size(count, type, MPI_COMM_WORLD, &size);
  MPI_Pack(base, count, type, out, kBytes, &position, MPI_COMM_WORLD);
  return position;
}

/* Puts dense bytes into `type` at the right neighbour; gets them back; and checks that
 * nothing else has changed. */
static void there_and_back(MPI_Win win, unsigned char* memory, MPI_Datatype type, int count, MPI_Aint at,
                           const char* what) {
  static unsigned char out[kBytes], in[kBytes], expected[kBytes];
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  int size;
  MPI_Type_size(type, &size);
  const int bytes = size * count;
  fill(win, memory);
  check_fill(out, check_rank, 1, bytes);
  MPI_Put(out, bytes, MPI_BYTE, right, at, count, type, win);
  MPI_Win_fence(0, win);
  /* The left neighbour's bytes have to be here. */
  check_fill(expected, check_rank, 0, kBytes);
  check_fill(out, left, 1, bytes);
  int position = 0;
  MPI_Unpack(out, bytes, &position, expected + at, count, type, MPI_COMM_WORLD);
  for (long i = 0; i < kBytes; ++i) {
    if (memory[i] == expected[i]) continue;
    CHECK(0, "%s: put: byte %ld is %d, expected %d (%d before)", what, i, memory[i], expected[i], start_of(check_rank, i));
    break;
  }
  MPI_Win_fence(0, win);
  memset(in, 0, sizeof in);
  MPI_Get(in, bytes, MPI_BYTE, right, at, count, type, win);
  MPI_Win_fence(0, win);
  CHECK_EQUAL(check_wrong(in, check_rank, 1, bytes), -1);
  /* The same type here and there. */
  memset(in, 0, sizeof in);
  MPI_Get(in + at, count, type, right, at, count, type, win);
  MPI_Win_fence(0, win);
  static unsigned char flat[kBytes];
  CHECK_EQUAL(packed(in + at, count, type, flat), bytes);
  CHECK_EQUAL(check_wrong(flat, check_rank, 1, bytes), -1);
}

static void all_types(MPI_Win win, unsigned char* memory) {
  MPI_Datatype type, inner;
  MPI_Type_vector(3000, 5, 17, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  there_and_back(win, memory, type, 1, 100, "vector of 3000");
  MPI_Type_free(&type);

  int lengths[700], places[700];
  for (int i = 0; i < 700; ++i) {
    lengths[i] = 1 + i % 4;
    places[i] = 6 * i + i % 2;
  }
  MPI_Type_indexed(700, lengths, places, MPI_INT, &type);
  MPI_Type_commit(&type);
  there_and_back(win, memory, type, 2, 64, "indexed");
  MPI_Type_free(&type);

  const int one[3] = {1, 1, 3};
  const MPI_Aint at[3] = {offsetof(Record, tag), offsetof(Record, value), offsetof(Record, number)};
  const MPI_Datatype parts[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
  MPI_Type_create_struct(3, one, at, parts, &inner);
  MPI_Type_create_resized(inner, 0, sizeof(Record), &type);
  MPI_Type_commit(&type);
  there_and_back(win, memory, type, 1000, 128, "struct");
  MPI_Type_free(&type);
  MPI_Type_free(&inner);

  /* Backwards: the data lies before the displacement. */
  MPI_Type_create_hvector(50, 1, -24, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  there_and_back(win, memory, type, 1, 4000, "backwards");
  MPI_Type_free(&type);

  const int sizes[3] = {20, 30, 40}, part[3] = {7, 11, 13}, from[3] = {3, 5, 7};
  MPI_Type_create_subarray(3, sizes, part, from, MPI_ORDER_FORTRAN, MPI_SHORT, &type);
  MPI_Type_commit(&type);
  there_and_back(win, memory, type, 1, 0, "subarray");
  MPI_Type_free(&type);
  there_and_back(win, memory, MPI_LONG, 7000, 0, "dense");
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  static _Alignas(64) unsigned char memory[kBytes];
  unsigned char* base;
  MPI_Win win;
  MPI_Win_create(memory, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  all_types(win, memory);
  MPI_Win_free(&win);
  MPI_Win_allocate(kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  all_types(win, base);
  MPI_Win_free(&win);
  return check_end();
}
