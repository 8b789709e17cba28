/* Reductions of many operations and types, of 1000 elements each, and MPI_Reduce_local. */
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { kElements = 1000 };

static char in[kElements * 32], out[kElements * 32];

static void last(void* from, void* to, int* count, MPI_Datatype* type) {
  int size;
  MPI_Type_size(*type, &size);
  memcpy(to, from, (size_t)(*count * size));
}

static void all(MPI_Datatype type, MPI_Op op) {
  MPI_Allreduce(in, out, kElements, type, op, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Op own;
  MPI_Datatype real;
  MPI_Request request;
  int ranks;
  int counts[16];
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Op_create(last, 1, &own);
  MPI_Type_create_f90_real(6, MPI_UNDEFINED, &real);
  all(MPI_DOUBLE, MPI_SUM);
  all(MPI_INT, MPI_SUM);
  all(MPI_UNSIGNED_LONG, MPI_PROD);
  all(MPI_FLOAT, MPI_MAX);
  all(MPI_UNSIGNED_SHORT, MPI_MIN);
  all(MPI_SIGNED_CHAR, MPI_LXOR);
  all(MPI_C_BOOL, MPI_LAND);
  all(MPI_BYTE, MPI_BOR);
  all(MPI_C_DOUBLE_COMPLEX, MPI_SUM);
  all(MPI_C_FLOAT_COMPLEX, MPI_PROD);
  all(MPI_LONG_DOUBLE, MPI_SUM);
  all(MPI_DOUBLE_INT, MPI_MAXLOC);
  all(MPI_2INT, MPI_MINLOC);
  all(real, MPI_SUM);
  all(MPI_DOUBLE, own);
  MPI_Reduce(in, out, kElements, MPI_INT64_T, MPI_BXOR, ranks - 1, MPI_COMM_WORLD);
  MPI_Scan(in, out, kElements, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Exscan(in, out, kElements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) counts[r] = r + 1;
  MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(in, out, kElements / ranks, MPI_INT16_T, MPI_BAND, MPI_COMM_WORLD);
  MPI_Iallreduce(in, out, kElements, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Bcast(in, kElements, MPI_INT, 0, MPI_COMM_WORLD);

  MPI_Reduce_local(in, out, kElements, MPI_DOUBLE, MPI_SUM);
  MPI_Reduce_local(in, out, kElements, MPI_DOUBLE, MPI_SUM);
  MPI_Reduce_local(in, out, kElements, MPI_INT, MPI_MAX);
  MPI_Reduce_local(in, out, 7, MPI_DOUBLE, own);
  MPI_Reduce_local(in, out, 0, MPI_DOUBLE, MPI_SUM);
  MPI_Op_free(&own);
  MPI_Finalize();
  return 0;
}
