/* Plain MPI loops on 2 ranks of one host: the truth that a machine model is
 * judged by. The definitions are those of docs/measure.md; the code shares
 * nothing with src/measure.
 *
 *   bench_fresh BLOCKS SEED START BUFFERS FUNCTION:BYTES ...
 *
 * START is `rounds` (a block's starts are agreed on once, at a fixed distance),
 * `each` (the start is agreed on before every repetition) or `none` (a repetition
 * follows the last). BUFFERS is `warm` (the same places, written before they are
 * sent) or `cold` (the next places of a pool that no cache holds). FUNCTION is send (which also gives recv), or another in the
 * table below. Points are visited in random order, each until BLOCKS blocks are
 * undisturbed.
 *
 * Prints "# key value" lines (the state of the machine, before and after) and
 * "function,bytes,seconds,kept" for every block: the mean of the middle half of
 * its repetitions, and whether no rank was switched out in it. */
#include "shared.h"

#include <math.h>
#include <string.h>

enum { kMost = 30, kTag = 7, kLong = 30000 };

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank;
static enum { kRounds, kEach, kNone } start_by;
static char* out;
static char* in;
/* Cold: where the pool begins and how far its places go. */
static char* pool;
static size_t pool_used;
enum { kPool = 256 << 20, kPage = 4096, kLine = 64 };
static double clock_ns; /* what two readings in a row are apart */

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}
static double median(double* values, int n) {
  if (n == 0) return NAN;
  qsort(values, n, sizeof *values, ascending);
  return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}
/* The mean of the middle half: what alternates between two values (as receives
 * do when two messages share a cache line) is averaged, interruptions are not. */
static double midmean(double* values, int n) {
  qsort(values, n, sizeof *values, ascending);
  double sum = 0;
  int count = 0;
  for (int i = n / 4; i < n - n / 4; ++i, ++count) sum += values[i];
  return sum / count;
}

/* ---- the calls ---- */

static void send_one(int bytes) {
  if (rank == 0)
    MPI_Send(out, bytes, MPI_CHAR, 1, kTag, world);
  else
    MPI_Recv(in, bytes, MPI_CHAR, 0, kTag, world, MPI_STATUS_IGNORE);
}
static void pingpong(int bytes) {
  if (rank == 0) {
    MPI_Send(out, bytes, MPI_CHAR, 1, kTag, world);
    MPI_Recv(out, bytes, MPI_CHAR, 1, kTag, world, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(out, bytes, MPI_CHAR, 0, kTag, world, MPI_STATUS_IGNORE);
    MPI_Send(out, bytes, MPI_CHAR, 0, kTag, world);
  }
}
static void sendrecv(int bytes) {
  MPI_Sendrecv(out, bytes, MPI_CHAR, 1 - rank, kTag, in, bytes, MPI_CHAR, 1 - rank, kTag, world,
               MPI_STATUS_IGNORE);
}
static void bcast(int bytes) {
  MPI_Bcast(out, bytes, MPI_CHAR, 0, world);
}
static void allreduce(int bytes) {
  MPI_Allreduce(out, in, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, world);
}

static void ssend(int bytes) {
  if (rank == 0)
    MPI_Ssend(out, bytes, MPI_CHAR, 1, kTag, world);
  else
    MPI_Recv(in, bytes, MPI_CHAR, 0, kTag, world, MPI_STATUS_IGNORE);
}
static void reduce(int bytes) {
  MPI_Reduce(out, in, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, 0, world);
}
static void scan(int bytes) {
  MPI_Scan(out, in, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, world);
}
static void gather(int bytes) {
  MPI_Gather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, 0, world);
}
static void scatter(int bytes) {
  MPI_Scatter(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, 0, world);
}
static void allgather(int bytes) {
  MPI_Allgather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, world);
}
static void alltoall(int bytes) {
  MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, world);
}

