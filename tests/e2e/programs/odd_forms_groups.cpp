// Cases of odd_forms: two groups, windows, files.
#include <string>

#include "odd_forms.hpp"

namespace odd_forms {

// Ranks 0 and 2 on one side, 1 on the other.
void between() {
  MPI_Comm local, inter, copy, merged;
  MPI_Comm_split(world, rank % 2, rank, &local);
  FORETRACE_COMPUTE(100 * rank);
  MPI_Intercomm_create(local, 0, world, rank % 2 == 0 ? 1 : 0, 5, &inter);
  MPI_Comm_dup(inter, &copy);
  for (const MPI_Comm comm : {inter, copy}) {
    if (rank == 2) send(kLarge, 4, 0, 3, comm);
    if (rank == 1) receive(kLarge, 4, 1, 3, comm);
    FORETRACE_COMPUTE(70 * (3 - rank));
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == (rank == 1 ? 2 : 1));
    int value = rank == 2 ? 42 : 0;
    const int root = rank == 2 ? MPI_ROOT : rank == 0 ? MPI_PROC_NULL : 1;
    MPI_Bcast(&value, 1, MPI_INT, root, comm);
    CHECK(value == (rank == 0 ? 0 : 42));
    MPI_Request request;
    int parts[2] = {};
    MPI_Igather(&rank, 1, MPI_INT, parts, 1, MPI_INT, rank == 1 ? MPI_ROOT : 0, comm, &request);
    FORETRACE_COMPUTE(20);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1) CHECK(parts[0] == 0 && parts[1] == 2);
  }
  MPI_Intercomm_merge(copy, rank % 2, &merged);
  use(merged);
  for (MPI_Comm* comm : {&merged, &copy, &inter, &local}) MPI_Comm_free(comm);
}

// Calls that move nothing: of a rank beside the root, to MPI_PROC_NULL, of no bytes.
void nothing() {
  Numbers memory(100, -1), out(30, rank), in(30, -1);
  MPI_Comm local, inter;
  MPI_Comm_split(world, rank / 2, rank, &local);
  MPI_Intercomm_create(local, 0, world, rank < 2 ? 2 : 0, 5, &inter);
  FORETRACE_COMPUTE(100 * (3 - rank));
  const int root = rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0;
  MPI_Bcast(out.data(), 30, MPI_INT, root, inter);
  MPI_Reduce(out.data(), in.data(), 30, MPI_INT, MPI_SUM, root, inter);
  MPI_Gather(out.data(), 30, MPI_INT, in.data(), 30, MPI_INT, root, inter);
  MPI_Scatter(out.data(), 30, MPI_INT, in.data(), 30, MPI_INT, root, inter);
  CHECK(out == Numbers(30, rank == 1 ? 1 : 0) && in == Numbers(30, rank == 1 ? -1 : 0));
  MPI_Win win;
  MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.size() * sizeof(int)), sizeof(int),
                 MPI_INFO_NULL, world, &win);
  MPI_Win_fence(0, win);
  for (const int target : {MPI_PROC_NULL, (rank + 1) % size}) {
    const int count = target == MPI_PROC_NULL ? 30 : 0;
    MPI_Put(out.data(), count, MPI_INT, target, 0, count, MPI_INT, win);
    MPI_Get(in.data(), count, MPI_INT, target, 0, count, MPI_INT, win);
    MPI_Accumulate(out.data(), count, MPI_INT, target, 0, count, MPI_INT, MPI_SUM, win);
  }
  MPI_Win_fence(0, win);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  MPI_Request request;
  MPI_Rput(out.data(), 30, MPI_INT, MPI_PROC_NULL, 0, 30, MPI_INT, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock(rank, win);
  CHECK(memory == Numbers(100, -1));
  MPI_Win_free(&win);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&local);
}

// Communicators that only their own members make: leaders and others come late in turn, and rank 0
// has a part in some of it only.
void creations() {
  MPI_Group all, pair;
  MPI_Comm_group(world, &all);
  const int members[] = {2, 1};
  MPI_Group_incl(all, 2, members, &pair);
  for (const int late : {0, 1, 2}) {
    MPI_Comm made = MPI_COMM_NULL, local, inter, merged;
    if (rank == late) FORETRACE_COMPUTE(1000);
    if (rank != 0) {
      MPI_Comm_create_group(world, pair, 3, &made);
      MPI_Barrier(made);
    }
    MPI_Comm_split(world, rank % 2, rank, &local);
    FORETRACE_COMPUTE(rank == late ? 700 : 100 * rank);
    MPI_Intercomm_create(local, 0, world, rank % 2 == 0 ? 1 : 0, 7, &inter);
    FORETRACE_COMPUTE(10 * rank);
    MPI_Intercomm_merge(inter, rank % 2, &merged);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK(sum == 3);
    for (MPI_Comm* comm : {&merged, &inter, &local}) MPI_Comm_free(comm);
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    // Rank 0 is not of the group, and has made and freed a communicator before.
    MPI_Comm_create_group(world, pair, 4, &made);
    CHECK((made == MPI_COMM_NULL) == (rank == 0));
    if (made != MPI_COMM_NULL) MPI_Barrier(made), MPI_Comm_free(&made);
    MPI_Barrier(world);
  }
  MPI_Group_free(&pair);
  MPI_Group_free(&all);
}

void window() {
  Numbers memory(100, -1);
  MPI_Win win;
  FORETRACE_COMPUTE(300 * rank);
  MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.size() * sizeof(int)), sizeof(int),
                 MPI_INFO_NULL, world, &win);
  MPI_Win_fence(0, win);
  const Numbers out = numbers(50, 1000 * rank);
  FORETRACE_COMPUTE(100 * (3 - rank));
  MPI_Put(out.data(), 50, MPI_INT, (rank + 1) % size, 10, 50, MPI_INT, win);
  MPI_Win_fence(0, win);
  CHECK(memory[10] == 1000 * ((rank + 2) % 3) && memory[60] == -1);
  int got = 0;
  MPI_Get(&got, 1, MPI_INT, (rank + 1) % size, 10, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  CHECK(got == 1000 * rank);
  MPI_Win_free(&win);
}

// In the current directory.
void file() {
  MPI_File file;
  // Those that append meet no more often.
  MPI_File_open(world, "odd_forms.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_APPEND,
                MPI_INFO_NULL, &file);
  MPI_File_close(&file);
  FORETRACE_COMPUTE(200 * rank);
  MPI_File_open(world, "odd_forms.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  const Numbers out = numbers(25, 100 * rank);
  Numbers in(25);
  const MPI_Offset place = 100 * rank;
  MPI_File_write_at(file, place, out.data(), 25, MPI_INT, MPI_STATUS_IGNORE);
  FORETRACE_COMPUTE(50 * (3 - rank));
  MPI_File_sync(file);
  MPI_File_read_at_all(file, place, in.data(), 25, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(in == out);
  // All meet twice in each.
  FORETRACE_COMPUTE(30 * rank);
  MPI_File_write_ordered(file, out.data(), 25, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  FORETRACE_COMPUTE(20 * (3 - rank));
  MPI_File_read_ordered_begin(file, in.data(), 25, MPI_INT);
  MPI_File_read_ordered_end(file, in.data(), MPI_STATUS_IGNORE);
  CHECK(in == out);
  MPI_File_close(&file);
}

}  // namespace odd_forms
