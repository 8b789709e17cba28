/* Buffered sends: they return although nobody receives, keep what was sent, and need room. */
#include "check.h"

enum { kCount = 50, kWords = 24 };

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  const int next = (check_rank + 1) % check_size;
  const int previous = (check_rank + check_size - 1) % check_size;
  int packed = 0;
  MPI_Pack_size(kWords, MPI_INT, MPI_COMM_WORLD, &packed);
  const int room = kCount * (packed + MPI_BSEND_OVERHEAD);
  char* buffer = malloc((size_t)room);
  CHECK_OK(MPI_Buffer_attach(buffer, room));
  for (int round = 0; round < 3; ++round) {
    int data[kWords], in[kWords];
    for (int i = 0; i < kCount; ++i) {
      for (int j = 0; j < kWords; ++j) data[j] = 1000 * check_rank + 10 * i + round;
      if (i % 2) {
        MPI_Request request;
        MPI_Ibsend(data, kWords, MPI_INT, next, i, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        MPI_Bsend(data, kWords, MPI_INT, next, i, MPI_COMM_WORLD);
      }
    }
    /* Receives come last message first: only buffers can hold them. */
    for (int i = kCount - 1; i >= 0; --i) {
      MPI_Recv(in, kWords, MPI_INT, previous, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK_EQUAL(in[0], 1000 * previous + 10 * i + round);
      CHECK_EQUAL(in[kWords - 1], 1000 * previous + 10 * i + round);
    }
    /* The room is free again when the buffer was detached. */
    void* detached = NULL;
    int size = 0;
    MPI_Buffer_detach(&detached, &size);
    CHECK(detached == buffer && size == room, "%p, %d", detached, size);
    MPI_Buffer_attach(buffer, room);
  }
  void* detached;
  int size;
  MPI_Buffer_detach(&detached, &size);

  /* More than there is room for. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  char small[MPI_BSEND_OVERHEAD + 64], big[1000] = {0};
  MPI_Buffer_attach(small, sizeof small);
  if (!known_defect("openmpi")) {
    CHECK_CLASS(MPI_Bsend(big, 1000, MPI_BYTE, next, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    /* A second buffer. */
    CHECK_CLASS(MPI_Buffer_attach(big, sizeof big), MPI_ERR_BUFFER);
  }
  MPI_Buffer_detach(&detached, &size);
  CHECK(detached == small);
  MPI_Barrier(MPI_COMM_WORLD);
  free(buffer);
  return check_end();
}
