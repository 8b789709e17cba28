/* Dynamic windows: addresses for displacements; a list that all ranks build.
 * live: ranks 2 3 4 8
 * Open MPI 4.1 makes no such windows on one rank. */
#include "check.h"

typedef struct {
  long value;
  long next_rank;
  MPI_Aint next;
} Node;

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  int* cells = malloc(16 * sizeof(int));
  for (int i = 0; i < 16; ++i) cells[i] = 100 * check_rank + i;
  MPI_Win_attach(win, cells, 16 * sizeof(int));
  MPI_Aint here, there[64];
  MPI_Get_address(cells, &here);
  MPI_Allgather(&here, 1, MPI_AINT, there, 1, MPI_AINT, MPI_COMM_WORLD);
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  int got[16];
  MPI_Win_fence(0, win);
  MPI_Get(got, 16, MPI_INT, right, there[right], 16, MPI_INT, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < 16; ++i) CHECK_EQUAL(got[i], 100 * right + i);
  const int add = 7;
  MPI_Accumulate(&add, 1, MPI_INT, right, MPI_Aint_add(there[right], 12), 1, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(0, win);
  CHECK_EQUAL(cells[3], 100 * check_rank + 3 + 7);
  CHECK_EQUAL(cells[4], 100 * check_rank + 4);

  /* Each rank appends a node of its own to the list that begins at rank 0. */
  Node* node = malloc(sizeof *node);
  node->value = check_rank;
  node->next_rank = -1;
  node->next = 0;
  MPI_Win_attach(win, node, sizeof *node);
  MPI_Aint head;
  MPI_Get_address(node, &here);
  head = here;
  MPI_Bcast(&head, 1, MPI_AINT, 0, MPI_COMM_WORLD);
  for (int turn = 1; turn < check_size; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (turn != check_rank) continue;
    int rank = 0;
    MPI_Aint at = head;
    Node copy;
    for (;;) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
      MPI_Get(&copy, sizeof copy, MPI_BYTE, rank, at, sizeof copy, MPI_BYTE, win);
      MPI_Win_unlock(rank, win);
      if (copy.next_rank < 0) break;
      rank = (int)copy.next_rank;
      at = copy.next;
    }
    copy.next_rank = check_rank;
    copy.next = here;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    MPI_Put(&copy, sizeof copy, MPI_BYTE, rank, at, sizeof copy, MPI_BYTE, win);
    MPI_Win_unlock(rank, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, win);
  CHECK_EQUAL(node->next_rank, check_rank + 1 < check_size ? check_rank + 1 : -1);
  MPI_Win_unlock(check_rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_detach(win, node);
  MPI_Win_detach(win, cells);
  /* What was detached may be attached again. */
  MPI_Win_attach(win, cells, 4 * sizeof(int));
  MPI_Win_detach(win, cells);
  (void)left;
  MPI_Win_free(&win);
  free(node);
  free(cells);
  return check_end();
}
