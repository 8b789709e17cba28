/* Reductions at random: all functions and forms, predefined and users' operations, commutative
   ones and not, datatypes with gaps, in place or not. Operands are exact: results have one value.
 */
#include "collectives.h"

enum { PRIME = 1009, COORDINATES = 4 };

/* An operation on a datatype, whose elements have one to four numbers. */
struct kind {
  MPI_Datatype type;
  MPI_Op op;
  int numbers;
  int extent;              /* in ints */
  int places[COORDINATES]; /* of the numbers, in ints */
};
enum { SUM, MAX, XOR, SUM_DOUBLE, MINLOC, MODULAR, MATRIX, SPARSE_MATRIX, KINDS };
static struct kind kinds[KINDS];
static int seed;   /* argument of the program */
static int number; /* of the call */

/* a op b on numbers, for elements of a kind. */
static void apply(int kind, const int* a, const int* b, int* result) {
  int out[COORDINATES] = {0};
  switch (kind) {
    case SUM:
    case SUM_DOUBLE:
      out[0] = a[0] + b[0];
      break;
    case MAX:
      out[0] = a[0] > b[0] ? a[0] : b[0];
      break;
    case XOR:
      out[0] = a[0] ^ b[0];
      break;
    case MINLOC: /* the smaller index of equal values */
      out[0] = a[0] < b[0] ? a[0] : b[0];
      out[1] = a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]) ? a[1] : b[1];
      break;
    case MODULAR:
      out[0] = a[0] * b[0] % PRIME;
      break;
    default:
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
          out[2 * i + j] = (a[2 * i] * b[j] + a[2 * i + 1] * b[2 + j]) % PRIME;
  }
  memcpy(result, out, sizeof out);
}

static void put(int kind, int* element, const int* numbers) {
  const double real = numbers[0];
  if (kind == SUM_DOUBLE) {
    memcpy(element, &real, sizeof real);
    return;
  }
  for (int i = 0; i < kinds[kind].numbers; ++i) element[kinds[kind].places[i]] = numbers[i];
}
static void get(int kind, const int* element, int* numbers) {
  for (int i = 0; i < kinds[kind].numbers; ++i) numbers[i] = element[kinds[kind].places[i]];
}

/* users' operations */
static void combine(int kind, const void* in, void* inout, int count) {
  for (int i = 0; i < count; ++i) {
    const int* left = (const int*)in + i * kinds[kind].extent;
    int* right = (int*)inout + i * kinds[kind].extent;
    int a[COORDINATES], b[COORDINATES];
    get(kind, left, a);
    get(kind, right, b);
    apply(kind, a, b, b);
    put(kind, right, b);
  }
}
static void modular(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  combine(MODULAR, in, inout, *count);
}
static void matrix(void* in, void* inout, int* count, MPI_Datatype* type) {
  combine(*type == kinds[MATRIX].type ? MATRIX : SPARSE_MATRIX, in, inout, *count);
}

static void make_kinds(void) {
  MPI_Op modulo, product;
  MPI_Op_create(modular, 1, &modulo);
  MPI_Op_create(matrix, 0, &product);
  MPI_Datatype dense, sparse, indexed;
  MPI_Type_contiguous(4, MPI_INT, &dense);
  MPI_Type_commit(&dense);
  int lengths[] = {1, 1, 2}, places[] = {5, 0, 2};
  MPI_Type_indexed(3, lengths, places, MPI_INT, &indexed);
  MPI_Type_create_resized(indexed, 0, 7 * (MPI_Aint)sizeof(int), &sparse);
  MPI_Type_commit(&sparse);
  MPI_Type_free(&indexed);
  const struct kind made[KINDS] = {
      {MPI_INT, MPI_SUM, 1, 1, {0}},        {MPI_INT, MPI_MAX, 1, 1, {0}},
      {MPI_INT, MPI_BXOR, 1, 1, {0}},       {MPI_DOUBLE, MPI_SUM, 1, 2, {0}},
      {MPI_2INT, MPI_MINLOC, 2, 2, {0, 1}}, {MPI_INT, modulo, 1, 1, {0}},
      {dense, product, 4, 4, {0, 1, 2, 3}}, {sparse, product, 4, 7, {5, 0, 2, 3}}};
  memcpy(kinds, made, sizeof made);
}

/* The operand's element: as its numbers. */
static void operand(int kind, int rank, int element, int* numbers) {
  for (int i = 0; i < kinds[kind].numbers; ++i)
    numbers[i] = (number * 31 + rank * 101 + element * 7 + i * 13 + rank * rank) % 97 + 1;
  if (kind == MINLOC) numbers[0] %= 5, numbers[1] = rank;
}

static void fill_operand(int kind, int rank, int count, int* buffer) {
  int numbers[COORDINATES];
  for (int i = 0; i < count; ++i) {
    operand(kind, rank, i, numbers);
    put(kind, buffer + i * kinds[kind].extent, numbers);
  }
}

/* Elements [first, first + count) of what ranks 0 to n - 1 make together. */
static void fill_result(int kind, int n, int first, int count, int* buffer) {
  for (int i = 0; i < count && n > 0; ++i) {
    int result[COORDINATES], next[COORDINATES];
    operand(kind, 0, first + i, result);
    for (int rank = 1; rank < n; ++rank) {
      operand(kind, rank, first + i, next);
      apply(kind, result, next, result);
    }
    put(kind, buffer + i * kinds[kind].extent, result);
  }
}

