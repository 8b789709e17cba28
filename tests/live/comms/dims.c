/* MPI_Dims_create gives what the MPI gives.
 * live: ranks 1
 * live: compare
 */
#include "check.h"

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  for (int n = 1; n <= 4; ++n) {
    for (int nodes = 1; nodes <= 1100; ++nodes) {
      int dims[4] = {0};
      CHECK_OK(MPI_Dims_create(nodes, n, dims));
      printf("%d:", nodes);
      for (int i = 0; i < n; ++i) printf(" %d", dims[i]);
      printf("\n");
    }
  }
  for (int given = 1; given <= 8; ++given) {
    for (int place = 0; place < 3; ++place) {
      int dims[3] = {0};
      dims[place] = given;
      CHECK_OK(MPI_Dims_create(given * 36, 3, dims));
      printf("%d at %d: %d %d %d\n", given, place, dims[0], dims[1], dims[2]);
    }
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int wrong[] = {5, 0}, full[] = {2, 3};
  CHECK(MPI_Dims_create(12, 2, wrong) != MPI_SUCCESS, "5 does not divide 12");
  CHECK_OK(MPI_Dims_create(6, 2, full));
  return check_end();
}
