/* Messages of derived datatypes: other layouts at both ends, holes left alone, addresses
 * absolute, partly filled receives. */
#include <stddef.h>

#include "check.h"

struct Particle {
  double place[3];
  char kind;
  int number;
};

static MPI_Datatype particle_type(void) {
  const int lengths[] = {3, 1, 1};
  const MPI_Aint places[] = {offsetof(struct Particle, place), offsetof(struct Particle, kind),
                             offsetof(struct Particle, number)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR, MPI_INT};
  MPI_Datatype bare, type;
  MPI_Type_create_struct(3, lengths, places, types, &bare);
  MPI_Type_create_resized(bare, 0, sizeof(struct Particle), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&bare);
  return type;
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const int next = (check_rank + 1) % check_size;
  const int previous = (check_rank + check_size - 1) % check_size;
  MPI_Request request;
  MPI_Status status;
  int count = -1;

  /* Structs with holes. */
  MPI_Datatype particle = particle_type();
  struct Particle out[10], in[12];
  memset(in, 0x5a, sizeof in);
  for (int i = 0; i < 10; ++i)
    out[i] = (struct Particle){{i, i + 0.5, check_rank}, (char)('a' + i), 100 * check_rank + i};
  MPI_Isend(out, 10, particle, next, 0, MPI_COMM_WORLD, &request);
  MPI_Type_free(&particle); /* it lives on until the send is done */
  particle = particle_type();
  MPI_Recv(in, 12, particle, previous, 0, MPI_COMM_WORLD, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Get_count(&status, particle, &count);
  CHECK_EQUAL(count, 10);
  MPI_Get_elements(&status, particle, &count);
  CHECK_EQUAL(count, 50);
  for (int i = 0; i < 10; ++i) {
    CHECK(in[i].place[1] == i + 0.5 && in[i].place[2] == previous && in[i].kind == 'a' + i &&
              in[i].number == 100 * previous + i,
          "particle %d", i);
    const unsigned char* hole = (unsigned char*)&in[i].kind + 1;
    CHECK(hole[0] == 0x5a, "the hole of particle %d was written to", i);
  }
  CHECK(*(unsigned char*)&in[10] == 0x5a);
  MPI_Type_free(&particle);

  /* Every other column as a vector to a plain array; an indexed one back. */
  enum { kRows = 40, kColumns = 30 };
  static double matrix[kRows][kColumns], flat[kRows * kColumns];
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) matrix[i][j] = i * 100 + j + check_rank * 10000;
  MPI_Datatype columns;
  MPI_Type_vector(kRows * kColumns / 2, 1, 2, MPI_DOUBLE, &columns);
  MPI_Type_commit(&columns);
  MPI_Isend(matrix, 1, columns, next, 1, MPI_COMM_WORLD, &request);
  MPI_Recv(flat, kRows * kColumns / 2, MPI_DOUBLE, previous, 1, MPI_COMM_WORLD, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; j += 2)
      CHECK(flat[(i * kColumns + j) / 2] == i * 100 + j + previous * 10000, "%d, %d", i, j);
  int lengths[kRows], places[kRows];
  for (int i = 0; i < kRows; ++i) lengths[i] = i % 4, places[i] = (kRows - 1 - i) * kColumns;
  MPI_Datatype pieces;
  MPI_Type_indexed(kRows, lengths, places, MPI_DOUBLE, &pieces);
  MPI_Type_commit(&pieces);
  int bytes = 0;
  MPI_Type_size(pieces, &bytes);
  const int words = bytes / 8;
  MPI_Isend(flat, words, MPI_DOUBLE, check_rank, 2, MPI_COMM_WORLD, &request);
  MPI_Recv(matrix, 1, pieces, check_rank, 2, MPI_COMM_WORLD, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0, at = 0; i < kRows; ++i)
    for (int j = 0; j < lengths[i]; ++j, ++at)
      CHECK(matrix[kRows - 1 - i][j] == flat[at], "piece %d, %d", i, j);
  CHECK(matrix[0][3] == 3 + check_rank * 10000);
  MPI_Get_count(&status, pieces, &count);
  CHECK_EQUAL(count, 1);
  MPI_Type_free(&pieces);
  MPI_Type_free(&columns);

  /* Two separate variables by their addresses. */
  int a = check_rank, got_a = -1;
  double b = check_rank + 0.25, got_b = -1;
  MPI_Datatype pair[2];
  for (int side = 0; side < 2; ++side) {
    MPI_Aint addresses[2];
    MPI_Get_address(side ? &got_a : &a, &addresses[0]);
    MPI_Get_address(side ? &got_b : &b, &addresses[1]);
    const int ones[] = {1, 1};
    const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
    MPI_Type_create_struct(2, ones, addresses, types, &pair[side]);
    MPI_Type_commit(&pair[side]);
  }
  MPI_Sendrecv(MPI_BOTTOM, 1, pair[0], next, 3, MPI_BOTTOM, 1, pair[1], previous, 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK(got_a == previous && got_b == previous + 0.25, "%d, %g", got_a, got_b);
  MPI_Type_free(&pair[0]);
  MPI_Type_free(&pair[1]);

  /* Pairs; and a message that ends inside an element. */
  struct {
    double number;
    int index;
  } mixed[2] = {{1.5, 7}, {2.5, 8}}, got[2] = {{0, 0}, {0, 0}};
  MPI_Isend(mixed, 2, MPI_DOUBLE_INT, next, 4, MPI_COMM_WORLD, &request);
  MPI_Recv(got, 2, MPI_DOUBLE_INT, previous, 4, MPI_COMM_WORLD, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(got[1].number == 2.5 && got[1].index == 8);
  MPI_Datatype three;
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Type_commit(&three);
  int four[4] = {1, 2, 3, 4}, nine[9] = {0};
  MPI_Isend(four, 4, MPI_INT, next, 5, MPI_COMM_WORLD, &request);
  MPI_Recv(nine, 3, three, previous, 5, MPI_COMM_WORLD, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Get_count(&status, three, &count);
  CHECK_EQUAL(count, MPI_UNDEFINED);
  MPI_Get_elements(&status, three, &count);
  CHECK_EQUAL(count, 4);
  CHECK(nine[3] == 4 && nine[4] == 0);
  MPI_Type_free(&three);

  /* Packed at one end only. */
  char packed[100];
  int position = 0, number = 17;
  double real = 2.5;
  if (check_size > 1 && check_rank < check_size / 2 * 2) {
    const int partner = check_rank ^ 1;
    if (check_rank % 2 == 0) {
      MPI_Pack(&number, 1, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD);
      MPI_Pack(&real, 1, MPI_DOUBLE, packed, sizeof packed, &position, MPI_COMM_WORLD);
      MPI_Send(packed, position, MPI_PACKED, partner, 6, MPI_COMM_WORLD);
    } else {
      MPI_Recv(packed, sizeof packed, MPI_PACKED, partner, 6, MPI_COMM_WORLD, &status);
      number = 0, real = 0;
      MPI_Unpack(packed, sizeof packed, &position, &number, 1, MPI_INT, MPI_COMM_WORLD);
      MPI_Unpack(packed, sizeof packed, &position, &real, 1, MPI_DOUBLE, MPI_COMM_WORLD);
      CHECK(number == 17 && real == 2.5, "%d, %g", number, real);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return check_end();
}
