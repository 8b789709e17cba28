/* Every way to send, round a ring (at one rank: to itself), in sizes from none to 10 MB.
 * live: ranks 1 2 3 4 8 64 */
#include "check.h"

enum Mode { kStandard, kSynchronous, kBuffered, kReady, kModes };
static const char* const mode_names[] = {"standard", "synchronous", "buffered", "ready"};

typedef int Blocking(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int Posting(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
static Blocking* const blocking[] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
static Posting* const posting[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
static Posting* const persistent[] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init,
                                      MPI_Rsend_init};

static unsigned char *out, *in;
static int next, previous;

static void verify(const MPI_Status* status, int number, int bytes, const char* what) {
  int count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  CHECK(count == bytes, "%s: %d of %d bytes", what, count, bytes);
  CHECK(status->MPI_SOURCE == previous && status->MPI_TAG == number, "%s: from %d, tag %d", what,
        status->MPI_SOURCE, status->MPI_TAG);
  const long wrong = check_wrong(in, previous, number, bytes);
  CHECK(wrong < 0, "%s, %d bytes: byte %ld is wrong", what, bytes, wrong);
}

/* The receive is posted and, for ready mode, known to be before anybody sends. */
static MPI_Request expect(int number, int bytes) {
  MPI_Request request;
  memset(in, 0xee, (size_t)bytes);
  check_fill(out, check_rank, number, bytes);
  MPI_Irecv(in, bytes, MPI_BYTE, previous, number, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  return request;
}

static void try_mode(int mode, int bytes, int number) {
  MPI_Status status;
  MPI_Request receive = expect(number, bytes);
  CHECK_OK(blocking[mode](out, bytes, MPI_BYTE, next, number, MPI_COMM_WORLD));
  memset(out, 0xdd, (size_t)bytes); /* the call is over: ours again */
  MPI_Wait(&receive, &status);
  verify(&status, number, bytes, mode_names[mode]);

  MPI_Request send;
  receive = expect(number + 1, bytes);
  CHECK_OK(posting[mode](out, bytes, MPI_BYTE, next, number + 1, MPI_COMM_WORLD, &send));
  MPI_Wait(&receive, &status);
  verify(&status, number + 1, bytes, mode_names[mode]);
  CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
  CHECK(send == MPI_REQUEST_NULL);

  if (mode == kBuffered && known_defect("openmpi")) return;
  CHECK_OK(persistent[mode](out, bytes, MPI_BYTE, next, number + 2, MPI_COMM_WORLD, &send));
  for (int round = 0; round < 2; ++round) {
    receive = expect(number + 2, bytes);
    CHECK_OK(MPI_Start(&send));
    MPI_Wait(&receive, &status);
    verify(&status, number + 2, bytes, mode_names[mode]);
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK(send != MPI_REQUEST_NULL);
  }
  CHECK_OK(MPI_Request_free(&send));
  CHECK(send == MPI_REQUEST_NULL);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  next = (check_rank + 1) % check_size;
  previous = (check_rank + check_size - 1) % check_size;
  const int sizes[] = {0, 1, 8, 1000, 4096, 65536, 300001, 10000000};
  const int small = (int)(sizeof sizes / sizeof *sizes) - (check_size > 8 ? 3 : check_size > 4);
  const int most = sizes[small - 1];
  out = malloc((size_t)most + 1);
  in = malloc((size_t)most + 1);
  const int room = 2 * (most + MPI_BSEND_OVERHEAD);
  void* buffer = malloc((size_t)room);
  MPI_Buffer_attach(buffer, room);
  for (int i = 0; i < small; ++i) {
    for (int mode = 0; mode < kModes; ++mode) {
      if (sizes[i] > 1000000 && mode != kStandard && mode != kSynchronous) continue;
      try_mode(mode, sizes[i], 10 * (i + 1));
    }
  }
  void* detached;
  int detached_size;
  MPI_Buffer_detach(&detached, &detached_size);
  CHECK(detached == buffer);
  CHECK_EQUAL(detached_size, room);
  free(buffer);
  free(out);
  free(in);
  return check_end();
}