/* When a function is over: for rank 0, or when the later of both is done. */
enum Over { kFirstRank, kLaterRank };
struct Function {
  const char* name;
  void (*call)(int bytes);
  int written_by; /* the rank that writes the data before; 2: both */
  int parts;      /* how many times the bytes it sends */
  enum Over over;
};
static const struct Function functions[] = {{"send", send_one, 0, 1, kFirstRank},
                                            {"ssend", ssend, 0, 1, kFirstRank},
                                            {"pingpong", pingpong, 0, 1, kFirstRank},
                                            {"sendrecv", sendrecv, 2, 1, kLaterRank},
                                            {"bcast", bcast, 0, 1, kLaterRank},
                                            {"bcast_root", bcast, 0, 1, kFirstRank},
                                            {"reduce", reduce, 2, 1, kLaterRank},
                                            {"reduce_root", reduce, 2, 1, kFirstRank},
                                            {"allreduce", allreduce, 2, 1, kLaterRank},
                                            {"scan", scan, 2, 1, kLaterRank},
                                            {"gather", gather, 2, 1, kLaterRank},
                                            {"scatter", scatter, 0, 2, kLaterRank},
                                            {"allgather", allgather, 2, 1, kLaterRank},
                                            {"alltoall", alltoall, 2, 2, kLaterRank}};

struct Point {
  const struct Function* function;
  int bytes;
  int64_t pace; /* ns that a repetition needs; 0: not known yet */
};

/* Moves `out` and `in` on in the pool; both ranks alike. */
static void move_on(size_t bytes) {
  const size_t need = 2 * (bytes + kPage);
  if (pool_used + need > kPool) pool_used = 0;
  out = pool + pool_used;
  in = out + bytes + kPage;
  /* The next page and one line, so that nothing was fetched ahead. */
  pool_used += (need + kPage - 1) / kPage * kPage + kLine;
}

/* Whole doubles where there are any: denormal ones would make sums slow. */
static void write_data(const struct Point* point, double value) {
  if (pool) {
    move_on(2 * (size_t)point->bytes);
    return;
  }
  if (point->function->written_by != 2 && point->function->written_by != rank) return;
  const size_t bytes = (size_t)point->bytes * (size_t)point->function->parts;
  const size_t doubles = bytes / sizeof value;
  for (size_t i = 0; i < doubles; ++i) memcpy(out + i * sizeof value, &value, sizeof value);
  memset(out + doubles * sizeof value, 1, bytes % sizeof value);
}

/* ---- one block ---- */

struct Times {
  int64_t begin[kMost], end[kMost], busy[kMost], late[kMost], switched[kMost];
};

static int64_t spin(int64_t until) {
  int64_t reading;
  do reading = now();
  while (reading < until);
  return reading;
}

/* Rank 0 learns of both ranks' times; each repetition is started when both know of it. */
static void time_block(const struct Point* point, int repetitions, int64_t distance,
                       struct Times times[2]) {
  struct Times mine;
  memset(&mine, 0, sizeof mine);
  int64_t start = now() + 30000 + distance; /* the data have to be written before the first */
  MPI_Bcast(&start, 1, MPI_INT64_T, 0, world);
  /* Long calls are told apart one by one: a block of them is longer than the time
   * that a busy machine leaves a process alone. Short ones are not to be bothered. */
  const int one_by_one = distance > kLong;
  long before = switches();
  for (int i = 0; i < repetitions; ++i, start += distance) {
    const int64_t awake = now();
    write_data(point, 1.0 + i);
    if (start_by == kEach) {
      MPI_Barrier(world);
      start = now() + 5000;
      MPI_Bcast(&start, 1, MPI_INT64_T, 0, world);
    }
    if (start_by == kNone && i > 0) start = 0;
    const int64_t ready = now();
    mine.late[i] = start_by == kNone ? i == 0 : ready >= start;
    mine.begin[i] = spin(start);
    point->function->call(point->bytes);
    mine.end[i] = now();
    mine.busy[i] = mine.end[i] - mine.begin[i] + ready - awake;
    if (one_by_one) {
      const long after = switches();
      mine.switched[i] = after != before;
      before = after;
    }
  }
  if (!one_by_one) mine.switched[0] = switches() != before;
  if (rank == 1) {
    MPI_Send(&mine, sizeof mine, MPI_BYTE, 0, kTag, world);
  } else {
    times[0] = mine;
    MPI_Recv(&times[1], sizeof mine, MPI_BYTE, 1, kTag, world, MPI_STATUS_IGNORE);
  }
}

