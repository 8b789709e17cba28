/* Logical operations on floating-point numbers: beyond the standard, but in MPICH's own tests.
 * live: mpi mpich
 * live: not real mpich */
#include "check.h"

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  /* All not 0; 0 on the last rank; not 0 on the last rank alone. */
  const int last = check_rank == check_size - 1;
  const double in[] = {0.25, last ? 0 : -3, last ? 1e-300 : 0};
  const float single = last ? 0 : 0.5F;
  double all[3], any[3], odd[3];
  float any_single;
  CHECK_OK(MPI_Allreduce(in, all, 3, MPI_DOUBLE, MPI_LAND, MPI_COMM_WORLD));
  CHECK_OK(MPI_Allreduce(in, any, 3, MPI_DOUBLE, MPI_LOR, MPI_COMM_WORLD));
  CHECK_OK(MPI_Allreduce(in, odd, 3, MPI_DOUBLE, MPI_LXOR, MPI_COMM_WORLD));
  CHECK_OK(MPI_Allreduce(&single, &any_single, 1, MPI_FLOAT, MPI_LOR, MPI_COMM_WORLD));
  if (check_size > 1) {
    CHECK(all[0] == 1 && all[1] == 0 && all[2] == 0, "%g %g %g", all[0], all[1], all[2]);
    CHECK(any[0] == 1 && any[1] == 1 && any[2] == 1, "%g %g %g", any[0], any[1], any[2]);
    CHECK(odd[0] == check_size % 2 && odd[1] == (check_size - 1) % 2 && odd[2] == 1, "%g %g %g",
          odd[0], odd[1], odd[2]);
    CHECK(any_single == 1, "%g", any_single);
  }
  return check_end();
}
