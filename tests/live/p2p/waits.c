/* Wait and Test, -any, -some, -all: which indices, which statuses, what is left of the
 * requests; null and inactive ones among them.
 * live: ranks 2 3 4 7 8 */
#include "check.h"

enum { kMessages = 6 };

static void is_empty(const MPI_Status* status, const char* what) {
  int count = -1, cancelled = -1;
  MPI_Get_count(status, MPI_INT, &count);
  MPI_Test_cancelled(status, &cancelled);
  CHECK(status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && count == 0 &&
            !cancelled,
        "%s: source %d, tag %d, count %d, cancelled %d", what, status->MPI_SOURCE, status->MPI_TAG,
        count, cancelled);
}

static void nothing_to_wait_for(void) {
  MPI_Request none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status, statuses[3];
  int flag = 0, index = 7, done = 7, indices[3];
  CHECK_OK(MPI_Wait(&none[0], &status));
  is_empty(&status, "MPI_Wait of none");
  CHECK_OK(MPI_Test(&none[0], &flag, &status));
  CHECK(flag);
  is_empty(&status, "MPI_Test of none");
  CHECK_OK(MPI_Waitany(3, none, &index, &status));
  CHECK_EQUAL(index, MPI_UNDEFINED);
  is_empty(&status, "MPI_Waitany of none");
  flag = 0, index = 7;
  CHECK_OK(MPI_Testany(3, none, &index, &flag, &status));
  CHECK(flag && index == MPI_UNDEFINED, "flag %d, index %d", flag, index);
  is_empty(&status, "MPI_Testany of none");
  CHECK_OK(MPI_Waitsome(3, none, &done, indices, statuses));
  CHECK_EQUAL(done, MPI_UNDEFINED);
  done = 7;
  CHECK_OK(MPI_Testsome(3, none, &done, indices, statuses));
  CHECK_EQUAL(done, MPI_UNDEFINED);
  CHECK_OK(MPI_Waitall(3, none, statuses));
  for (int i = 0; i < 3; ++i) is_empty(&statuses[i], "MPI_Waitall of none");
  flag = 0;
  CHECK_OK(MPI_Testall(3, none, &flag, statuses));
  CHECK(flag);
  CHECK_OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
  CHECK_OK(MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE));
  CHECK_EQUAL(index, MPI_UNDEFINED);

  int value = 0;
  MPI_Request inactive;
  MPI_Recv_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &inactive);
  CHECK_OK(MPI_Wait(&inactive, &status));
  is_empty(&status, "MPI_Wait of an inactive one");
  CHECK(inactive != MPI_REQUEST_NULL);
  index = 7;
  CHECK_OK(MPI_Waitany(1, &inactive, &index, &status));
  CHECK_EQUAL(index, MPI_UNDEFINED);
  CHECK_OK(MPI_Request_free(&inactive));
}

/* Posts receives of message tag i at place i, and a hole that stays null. */
static void post(int partner, int* values, MPI_Request* requests) {
  for (int i = 0; i < kMessages; ++i) {
    values[i] = -1;
    MPI_Irecv(&values[i], 1, MPI_INT, partner, i, MPI_COMM_WORLD, &requests[i]);
  }
  requests[kMessages] = MPI_REQUEST_NULL;
}

/* The partner sends in this order. */
static const int order[kMessages] = {3, 0, 5, 1, 4, 2};

static void send_all(int partner) {
  for (int i = 0; i < kMessages; ++i) {
    const int value = 100 * check_rank + order[i];
    MPI_Send(&value, 1, MPI_INT, partner, order[i], MPI_COMM_WORLD);
  }
}

static void check_one(int partner, int index, const int* values, const MPI_Status* status) {
  CHECK(index >= 0 && index < kMessages, "index %d", index);
  if (index < 0 || index >= kMessages) return;
  CHECK_EQUAL(values[index], 100 * partner + index);
  if (status) {
    CHECK_EQUAL(status->MPI_TAG, index);
    CHECK_EQUAL(status->MPI_SOURCE, partner);
  }
}