enum { REDUCE, ALLREDUCE, SCAN, EXSCAN, SCATTER, SCATTER_BLOCK, FUNCTIONS };

/* Reduce, allreduce, scan, exscan. */
static void whole(enum form form, MPI_Comm comm, int n, int me, int function) {
  static const char* const names[] = {"reduce", "allreduce", "scan", "exscan"};
  const int kind = (int)random_below(KINDS), root = (int)random_below((unsigned)n);
  const int count = (int)random_below(random_below(8) == 0 ? 3000 : 6);
  int in_place = (int)random_below(2);
  const struct kind* k = &kinds[kind];
  const int gets = function != REDUCE || me == root;
  if (!gets) in_place = 0;
  struct job* job =
      new_job(names[function], form, (long)count * k->extent, gets ? (long)count * k->extent : 0);
  fill_operand(kind, me, count, in_place ? job->initial : job->send);
  if (in_place) memcpy(job->expected, job->initial, (size_t)job->received * sizeof(int));
  if (gets)
    fill_result(kind,
                function == SCAN     ? me + 1
                : function == EXSCAN ? me
                                     : n,
                0, count, job->expected);
  if (function == EXSCAN && me == 0) job->checked = 0; /* undefined */
  ready(job);
  const void* send = in_place ? MPI_IN_PLACE : job->send;
  if (function == REDUCE)
    CALL(job, Reduce, reduce, send, job->receive, count, k->type, k->op, root, comm);
  if (function == ALLREDUCE)
    CALL(job, Allreduce, allreduce, send, job->receive, count, k->type, k->op, comm);
  if (function == SCAN) CALL(job, Scan, scan, send, job->receive, count, k->type, k->op, comm);
  if (function == EXSCAN)
    CALL(job, Exscan, exscan, send, job->receive, count, k->type, k->op, comm);
  add_job(job, 1);
}

static void parts(enum form form, MPI_Comm comm, int n, int me, int function) {
  int kind = (int)random_below(KINDS), in_place = (int)random_below(2);
#ifdef MPICH_VERSION
  /* It forgets the gaps. */
  if (function == SCATTER_BLOCK && kind == SPARSE_MATRIX && real_mpi()) kind = MATRIX;
#endif
  const struct kind* k = &kinds[kind];
  int counts[MOST], first = 0, total = 0;
  for (int i = 0; i < n; ++i) {
    counts[i] = function == SCATTER || i == 0 ? (int)random_below(5) : counts[0];
    if (i < me) first += counts[i];
    total += counts[i];
  }
  struct job* job =
      new_job(function == SCATTER ? "reduce_scatter" : "reduce_scatter_block", form,
              (long)total * k->extent, (long)(in_place ? total : counts[me]) * k->extent);
  memcpy(job->counts[0], counts, sizeof counts);
  fill_operand(kind, me, total, in_place ? job->initial : job->send);
  if (in_place) memcpy(job->expected, job->initial, (size_t)job->received * sizeof(int));
  fill_result(kind, n, first, counts[me], job->expected);
  if (in_place) job->checked = (long)counts[me] * k->extent; /* the rest is undefined */
  ready(job);
  const void* send = in_place ? MPI_IN_PLACE : job->send;
  if (function == SCATTER)
    CALL(job, Reduce_scatter, reduce_scatter, send, job->receive, job->counts[0], k->type, k->op,
         comm);
  else
    CALL(job, Reduce_scatter_block, reduce_scatter_block, send, job->receive, counts[0], k->type,
         k->op, comm);
  add_job(job, 1);
}

static void try_all(MPI_Comm comm, int calls) {
  int n, me;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &me);
  for (int i = 0; i < calls; ++i, ++number) {
    const enum form form = any_form();
    const int function = (int)random_below(FUNCTIONS);
    if (function < SCATTER)
      whole(form, comm, n, me, function);
    else
      parts(form, comm, n, me, function);
  }
  end_all();
}

/* Sums that depend on the order are the same everywhere. */
static void same_everywhere(void) {
  double mine = 1.0 / (3 + check_rank), sum = 0, *sums = malloc((size_t)check_size * sizeof sum);
  for (int i = 0; i < check_rank; ++i) mine *= -1.7;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allgather(&sum, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int i = 0; i < check_size; ++i)
    CHECK(memcmp(&sums[i], &sum, sizeof sum) == 0, "rank %d has %.17g, here %.17g", i, sums[i],
          sum);
  free(sums);
}

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  seed = argc > 1 ? atoi(argv[1]) : 0;
  make_kinds();
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, check_rank % 3 == 0, -check_rank, &part);
  random_state = seed + 21;
  try_all(MPI_COMM_WORLD, 150);
  random_state = seed + 22 + (check_rank % 3 == 0);
  try_all(part, 100);
  try_all(MPI_COMM_SELF, 30);
  same_everywhere();
  MPI_Comm_free(&part);
  MPI_Type_free(&kinds[MATRIX].type);
  MPI_Type_free(&kinds[SPARSE_MATRIX].type);
  MPI_Op_free(&kinds[MODULAR].op);
  MPI_Op_free(&kinds[MATRIX].op);
  return check_end();
}
