/* Preloaded into an MPI program: each rank adds a line "BEGIN END" to the file ACCURACY_CLOCK, the
   seconds at which MPI_Init returned and MPI_Finalize was entered. A barrier follows MPI_Init, since
   ranks leave it milliseconds apart, and together in a prediction. Nothing else is touched: the time
   of a real run owes nothing to Foretrace. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double begin;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(void) {
  static int done;
  const char* name = getenv("ACCURACY_CLOCK");
  if (done++ || !name) return;
  char line[64];
  const int length = snprintf(line, sizeof line, "%.9f %.9f\n", begin, now());
  const int file = open(name, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (file < 0 || write(file, line, (size_t)length) != length) perror(name);
  if (file >= 0) close(file);
}

static void start(void) {
  PMPI_Barrier(MPI_COMM_WORLD);
  begin = now();
}

int MPI_Init(int* argc, char*** argv) {
  const int error = PMPI_Init(argc, argv);
  start();
  return error;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int error = PMPI_Init_thread(argc, argv, required, provided);
  start();
  return error;
}

int MPI_Finalize(void) {
  stop();
  return PMPI_Finalize();
}

/* An MPI's Fortran library may go past the three above. */
void mpi_init_(int* error) {
  void (*next)(int*) = (void (*)(int*))dlsym(RTLD_NEXT, "mpi_init_");
  next(error);
  start();
}

void mpi_init_thread_(int* required, int* provided, int* error) {
  void (*next)(int*, int*, int*) = (void (*)(int*, int*, int*))dlsym(RTLD_NEXT, "mpi_init_thread_");
  next(required, provided, error);
  start();
}

void mpi_finalize_(int* error) {
  void (*next)(int*) = (void (*)(int*))dlsym(RTLD_NEXT, "mpi_finalize_");
  stop();
  next(error);
}
