/* Several requests tested in turn: every one is found when it is done, and no sooner, after
 * a few tests of each, however long it takes.
 * live: ranks 2 5 */
#include "check.h"

enum { kRequests = 6, kTestsOfEach = 40 };

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  if (check_rank == 0) {
    MPI_Request requests[kRequests];
    double sent[kRequests], found[kRequests] = {0};
    long tests = 0;
    for (int i = 0; i < kRequests; ++i)
      MPI_Irecv(&sent[i], 1, MPI_DOUBLE, check_size - 1, i, MPI_COMM_WORLD, &requests[i]);
    for (int done = 0; done < kRequests;)
      for (int i = 0; i < kRequests; ++i) {
        int flag = 0;
        if (requests[i] == MPI_REQUEST_NULL) continue;
        ++tests;
        MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
        if (!flag) continue;
        ++done;
        found[i] = MPI_Wtime();
      }
    CHECK(tests < kRequests * kTestsOfEach, "%ld tests", tests);
    /* The last one is sent first. A send takes some 0.1 ms on the T3D. */
    for (int i = 0; i < kRequests; ++i) {
      CHECK(found[i] > sent[i] && found[i] < sent[i] + 0.001, "request %d: %g after %g", i, found[i],
            sent[i]);
      CHECK(i == 0 || found[i] < found[i - 1], "request %d", i);
    }
  }
  if (check_rank == check_size - 1)
    for (int i = kRequests - 1; i >= 0; --i) {
      /* Time passes. */
      double mine = 0, other, now;
      for (int k = 0; k < 200; ++k)
        MPI_Sendrecv(&mine, 1, MPI_DOUBLE, 0, 0, &other, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
      now = MPI_Wtime();
      MPI_Send(&now, 1, MPI_DOUBLE, 0, i, MPI_COMM_WORLD);
    }
  return check_end();
}
