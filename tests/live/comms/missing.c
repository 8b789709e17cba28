/* What is not simulated says its name. live: ranks 1 2 */
/* live: mpi mpich */
/* live: not standard */
/* live: not real mpich */
/* live: status 3 */
/* live: says MPIX_Comm_failure_ack */
#include "check.h"

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPIX_Comm_failure_ack(MPI_COMM_WORLD);
  return check_end();
}
