/* name.h - a file's name that no other run has, the same in all ranks. */
#pragma once

#include <unistd.h>

#include "check.h"

static inline const char* new_name(void) {
  static char name[200];
  static int count;
  int process = (int)getpid();
  const char* directory = getenv("TMPDIR");
  MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(name, sizeof name, "%s/foretrace-live-%d-%d", directory ? directory : "/tmp", process, count++);
  return name;
}

static inline int bytes_of(const MPI_Status* status) {
  int count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  return count;
}

