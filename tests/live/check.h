/* check.h - what the programs of tests/live share: checks that count and name what is wrong.
 *
 * A program checks itself, goes on after a failed check where it can, and ends with
 * check_done(): 0 if all checks of this rank held, else 1. Each failed check prints one
 * line on standard error. live_test.py describes how the programs are run.
 */
#pragma once

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures;
static int check_rank = -1;
static int check_size;

static inline void check_failed(const char* file, int line, const char* what, const char* format,
                                ...) {
  ++check_failures;
  if (check_failures > 20) return;
  char more[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(more, sizeof more, format, arguments);
  va_end(arguments);
  fprintf(stderr, "%s:%d: rank %d of %d: %s: %s\n", file, line, check_rank, check_size, what, more);
}

/* CHECK(condition, "what there is instead", ...) */
#define CHECK(condition, ...)                                                       \
  do {                                                                              \
    if (!(condition)) check_failed(__FILE__, __LINE__, #condition, "" __VA_ARGS__); \
  } while (0)

/* Two whole numbers that have to be equal. */
#define CHECK_EQUAL(a, b)                                                                \
  do {                                                                                   \
    const long long check_a = (long long)(a), check_b = (long long)(b);                  \
    if (check_a != check_b)                                                              \
      check_failed(__FILE__, __LINE__, #a " == " #b, "%lld and %lld", check_a, check_b); \
  } while (0)

/* A call that has to succeed; under MPI_ERRORS_RETURN. */
#define CHECK_OK(call) CHECK_EQUAL(call, MPI_SUCCESS)

/* The class of the error that a call returns. */
static inline int class_of(int code) {
  int error_class = -1;
  MPI_Error_class(code, &error_class);
  return error_class;
}
#define CHECK_CLASS(call, error_class) CHECK_EQUAL(class_of(call), error_class)

static inline void check_init(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &check_size);
}

/* Whether this runs under the real MPI of this name ("mpich", "openmpi"; live_test.py --real),
 * which is known to get the thing wrong that is checked next. */
static inline int known_defect(const char* mpi) {
  const char* real = getenv("TESTS_LIVE_REAL");
  return real && !strcmp(real, mpi);
}

static inline int check_done(void) {
  return check_failures != 0;
}

/* Finalizes, and returns main's result. */
static inline int check_end(void) {
  MPI_Finalize();
  return check_done();
}

/* Compiled well even in programs that are not: there are many bytes. */
#ifdef __GNUC__
#define CHECK_FAST __attribute__((optimize("O2")))
#else
#define CHECK_FAST
#endif

/* Byte i of the message number `number` from rank `from`. */
CHECK_FAST static inline unsigned char check_byte(int from, int number, long i) {
  return (unsigned char)(from * 31 + number * 7 + i * 13 + (i >> 8));
}
CHECK_FAST static inline void check_fill(unsigned char* data, int from, int number, long bytes) {
  for (long i = 0; i < bytes; ++i) data[i] = check_byte(from, number, i);
}
/* Index of the first byte that is wrong; -1: none is. */
CHECK_FAST static inline long check_wrong(const unsigned char* data, int from, int number, long bytes) {
  for (long i = 0; i < bytes; ++i) {
    if (data[i] != check_byte(from, number, i)) return i;
  }
  return -1;
}