static int64_t later(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static void print_block(const char* name, int bytes, double* ns, int n, int kept) {
  printf("%s,%d,%.4g,%d\n", name, bytes, fmax(midmean(ns, n) - clock_ns, 0) * 1e-9, kept);
}

/* Rank 0: what the block says; 0 if no repetition in it is worth anything. Also
 * paces the next one. */
static int judge_block(struct Point* point, int repetitions, int64_t distance,
                       const struct Times times[2], int print) {
  double first[kMost], second[kMost], pace[kMost];
  int n = 0, late = 0;
  const int one_by_one = distance > kLong;
  for (int i = 0; i < repetitions; ++i) {
    const int64_t begin = later(times[0].begin[i], times[1].begin[i]);
    const int64_t end = later(times[0].end[i], times[1].end[i]);
    pace[i] = (double)later(times[0].busy[i], times[1].busy[i]);
    const int is_late = times[0].late[i] || times[1].late[i];
    late += is_late;
    if (is_late || (one_by_one && (times[0].switched[i] || times[1].switched[i]))) continue;
    first[n] = (double)(times[0].end[i] - times[0].begin[i]);
    second[n] = (double)(times[1].end[i] - times[1].begin[i]);
    if (point->function->over == kLaterRank) first[n] = (double)(end - begin);
    ++n;
  }
  const int64_t needed = (int64_t)median(pace, repetitions);
  point->pace = 4 * late > repetitions ? later(2 * point->pace, needed) : needed;
  if (one_by_one ? n == 0 : 2 * late > repetitions) return 0;
  const int kept = one_by_one || !(times[0].switched[0] || times[1].switched[0]);
  if (!print) return kept;
  print_block(point->function->name, point->bytes, first, n, kept);
  if (point->function->call == send_one) print_block("recv", point->bytes, second, n, kept);
  return kept;
}

/* A few messages of other sizes, both ways. Where in a line of the cache, and in the
 * library's ring of buffers, a message comes to lie depends on those before it;
 * with one size alone it would stay the same for a whole launch. */
static void shift(void) {
  char some[512] = {0};
  for (int i = rand() % 8; i >= 0; --i) {
    const int bytes = rand() % (int)sizeof some;
    MPI_Sendrecv(some, bytes, MPI_CHAR, 1 - rank, kTag, in, bytes, MPI_CHAR, 1 - rank, kTag, world,
                 MPI_STATUS_IGNORE);
  }
}

/* Returns how many repetitions were made, or 0 if the block is worth nothing; on
 * both ranks. */
static int run_block(struct Point* point, int print) {
  struct Times times[2];
  int64_t order[2] = {3, 20000 + point->bytes}; /* repetitions, distance: a first guess */
  if (rank == 0 && point->pace > 0) {
    order[1] = point->pace * 3 / 2 + 4000;
    order[0] = 1000000 / order[1];
    if (order[0] < 4) order[0] = 4;
    if (order[0] > kMost) order[0] = kMost;
  }
  MPI_Bcast(order, 2, MPI_INT64_T, 0, world);
  shift();
  time_block(point, (int)order[0], order[1], times);
  int usable = 0;
  if (rank == 0) usable = judge_block(point, (int)order[0], order[1], times, print);
  MPI_Bcast(&usable, 1, MPI_INT, 0, world);
  return usable ? (int)order[0] : 0;
}

static int agreed(int mine) {
  MPI_Bcast(&mine, 1, MPI_INT, 0, world);
  return mine;
}

/* As a benchmark does that repeats one call: not timed before the library's own
 * buffers have come round (MPICH's, 256 of them; until then a message of 1 KiB
 * takes a quarter longer), nor, for long messages, before the caches have settled
 * (some 40 calls of 500 KiB, the first of which take half as long again). Time in
 * which a rank was switched out warms nothing. Disturbed blocks are tried again,
 * but not for ever. */
static void visit(struct Point* point, int blocks) {
  enum { kWarm = 600, kWarmNs = 6000000 };
  const int64_t warm_by = now() + 10 * kWarmNs;
  for (int64_t done = 0; agreed(done < kWarm && done * point->pace < kWarmNs && now() < warm_by);)
    done += run_block(point, 0);
  const int64_t give_up = now() + 20000000 * (int64_t)blocks;
  for (int kept = 0; agreed(kept < blocks && now() < give_up);)
    kept += run_block(point, 1) > 0;
}

/* ---- the machine's state ---- */

/* Half a round trip of a cache line between the two ranks' cores, ns. */
static double bounce(_Atomic int64_t* line) {
  enum { kTrips = 200, kTries = 41 };
  double half[kTries];
  for (int k = 0; k < kTries; ++k) {
    MPI_Barrier(world);
    const int64_t begin = now();
    for (int64_t i = 1; i <= kTrips; ++i) {
      const int64_t base = 2 * (k * kTrips + i);
      if (rank == 0) {
        atomic_store_explicit(line, base - 1, memory_order_release);
        while (atomic_load_explicit(line, memory_order_acquire) != base) continue;
      } else {
        while (atomic_load_explicit(line, memory_order_acquire) != base - 1) continue;
        atomic_store_explicit(line, base, memory_order_release);
      }
    }
    half[k] = (double)(now() - begin) / (2.0 * kTrips);
  }
  /* The lower quartile: most of what disturbs only adds. */
  qsort(half, kTries, sizeof *half, ascending);
  return half[kTries / 4];
}

/* Bytes per ns of a copy of 256 KiB. */
static double copy_rate(void) {
  enum { kBytes = 256 << 10, kTries = 101 };
  double rate[kTries];
  for (int k = 0; k < kTries; ++k) {
    const int64_t begin = now();
    memcpy(in, out, kBytes);
    rate[k] = kBytes / (double)(now() - begin);
  }
  return median(rate, kTries);
}

static double clock_cost(void) {
  enum { kReadings = 10001 };
  static double apart[kReadings];
  int64_t before = now();
  for (int i = 0; i < kReadings; ++i) {
    const int64_t after = now();
    apart[i] = (double)(after - before);
    before = after;
  }
  return median(apart, kReadings);
}

static void print_state(const char* when, _Atomic int64_t* page) {
  atomic_store(page, 0);
  MPI_Barrier(world);
  const double half = bounce(page);
  const double rate = copy_rate();
  if (rank == 0) printf("# %s bounce_ns %.1f copy_bytes_per_ns %.2f\n", when, half, rate);
}

/* ---- the program ---- */

static struct Point parse_point(const char* text) {
  for (size_t f = 0; f < sizeof functions / sizeof *functions; ++f) {
    const size_t length = strlen(functions[f].name);
    if (strncmp(text, functions[f].name, length) == 0 && text[length] == ':')
      return (struct Point){&functions[f], atoi(text + length + 1), 0};
  }
  fail("usage: bench_fresh BLOCKS SEED rounds|each|none warm|cold FUNCTION:BYTES ...");
  return (struct Point){0};
}

static void shuffle(struct Point* points, int n) {
  for (int i = n - 1; i > 0; --i) {
    const int j = rand() % (i + 1);
    const struct Point keep = points[i];
    points[i] = points[j];
    points[j] = keep;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  if (size != 2 || argc < 6) fail("needs 2 ranks, BLOCKS SEED rounds|each|none warm|cold FUNCTION:BYTES ...");
  const int blocks = atoi(argv[1]);
  srand((unsigned)atoi(argv[2])); /* the same on both ranks */
  start_by = strcmp(argv[3], "each") == 0 ? kEach : strcmp(argv[3], "none") == 0 ? kNone : kRounds;
  const int n = argc - 5;
  struct Point* points = malloc((size_t)n * sizeof *points);
  size_t most = 1 << 20;
  for (int i = 0; i < n; ++i) {
    points[i] = parse_point(argv[5 + i]);
    if (2 * (size_t)points[i].bytes > most) most = 2 * (size_t)points[i].bytes;
  }
  if (strcmp(argv[4], "cold") == 0) {
    pool = malloc(kPool + 2 * kPage);
    memset(pool, 0, kPool + 2 * kPage);
    move_on(most);
  } else {
    out = malloc(most);
    in = malloc(most);
    memset(out, 0, most);
    memset(in, 0, most);
  }
  clock_ns = clock_cost();
  _Atomic int64_t* page = shared_page();
  if (rank == 0) printf("# clock_ns %.1f\n", clock_ns);
  print_state("before", page);
  shuffle(points, n);
  for (int i = 0; i < n; ++i) visit(&points[i], blocks);
  print_state("after", page);
  MPI_Finalize();
  return 0;
}
