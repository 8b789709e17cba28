/* MPI_Init_thread at each level that an argument names.
 * live: ranks 2
 * live: arguments 0
 * live: arguments 1
 * live: arguments 2
 * live: arguments 3 */
#include "check.h"

int main(int argc, char** argv) {
  const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                        MPI_THREAD_MULTIPLE};
  const int wanted = levels[argc > 1 ? atoi(argv[1]) : 0];
  int provided = -1, level = -1, sum = 0, one = 1;
  CHECK_OK(MPI_Init_thread(NULL, NULL, wanted, &provided));
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &check_size);
  CHECK(provided >= wanted && provided <= MPI_THREAD_MULTIPLE, "wanted %d, got %d", wanted,
        provided);
  MPI_Query_thread(&level);
  CHECK_EQUAL(level, provided);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(sum, check_size);
  return check_end();
}
