/* What the programs of this folder have in common: a clock, the count of context
 * switches, and a page of memory that both ranks of a host see without MPI.
 * Nothing here comes from src/measure, which these programs judge. */
#pragma once

#define _GNU_SOURCE /* RUSAGE_THREAD */

#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds; one clock for all processes of a host. */
static inline int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline long switches(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

static inline void fail(const char* what) {
  fprintf(stderr, "bench/measure: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

/* A page of zeros, the same for both ranks of MPI_COMM_WORLD. */
static inline _Atomic int64_t* shared_page(void) {
  char name[64];
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(name, sizeof name, "/bench_measure_%ld", (long)getpid());
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  int file = -1;
  if (rank == 0) {
    file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0) fail("no shared memory");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) file = shm_open(name, O_RDWR, 0600);
  if (file < 0) fail("no shared memory");
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) fail("no shared memory");
  close(file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) shm_unlink(name);
  return page;
}
