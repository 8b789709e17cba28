/* Messages do not overtake: random traffic among all ranks, of all sizes and modes, on two
 * communicators and three tags; each stream of (sender, communicator, tag) comes in its order.
 * live: ranks 1 2 3 4 8 64 */
#include "check.h"

enum { kComms = 2, kTags = 3, kStreams = kComms * kTags };

static unsigned long state;
static unsigned draw(unsigned below) {
  state = state * 6364136223846793005UL + 1442695040888963407UL;
  return (unsigned)(state >> 33) % below;
}

struct Letter {
  int from, comm, tag, number;
};

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm comms[kComms] = {MPI_COMM_WORLD};
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  const int messages = check_size > 8 ? 40 : 300;
  state = 12345 + (unsigned long)check_rank;

  const size_t places = (size_t)check_size * kStreams;
  int *sent = calloc(places, sizeof(int)), *expected = calloc(places, sizeof(int));
  int* total = calloc(places, sizeof(int));
  MPI_Request* requests = malloc(sizeof *requests * (size_t)messages);
  char* letters = malloc((size_t)messages * 20000);
  int pending = 0;
  for (int i = 0; i < messages; ++i) {
    const int to = (int)draw((unsigned)check_size), comm = (int)draw(kComms),
              tag = (int)draw(kTags);
    int* number = &sent[to * kStreams + comm * kTags + tag];
    const struct Letter letter = {check_rank, comm, tag, (*number)++};
    const int bytes = (int)sizeof letter + (int)(draw(4) ? draw(100) : draw(19000));
    char* text = letters + (size_t)i * 20000;
    memcpy(text, &letter, sizeof letter);
    if (draw(3))
      MPI_Isend(text, bytes, MPI_BYTE, to, tag, comms[comm], &requests[pending++]);
    else
      MPI_Issend(text, bytes, MPI_BYTE, to, tag, comms[comm], &requests[pending++]);
  }
  MPI_Alltoall(sent, kStreams, MPI_INT, total, kStreams, MPI_INT, MPI_COMM_WORLD);
  long left = 0;
  for (size_t i = 0; i < places; ++i) left += total[i];

  /* Received as they are found, now with, now without wildcards. */
  char in[20000];
  while (left > 0) {
    const int comm = (int)draw(kComms);
    int source = draw(2) ? MPI_ANY_SOURCE : (int)draw((unsigned)check_size);
    int tag = draw(2) ? MPI_ANY_TAG : (int)draw(kTags), flag = 0;
    MPI_Status status;
    MPI_Iprobe(source, tag, comms[comm], &flag, &status);
    if (!flag) continue;
    MPI_Recv(in, sizeof in, MPI_BYTE, source, tag, comms[comm], &status);
    struct Letter letter;
    memcpy(&letter, in, sizeof letter);
    CHECK(letter.from == status.MPI_SOURCE && letter.comm == comm && letter.tag == status.MPI_TAG,
          "letter of %d, communicator %d, tag %d came as %d, %d, %d", letter.from, letter.comm,
          letter.tag, status.MPI_SOURCE, comm, status.MPI_TAG);
    int* next = &expected[status.MPI_SOURCE * kStreams + comm * kTags + status.MPI_TAG];
    CHECK(letter.number == *next, "from %d: number %d, expected %d", letter.from, letter.number,
          *next);
    ++*next;
    --left;
  }
  MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
  for (size_t i = 0; i < places; ++i) CHECK_EQUAL(expected[i], total[i]);

  MPI_Barrier(MPI_COMM_WORLD);
  /* Posted receives take messages in the order in which they were posted. */
  const int next = (check_rank + 1) % check_size;
  const int previous = (check_rank + check_size - 1) % check_size;
  int values[10], got[10];
  MPI_Request posted[20];
  for (int i = 0; i < 10; ++i)
    MPI_Irecv(&got[i], 1, MPI_INT, i % 2 ? previous : MPI_ANY_SOURCE, i % 3 ? 7 : MPI_ANY_TAG,
              comms[1], &posted[i]);
  for (int i = 0; i < 10; ++i) {
    values[i] = 100 * check_rank + i;
    MPI_Isend(&values[i], 1, MPI_INT, next, 7, comms[1], &posted[10 + i]);
  }
  MPI_Waitall(20, posted, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 10; ++i) CHECK_EQUAL(got[i], 100 * previous + i);

  MPI_Comm_free(&comms[1]);
  free(sent);
  free(expected);
  free(total);
  free(requests);
  free(letters);
  return check_end();
}
