/* Calls whose numbers, sizes and lines a profile must tell.
 *
 *   profiled_calls            on at least 2 ranks
 *   profiled_calls block      rank 0 then waits in MPI_Recv for ever, the others are killed
 *   profiled_calls threads    4 threads of each rank call at the same time
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SENDS 100

static int rank, size;
static char buffer[4096];

static void send_or_receive(int bytes) {
  if (rank == 0) {
    MPI_Send(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD); /* send here */
  } else if (rank == 1) {
    MPI_Recv(buffer, sizeof buffer, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static __attribute__((noinline)) void small(void) {
  send_or_receive(8); /* small */
}

static __attribute__((noinline)) void large(void) {
  send_or_receive(1000); /* large */
}

static void on_own_communicator(void) {
  MPI_Comm half, copy;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_name(copy, "a copy");
  double value = rank, sum;
  for (int i = 0; i < 7; ++i) MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, half);
  MPI_Barrier(copy);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
}

static void persistent(void) {
  MPI_Request request;
  if (rank == 0)
    MPI_Send_init(buffer, 64, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
  else if (rank == 1)
    MPI_Recv_init(buffer, 64, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
  else
    return;
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

static void* call_often(void* unused) {
  (void)unused;
  for (int i = 0; i < 5000; ++i) {
    int initialized;
    MPI_Initialized(&initialized);
    MPI_Send(buffer, 16, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  int threads = strcmp(mode, "threads") == 0;
  int level;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (threads && level == MPI_THREAD_MULTIPLE) {
    pthread_t others[3];
    for (int i = 0; i < 3; ++i) pthread_create(&others[i], NULL, call_often, NULL);
    call_often(NULL);
    for (int i = 0; i < 3; ++i) pthread_join(others[i], NULL);
    MPI_Finalize();
    return 0;
  }
  for (int i = 0; i < SENDS; ++i) small();
  large();
  MPI_Pcontrol(0);
  MPI_Pcontrol(2);
  small();
  MPI_Pcontrol(1);
  on_own_communicator();
  persistent();
  if (strcmp(mode, "block") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(buffer, 1, MPI_CHAR, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* block */
    usleep(300000);
    raise(SIGKILL);
  }
  if (rank == 0) printf("profiled_calls: done\n");
  MPI_Finalize();
  return 0;
}
