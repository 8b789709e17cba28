/* The default handler ends the run, and says who did what.
 * live: ranks 2 4
 * live: status 6
 * live: says MPI_Send: MPI_ERR_RANK
 */
#include "check.h"

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  int number = 0;
  if (check_rank == 1) MPI_Send(&number, 1, MPI_INT, check_size + 4, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return check_end();
}
