/* Partitioned messages (MPI 4): partitions made ready in any order, ranges and lists, more
 * or fewer of them at the receiver, arrival asked for one by one.
 * live: ranks 1 2 4 8
 * live: mpi mpich */
#include "check.h"

#if MPI_VERSION >= 4
enum { kParts = 8, kEach = 100 };

static void transfer(int receive_parts, int how) {
  const int next = (check_rank + 1) % check_size;
  const int previous = (check_rank + check_size - 1) % check_size;
  static double out[kParts * kEach], in[kParts * kEach];
  const int receive_each = kParts * kEach / receive_parts;
  MPI_Request requests[2];
  CHECK_OK(MPI_Psend_init(out, kParts, kEach, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &requests[0]));
  CHECK_OK(MPI_Precv_init(in, receive_parts, receive_each, MPI_DOUBLE, previous, 1, MPI_COMM_WORLD,
                          MPI_INFO_NULL, &requests[1]));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kParts * kEach; ++i) in[i] = -1;
    CHECK_OK(MPI_Startall(2, requests));
    for (int i = 0; i < kParts * kEach; ++i) out[i] = check_rank * 10000 + round * 1000 + i;
    int flag = 1;
    if (how == 0) {
      for (int i = kParts - 1; i >= 0; --i) CHECK_OK(MPI_Pready(i, requests[0]));
    } else if (how == 1) {
      CHECK_OK(MPI_Pready_range(0, 3, requests[0]));
      CHECK_OK(MPI_Pready_range(4, kParts - 1, requests[0]));
    } else {
      const int odd[] = {1, 3, 5, 7}, even[] = {6, 4, 2, 0};
      CHECK_OK(MPI_Pready_list(4, odd, requests[0]));
      CHECK_OK(MPI_Pready_list(4, even, requests[0]));
    }
    for (int i = 0; i < receive_parts; ++i) {
      flag = 0;
      while (!flag) CHECK_OK(MPI_Parrived(requests[1], i, &flag));
      CHECK(in[i * receive_each] == previous * 10000 + round * 1000 + i * receive_each,
            "partition %d holds %g", i, in[i * receive_each]);
    }
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    int wrong = 0;
    for (int i = 0; i < kParts * kEach; ++i) wrong += in[i] != previous * 10000 + round * 1000 + i;
    CHECK_EQUAL(wrong, 0);
  }
  CHECK_OK(MPI_Request_free(&requests[0]));
  CHECK_OK(MPI_Request_free(&requests[1]));
}

/* Those with the same tag meet in the order in which they were made, whatever the order in
 * which they start. */
static void made_in_order(int tag, int reversed) {
  enum { kRequests = 3 };
  const int next = (check_rank + 1) % check_size;
  const int previous = (check_rank + check_size - 1) % check_size;
  int out[kRequests], in[kRequests];
  MPI_Request sends[kRequests], receives[kRequests];
  MPI_Status statuses[kRequests];
  for (int i = 0; i < kRequests; ++i) {
    CHECK_OK(MPI_Psend_init(&out[i], 1, 1, MPI_INT, next, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]));
    CHECK_OK(MPI_Precv_init(&in[i], 1, 1, MPI_INT, previous, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[i]));
  }
  for (int round = 0; round < 2; ++round) {
    for (int turn = 0; turn < kRequests; ++turn) {
      const int i = reversed ? kRequests - 1 - turn : turn;
      out[i] = 10 * i + round;
      CHECK_OK(MPI_Start(&sends[i]));
      CHECK_OK(MPI_Pready(0, sends[i]));
    }
    CHECK_OK(MPI_Startall(kRequests, receives));
    CHECK_OK(MPI_Waitall(kRequests, receives, statuses));
    CHECK_OK(MPI_Waitall(kRequests, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < kRequests; ++i) {
      CHECK_EQUAL(in[i], 10 * i + round);
      CHECK_EQUAL(statuses[i].MPI_TAG, tag);
      CHECK_EQUAL(statuses[i].MPI_SOURCE, previous);
    }
  }
  for (int i = 0; i < kRequests; ++i) {
    CHECK_OK(MPI_Request_free(&sends[i]));
    CHECK_OK(MPI_Request_free(&receives[i]));
  }
}
#endif

int main(int argc, char** argv) {
  check_init(&argc, &argv);
#if MPI_VERSION >= 4
  const int parts[] = {8, 4, 1, 16};
  for (int i = 0; i < 4; ++i)
    for (int how = 0; how < 3; ++how) transfer(parts[i], how);
  made_in_order(0, 1);
  made_in_order(1, 1);
  made_in_order(1 << 19, 1);
  made_in_order(1 << 21, 0);
#endif
  return check_end();
}
