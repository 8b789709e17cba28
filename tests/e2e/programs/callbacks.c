// Calls of MPI in functions that MPI calls. The letters of the first argument say in which:
// d: deletes an attribute, when a communicator is freed; w: when a window is; c: copies one; i: the
// same, posted; e: an error handler; g: a generalized request's; s: deletes an attribute of
// MPI_COMM_SELF, in MPI_Finalize. Rank r announces 10 * (r + 1) steps before each call that leads
// there.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foretrace.h"

static int rank, size, calls;

static void talk(int tag) {
  const int left = (rank + size - 1) % size;
  int in = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, tag, &in, 1, MPI_INT, left, tag,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (in != left) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Barrier(MPI_COMM_WORLD);
  ++calls;
}

static int delete_it(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)keyval, (void)value, (void)extra;
  int members;
  MPI_Comm_size(comm, &members);  // it is still there
  if (members != 1 && members != size) MPI_Abort(MPI_COMM_WORLD, 4);
  talk(1);
  return MPI_SUCCESS;
}

static int copy_it(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra;
  talk(2);
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_of_window(MPI_Win window, int keyval, void *value, void *extra) {
  (void)window, (void)keyval, (void)value, (void)extra;
  talk(5);
  return MPI_SUCCESS;
}

static void handle(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  talk(3);
}

static int query(void* extra, MPI_Status* status) {
  (void)extra;
  talk(4);
  MPI_Status_set_elements(status, MPI_INT, 1);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = 0;
  return MPI_SUCCESS;
}

static int free_it(void* extra) {
  (void)extra;
  return MPI_SUCCESS;
}

static int cancel(void* extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int keyval;
  MPI_Comm_create_keyval(strpbrk(argv[1], "ci") ? copy_it : MPI_COMM_NULL_COPY_FN, delete_it, &keyval,
                         NULL);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (strpbrk(argv[1], "cdi")) MPI_Comm_set_attr(comm, keyval, NULL);
  if (strchr(argv[1], 'c')) {
    MPI_Comm copy;
    FORETRACE_COMPUTE(10 * (rank + 1));
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_free(&copy);
  }
  if (strchr(argv[1], 'i')) {
    MPI_Comm copy;
    MPI_Request request;
    FORETRACE_COMPUTE(10 * (rank + 1));
    MPI_Comm_idup(comm, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
  }
  if (strchr(argv[1], 'w')) {
    int of_windows;
    MPI_Win window;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_of_window, &of_windows, NULL);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_attr(window, of_windows, NULL);
    FORETRACE_COMPUTE(10 * (rank + 1));
    MPI_Win_free(&window);
  }
  FORETRACE_COMPUTE(10 * (rank + 1));
  MPI_Comm_free(&comm);
  if (strchr(argv[1], 'e')) {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    FORETRACE_COMPUTE(10 * (rank + 1));
    MPI_Send(&rank, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
  }
  if (strchr(argv[1], 'g')) {
    MPI_Request request;
    MPI_Grequest_start(query, free_it, cancel, NULL, &request);
    MPI_Grequest_complete(request);
    FORETRACE_COMPUTE(10 * (rank + 1));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (strchr(argv[1], 's')) MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
  MPI_Comm_free_keyval(&keyval);
  FORETRACE_COMPUTE(10 * (rank + 1));
  MPI_Finalize();
  if (rank == 0) printf("%d calls\n", calls);
  return 0;
}
