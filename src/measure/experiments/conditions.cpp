#include "measure/experiments/conditions.hpp"

#include <algorithm>
#include <vector>

#include "measure/experiments/clock.hpp"

namespace foretrace::measure {

bool waits_by_yielding(const Group& world) {
  constexpr std::int64_t kWait = 10'000'000;
  // In that time the scheduler takes a core away a few times, somebody who yields gives it
  // away every few microseconds.
  constexpr long kYields = 100;
  MPI_Barrier(world.comm);
  const long before = context_switches();
  if (world.rank == 0) spin_until(now_ns() + kWait, true);
  MPI_Bcast(nullptr, 0, MPI_CHAR, 0, world.comm);
  // All leave a barrier late, whatever way the broadcast took.
  MPI_Barrier(world.comm);
  int yields = context_switches() - before >= kYields && world.rank != 0;
  MPI_Allreduce(MPI_IN_PLACE, &yields, 1, MPI_INT, MPI_LOR, world.comm);
  return yields != 0;
}

std::uint64_t affordable_bytes(const Group& pair, std::uint64_t usual, std::uint64_t most) {
  constexpr int kTag = 6;
  constexpr std::int64_t kLongest = 50'000'000, kLongestBeyond = 10'000'000;
  constexpr std::uint64_t kLeast = 256 << 10;
  std::vector<char> buffer(most);
  std::uint64_t bytes = std::min(most, kLeast);
  for (std::uint64_t next = bytes; next <= most; next *= 2) {
    const int count = static_cast<int>(next);
    std::int64_t taken = now_ns();
    if (pair.rank == 0) {
      MPI_Send(buffer.data(), count, MPI_CHAR, 1, kTag, pair.comm);
      MPI_Recv(nullptr, 0, MPI_CHAR, 1, kTag, pair.comm, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(buffer.data(), count, MPI_CHAR, 0, kTag, pair.comm, MPI_STATUS_IGNORE);
      MPI_Send(nullptr, 0, MPI_CHAR, 0, kTag, pair.comm);
    }
    taken = now_ns() - taken;
    MPI_Bcast(&taken, 1, MPI_INT64_T, 0, pair.comm);
    if (taken > (next > usual ? kLongestBeyond : kLongest)) return bytes;
    bytes = next;
  }
  return most;
}

bool has_windows(const Group& world) {
  MPI_Comm comm;
  MPI_Comm_dup(world.comm, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  void* memory = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  const int code = MPI_Win_allocate(sizeof(double), 1, MPI_INFO_NULL, comm, &memory, &window);
  const bool made = code == MPI_SUCCESS && window != MPI_WIN_NULL;
  int all = made;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, world.comm);
  if (made && all) MPI_Win_free(&window);
  MPI_Comm_free(&comm);
  return all != 0;
}

}  // namespace foretrace::measure
