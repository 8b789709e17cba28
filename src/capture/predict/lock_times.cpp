#include "capture/predict/lock_times.hpp"

#include "capture/session/session.hpp"

namespace foretrace::capture {
namespace {

// Where at a target the latest of these times lies.
enum Slot : MPI_Aint { kExclusive, kAny };
constexpr int kSlots = 2;

// `access` to the target's times.
template <class Access>
void reach(MPI_Win window, int target, Access access) {
  wait_in([&] {
    PMPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    access();
    return PMPI_Win_unlock(target, window);
  });
}

}  // namespace

void LockTimes::make(MPI_Comm comm) {
  std::int64_t* times = nullptr;
  const int made = wait_in([&] {
    return PMPI_Win_allocate(kSlots * sizeof(std::int64_t), sizeof(std::int64_t), MPI_INFO_NULL,
                             comm, &times, &window_);
  });
  if (made != MPI_SUCCESS) {
    window_ = MPI_WIN_NULL;
    return;
  }
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  // Before anybody reaches them.
  PMPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window_);
  times[kExclusive] = times[kAny] = 0;
  PMPI_Win_unlock(rank, window_);
  wait_in([&] { return PMPI_Barrier(comm); });
}

void LockTimes::free() {
  if (window_ != MPI_WIN_NULL) wait_in([&] { return PMPI_Win_free(&window_); });
}

// Those that share a lock have waited for nobody but who had it alone.
Time LockTimes::held_until(int target, bool exclusive) const {
  std::int64_t latest = 0;
  if (window_ == MPI_WIN_NULL) return Time();
  reach(window_, target, [&] {
    PMPI_Fetch_and_op(nullptr, &latest, MPI_INT64_T, target, exclusive ? kAny : kExclusive,
                      MPI_NO_OP, window_);
  });
  return Time::ps(latest);
}

void LockTimes::give_back(int target, bool exclusive, Time when) const {
  if (window_ == MPI_WIN_NULL) return;
  const std::int64_t time = when.count_ps();
  reach(window_, target, [&] {
    for (const Slot slot : {kAny, kExclusive})
      if (slot == kAny || exclusive)
        PMPI_Accumulate(&time, 1, MPI_INT64_T, target, slot, 1, MPI_INT64_T, MPI_MAX, window_);
  });
}

}  // namespace foretrace::capture