static void by_any(int partner, int test) {
  int values[kMessages];
  MPI_Request requests[kMessages + 1];
  post(partner, values, requests);
  MPI_Barrier(MPI_COMM_WORLD);
  send_all(partner);
  int seen = 0;
  for (int i = 0; i < kMessages; ++i) {
    MPI_Status status;
    int index = -5, flag = !test;
    do {
      if (test) {
        MPI_Testany(kMessages + 1, requests, &index, &flag, &status);
        if (!flag) CHECK_EQUAL(index, MPI_UNDEFINED);
      } else {
        MPI_Waitany(kMessages + 1, requests, &index, &status);
      }
    } while (!flag);
    check_one(partner, index, values, &status);
    if (index < 0) break;
    CHECK(!(seen & 1 << index), "index %d came twice", index);
    seen |= 1 << index;
    CHECK(requests[index] == MPI_REQUEST_NULL);
  }
  CHECK_EQUAL(seen, (1 << kMessages) - 1);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void by_some(int partner, int test, int ignore) {
  int values[kMessages];
  MPI_Request requests[kMessages + 1];
  post(partner, values, requests);
  MPI_Barrier(MPI_COMM_WORLD);
  send_all(partner);
  int seen = 0;
  while (seen != (1 << kMessages) - 1) {
    MPI_Status statuses[kMessages + 1];
    int indices[kMessages + 1], done = -5;
    if (test) {
      MPI_Testsome(kMessages + 1, requests, &done, indices,
                   ignore ? MPI_STATUSES_IGNORE : statuses);
    } else {
      MPI_Waitsome(kMessages + 1, requests, &done, indices,
                   ignore ? MPI_STATUSES_IGNORE : statuses);
      CHECK(done > 0, "done %d", done);
    }
    if (done == MPI_UNDEFINED) {
      CHECK(0, "no active request although %#x are done", seen);
      break;
    }
    for (int i = 0; i < done; ++i) {
      check_one(partner, indices[i], values, ignore ? NULL : &statuses[i]);
      CHECK(!(seen & 1 << indices[i]), "index %d came twice", indices[i]);
      seen |= 1 << indices[i];
      CHECK(requests[indices[i]] == MPI_REQUEST_NULL);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void by_all(int partner, int test) {
  int values[kMessages];
  MPI_Request requests[kMessages + 1];
  MPI_Status statuses[kMessages + 1];
  post(partner, values, requests);
  int flag = 1;
  if (test) { /* nothing is sent before the barrier: not done, and nothing changed */
    MPI_Testall(kMessages + 1, requests, &flag, statuses);
    CHECK(!flag);
    for (int i = 0; i < kMessages; ++i) CHECK(requests[i] != MPI_REQUEST_NULL);
    MPI_Test(&requests[0], &flag, &statuses[0]);
    CHECK(!flag && requests[0] != MPI_REQUEST_NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  send_all(partner);
  if (test) {
    do MPI_Testall(kMessages + 1, requests, &flag, statuses);
    while (!flag);
  } else {
    MPI_Waitall(kMessages + 1, requests, statuses);
  }
  for (int i = 0; i < kMessages; ++i) {
    check_one(partner, i, values, &statuses[i]);
    CHECK(requests[i] == MPI_REQUEST_NULL);
  }
  is_empty(&statuses[kMessages], "the null request's status");
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  nothing_to_wait_for();
  /* Pairs 0-1, 2-3, ...; the odd one out, if any, talks to itself. */
  int partner = check_rank ^ 1;
  if (partner >= check_size) partner = check_rank;
  for (int test = 0; test < 2; ++test) {
    by_any(partner, test);
    by_some(partner, test, 0);
    by_some(partner, test, 1);
    by_all(partner, test);
  }
  return check_end();
}
