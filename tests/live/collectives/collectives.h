/* collectives.h - what the programs that try collectives at random share.
 *
 * All ranks draw the same random numbers, so that each knows what the others do. A call
 * is a `struct job`: its buffers, and what the receive buffer has to hold in the end, gaps
 * included. Jobs run in one of three forms, several of the last two at once.
 */
#pragma once

#include "../check.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#define PERSISTENT(name) MPIX_##name##_init
#else
#define PERSISTENT(name) MPI_##name##_init
#endif

enum form { BLOCKING, POSTED, REPEATED, FORMS };

/* Whether this is not Foretrace's library. Open MPI 4.1.4 and MPICH 4.0.2 get some things wrong,
   which the programs leave out then. */
static inline int real_mpi(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  return strstr(version, "Foretrace") == NULL;
}

/* --- random numbers, the same on all ranks ---------------------------------------- */

static unsigned long long random_state = 1;
static inline unsigned random_below(unsigned limit) {
  unsigned long long z = (random_state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (unsigned)((z ^ (z >> 31)) >> 11) % limit;
}

static inline enum form any_form(void) {
  const enum form form = (enum form)random_below(FORMS);
#ifdef MPICH_VERSION
  /* MPICH's persistent ones go wrong when they are started again. */
  if (form == REPEATED && real_mpi()) return POSTED;
#endif
  return form;
}

/* --- datatypes made of ints ---------------------------------------------------------- */

struct layout {
  MPI_Datatype type;
  int n;         /* ints in an element */
  int extent;    /* in ints */
  int places[3]; /* of the ints, in the order of the type map */
};
enum { LAYOUTS = 5, UNIT = 6 }; /* pieces have a multiple of UNIT ints: any layout fits */
static struct layout layouts[LAYOUTS];

static inline void make_layouts(void) {
  const struct layout made[LAYOUTS] = {{MPI_INT, 1, 1, {0}},
                                       {MPI_DATATYPE_NULL, 3, 3, {0, 1, 2}},
                                       {MPI_DATATYPE_NULL, 2, 4, {0, 2}},
                                       {MPI_DATATYPE_NULL, 3, 5, {4, 0, 1}},
                                       {MPI_DATATYPE_NULL, 1, 2, {1}}};
  for (int i = 0; i < LAYOUTS; ++i) {
    layouts[i] = made[i];
    if (i == 0) continue;
    int lengths[3] = {1, 1, 1};
    MPI_Datatype indexed;
    MPI_Type_indexed(made[i].n, lengths, (int*)made[i].places, MPI_INT, &indexed);
    MPI_Type_create_resized(indexed, 0, made[i].extent * (MPI_Aint)sizeof(int), &layouts[i].type);
    MPI_Type_commit(&layouts[i].type);
    MPI_Type_free(&indexed);
  }
}
static inline void free_layouts(void) {
  for (int i = 1; i < LAYOUTS; ++i) MPI_Type_free(&layouts[i].type);
}
static inline const struct layout* any_layout(void) {
  return &layouts[random_below(LAYOUTS)];
}

/* --- jobs ------------------------------------------------------------------------------ */

enum { GUARD = -77777777, DELTA = 1 << 20, MOST = 64 };

struct job {
  const char* what;
  enum form form;
  int again; /* 2: the second time with other data; for calls that only move it */
  MPI_Request request;
  int *send, *receive, *initial, *expected;
  long sent, received; /* ints in the buffers */
  long checked;        /* of the receive buffer, from its start */
  int counts[4][MOST]; /* arguments live as long as the call */
  MPI_Datatype types[2][MOST];
};

static inline int* ints(long n) {
  int* data = malloc((size_t)(n + 1) * sizeof(int));
  for (long i = 0; i <= n; ++i) data[i] = GUARD;
  return data;
}
static inline struct job* new_job(const char* what, enum form form, long sent, long received) {
  struct job* job = calloc(1, sizeof *job);
  job->what = what;
  job->form = form;
  job->request = MPI_REQUEST_NULL;
  job->sent = sent;
  job->received = received;
  job->checked = received + 1; /* and one that nobody may touch */
  job->send = ints(sent);
  job->receive = ints(received);
  job->initial = ints(received);
  job->expected = ints(received);
  return job;
}
/* To call when `initial` is complete. */
static inline void ready(struct job* job) {
  memcpy(job->receive, job->initial, (size_t)(job->received + 1) * sizeof(int));
}

/* What the i-th int of the piece is that `from` has for `to` in call number `number`. */
static inline int value(int number, int from, int to, int i) {
  return (number * 131 + from * 1009 + to * 10007 + i * 7) % 1000003;
}
static inline void fill(int* buffer, const struct layout* layout, int count, int number, int from,
                        int to) {
  for (int i = 0; i < count * layout->n; ++i)
    buffer[i / layout->n * layout->extent + layout->places[i % layout->n]] =
        value(number, from, to, i);
}

static inline void compare(const struct job* job, const char* when) {
  long i = 0;
  while (i < job->checked && job->receive[i] == job->expected[i]) ++i;
  if (i < job->checked)
    check_failed(__FILE__, __LINE__, job->what, "%s (form %d): [%ld] of %ld is %d, expected %d",
                 when, job->form, i, job->received, job->receive[i], job->expected[i]);
}
static inline void shift(int* data, long n) {
  for (long i = 0; i < n; ++i)
    if (data[i] != GUARD) data[i] += DELTA;
}
/* Waits for a job, checks what came of it; starts persistent ones again. */
static inline void end_job(struct job* job) {
  if (job->request != MPI_REQUEST_NULL) CHECK_OK(MPI_Wait(&job->request, MPI_STATUS_IGNORE));
  compare(job, "first");
  if (job->form == REPEATED) {
    CHECK(job->request != MPI_REQUEST_NULL, "%s: the persistent request is gone", job->what);
    if (job->again == 2) {
      shift(job->send, job->sent);
      shift(job->initial, job->received);
      shift(job->expected, job->received);
    }
    ready(job);
    CHECK_OK(MPI_Start(&job->request));
    CHECK_OK(MPI_Wait(&job->request, MPI_STATUS_IGNORE));
    compare(job, "again");
    CHECK_OK(MPI_Request_free(&job->request));
  }
  CHECK(job->request == MPI_REQUEST_NULL, "%s: the request is left", job->what);
  free(job->send);
  free(job->receive);
  free(job->initial);
  free(job->expected);
  free(job);
}

static inline int start_it(int result, MPI_Request* request) {
  return result == MPI_SUCCESS ? MPI_Start(request) : result;
}
/* MPI_Name, MPI_Iname, or MPI_Name_init and MPI_Start. */
#define CALL(job, Name, name, ...)                                                       \
  CHECK_OK((job)->form == BLOCKING ? MPI_##Name(__VA_ARGS__)                             \
           : (job)->form == POSTED                                                       \
               ? MPI_I##name(__VA_ARGS__, &(job)->request)                               \
               : start_it(PERSISTENT(Name)(__VA_ARGS__, MPI_INFO_NULL, &(job)->request), \
                          &(job)->request))

/* Jobs under way, which end in any order, the same on all ranks. */
enum { UNDER_WAY = 5 };
static struct job* under_way[UNDER_WAY];
static int jobs_under_way;

static inline void end_one(int which) {
  struct job* job = under_way[which];
  under_way[which] = under_way[--jobs_under_way];
  end_job(job);
}
static inline void add_job(struct job* job, int again) {
  job->again = again;
  if (job->form == BLOCKING) {
    end_job(job);
    return;
  }
  if (jobs_under_way == UNDER_WAY) end_one((int)random_below(UNDER_WAY));
  under_way[jobs_under_way++] = job;
}
static inline void end_all(void) {
  while (jobs_under_way > 0) end_one(jobs_under_way - 1);
}

