#include <atomic>

#include "live_impl.hpp"
#include "mpi/collective/gathered.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/line.hpp"
#include "mpi/onesided/lock.hpp"
#include "mpi/onesided/pending.hpp"
#include "mpi/onesided/polling.hpp"
#include "mpi/onesided/state.hpp"
#include "mpi/p2p/own_messages.hpp"
#include "mpi/p2p/request.hpp"

namespace foretrace::mpi {

using machine::OneSided;

namespace {

int check_window(Win* win) {
  return win ? MPI_SUCCESS : raise(win, MPI_ERR_WIN, "null or freed window");
}

int check_assertion(Win* win, int assertion, int allowed) {
  if ((assertion & ~allowed) == 0) return MPI_SUCCESS;
  return raise(win, MPI_ERR_ASSERT, "assertion " + std::to_string(assertion));
}

int check_target(Win* win, int rank) {
  const int members = win->comm->size();
  if (rank == MPI_PROC_NULL || (rank >= 0 && rank < members)) return MPI_SUCCESS;
  return raise(win, MPI_ERR_RANK,
               "rank " + std::to_string(rank) + ", expected 0 to " + std::to_string(members - 1));
}

// The group's members as ranks of the window.
int ranks_of(Win* win, Group* group, std::vector<int>& ranks) {
  if (!group) return raise(win, MPI_ERR_GROUP, "null or freed group");
  for (const int member : group->members) {
    const int rank = win->comm->group->index_of(member);
    if (rank == MPI_UNDEFINED)
      return raise(win, MPI_ERR_GROUP, "a process that is not in the window's group");
    ranks.push_back(rank);
  }
  return MPI_SUCCESS;
}

std::uint64_t lock_of(const Win& win, int target) {
  return win.state->locks + static_cast<std::uint64_t>(target);
}

void take_for_all(Win& win, int target) {
  if (win.state->checks_all && win.state->taken.insert(target).second)
    lock(lock_of(win, target), true);
}

bool has_accessed(const WinState& state, int target) {
  return target < 0 ? !state.accessed.empty() : state.accessed.contains(target);
}

// Waits for the accesses to `target`, -1: to all.
Record flush_record(Win& win, OneSided how, int target) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (how == OneSided::flush && target < 0) win.state->accessed.clear();
  if (how == OneSided::flush) win.state->accessed.erase(target);
  return one_sided_record(win, how, target);
}

// At the end of an epoch: before anybody may look.
void flush_open(Win& win, int target) {
  if (!has_accessed(*win.state, target)) return;
  Record record = flush_record(win, OneSided::flush, target);
  line.post(record);
}

int flush_target(MPI_Win handle, OneSided how, int rank) {
  Win* win = get(handle);
  if (const int error = check_window(win)) return error;
  if (const int error = check_target(win, rank)) return error;
  const WinState& state = *win->state;
  if (rank != MPI_PROC_NULL && !state.locked_all && !state.locked.contains(rank))
    return raise(win, MPI_ERR_RMA_SYNC,
                 "flush of rank " + std::to_string(rank) + " without a lock");
  if (rank != MPI_PROC_NULL) {
    Record record = flush_record(*win, how, rank);
    line.ask(record);
  }
  polling.pass_turn(*win);
  return take_access_error(*win);
}

int flush_every_target(MPI_Win handle, OneSided how) {
  Win* win = get(handle);
  if (const int error = check_window(win)) return error;
  if (!win->state->locked_all && win->state->locked.empty())
    return raise(win, MPI_ERR_RMA_SYNC, "flush without a lock");
  Record record = flush_record(*win, how, -1);
  line.ask(record);
  polling.pass_turn(*win);
  return take_access_error(*win);
}

}  // namespace

Record one_sided_record(const Win& win, OneSided what, int target) {
  Record record = line.record(trace::EventKind::call);
  record.one_sided = static_cast<std::uint8_t>(what);
  record.comm = win.comm->context;
  record.send_peer = target < 0 ? -1 : win.comm->world(target);
  return record;
}

bool reach_target(Win& win, int target, bool passive_only) {
  WinState& state = *win.state;
  if (state.locked.contains(target)) return true;
  if (state.locked_all) {
    take_for_all(win, target);
    return true;
  }
  if (passive_only) return false;
  if (!state.started) return state.fenced;
  const auto found = state.targets.find(target);
  if (found == state.targets.end()) return false;
  if (!found->second) receive_bytes(*win.comm, target, kPosted);
  found->second = true;
  return true;
}

bool may_meet_others(const Win& win, int target, bool combines) {
  const auto locked = win.state->locked.find(target);
  if (locked != win.state->locked.end()) return locked->second != Held::exclusive;
  return win.state->locked_all || combines;
}

namespace impl {

int Win_fence(int assertion, MPI_Win handle) {
  Win* win = get(handle);
  if (const int error = check_window(win)) return error;
  if (const int error = check_assertion(
          win, assertion,
          MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED))
    return error;
  WinState& state = *win->state;
  if (state.started || state.posted || !state.locked.empty() || state.locked_all)
    return raise(win, MPI_ERR_RMA_SYNC, "a fence while another epoch is open");
  flush_open(*win, -1);
  // A barrier whatever is asserted: operations after it move data at once, and
  // must not overtake the targets' fences.
  collective({.comm = win->comm}, Block());
  state.fenced = (assertion & MPI_MODE_NOSUCCEED) == 0;
  return take_access_error(*win);
}

int Win_start(MPI_Group group, int assertion, MPI_Win handle) {
  Win* win = get(handle);
  if (const int error = check_window(win)) return error;
  if (const int error = check_assertion(win, assertion, MPI_MODE_NOCHECK)) return error;
  WinState& state = *win->state;
  if (state.started || !state.locked.empty() || state.locked_all)
    return raise(win, MPI_ERR_RMA_SYNC, "an access epoch is open");
  std::vector<int> ranks;
  if (const int error = ranks_of(win, get(group), ranks)) return error;
  // The targets' posts are waited for where they are needed first: programs may
  // start before they post.
  const bool posted = (assertion & MPI_MODE_NOCHECK) != 0;
  for (const int rank : ranks) state.targets.emplace(rank, posted);
  state.started = true;
  state.fenced = false;
  return MPI_SUCCESS;
}

int Win_complete(MPI_Win handle) {
  Win* win = get(handle);
  if (const int error = check_window(win)) return error;
  WinState& state = *win->state;
  if (!state.started) return raise(win, MPI_ERR_RMA_SYNC, "no access epoch of MPI_Win_start");
  for (const auto& [target, posted] : state.targets) {
    if (!posted) receive_bytes(*win->comm, target, kPosted);
    flush_open(*win, target);
    send_bytes(*win->comm, target, kCompleted, nullptr, 0);
  }
  state.targets.clear();
  state.started = false;
  return take_access_error(*win);
}

int Win_post(MPI_Group group, int assertion, MPI_Win handle) {
  Win* win = get(handle);
  if (const int error = check_window(win)) return error;
  if (const int error =
          check_assertion(win, assertion, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT))
    return error;
  WinState& state = *win->state;
  if (state.posted) return raise(win, MPI_ERR_RMA_SYNC, "an exposure epoch is open");
  std::vector<int> ranks;
  if (const int error = ranks_of(win, get(group), ranks)) return error;
  // All without waiting, the receives too: whatever takes a rendezvous on the
  // machine, neither posts nor completes may hold each other up.
  for (const int rank : ranks)
    state.arrivals.push_back(handle_of(
        post_receive(*win->comm, rank, kCompleted, true, 0, [](std::span<const std::byte>) {})));
  if ((assertion & MPI_MODE_NOCHECK) == 0)
    for (const int rank : ranks)
      state.arrivals.push_back(handle_of(
          post_send(*win->comm, rank, kPosted, true, machine::SendMode::standard, Block())));
  state.posted = true;
  state.fenced = false;
  return MPI_SUCCESS;
}

int Win_wait(MPI_Win handle) {
  Win* win = get(handle);
  if (const int error = check_window(win)) return error;
  WinState& state = *win->state;
  if (!state.posted) return raise(win, MPI_ERR_RMA_SYNC, "no exposure epoch of MPI_Win_post");
  Waitall(static_cast<int>(state.arrivals.size()), state.arrivals.data(), MPI_STATUSES_IGNORE);
  state.arrivals.clear();
  state.posted = false;
  return MPI_SUCCESS;
}

int Win_test(MPI_Win handle, int* flag) {
  Win* win = get(handle);
  if (const int error = check_window(win)) return error;
  WinState& state = *win->state;
  if (!state.posted) return raise(win, MPI_ERR_RMA_SYNC, "no exposure epoch of MPI_Win_post");
  *flag = 0;
  Testall(static_cast<int>(state.arrivals.size()), state.arrivals.data(), flag,
          MPI_STATUSES_IGNORE);
  if (!*flag) return MPI_SUCCESS;
  state.arrivals.clear();
  state.posted = false;
  return MPI_SUCCESS;
}

int Win_lock(int lock_type, int rank, int assertion, MPI_Win handle) {
  Win* win = get(handle);
  if (const int error = check_window(win)) return error;
  if (lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED)
    return raise(win, MPI_ERR_LOCKTYPE, "lock type " + std::to_string(lock_type));
  if (const int error = check_target(win, rank)) return error;
  if (const int error = check_assertion(win, assertion, MPI_MODE_NOCHECK)) return error;
  WinState& state = *win->state;
  if (state.locked_all || state.started || state.locked.contains(rank))
    return raise(win, MPI_ERR_RMA_SYNC, "an access epoch is open");
  const bool checks = (assertion & MPI_MODE_NOCHECK) == 0;
  if (checks && rank != MPI_PROC_NULL) {
    const bool shared = lock_type == MPI_LOCK_SHARED;
    Record record = one_sided_record(*win, shared ? OneSided::lock_shared : OneSided::lock, rank);
    lock(record, lock_of(*win, rank), shared);
  }
  state.locked[rank] = !checks                           ? Held::unchecked
                       : lock_type == MPI_LOCK_EXCLUSIVE ? Held::exclusive
                                                         : Held::shared;
  state.fenced = false;
  return MPI_SUCCESS;
}

int Win_unlock(int rank, MPI_Win handle) {
  Win* win = get(handle);
  if (const int error = check_window(win)) return error;
  if (const int error = check_target(win, rank)) return error;
  WinState& state = *win->state;
  const auto found = state.locked.find(rank);
  if (found == state.locked.end())
    return raise(win, MPI_ERR_RMA_SYNC, "rank " + std::to_string(rank) + " is not locked");
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (rank != MPI_PROC_NULL) {
    flush_open(*win, rank);
    Record record = one_sided_record(*win, OneSided::unlock, rank);
    if (found->second != Held::unchecked)
      unlock(record, lock_of(*win, rank));
    else
      line.post(record);
  }
  state.locked.erase(found);
  polling.pass_turn(*win);
  return take_access_error(*win);
}

int Win_lock_all(int assertion, MPI_Win handle) {
  Win* win = get(handle);
  if (const int error = check_window(win)) return error;
  if (const int error = check_assertion(win, assertion, MPI_MODE_NOCHECK)) return error;
  WinState& state = *win->state;
  if (state.locked_all || state.started || !state.locked.empty())
    return raise(win, MPI_ERR_RMA_SYNC, "an access epoch is open");
  state.locked_all = true;
  state.checks_all = (assertion & MPI_MODE_NOCHECK) == 0;
  state.fenced = false;
  if (state.checks_all) {
    Record record = one_sided_record(*win, OneSided::lock_shared, -1);
    line.post(record);
  }
  // Locks are taken with the first operation on a target, except those whose
  // memory the program may reach without operations.
  if (win->flavor != MPI_WIN_FLAVOR_SHARED)
    take_for_all(*win, win->comm->rank);
  else
    for (int target = 0; target < win->comm->size(); ++target) take_for_all(*win, target);
  return MPI_SUCCESS;
}

int Win_unlock_all(MPI_Win handle) {
  Win* win = get(handle);
  if (const int error = check_window(win)) return error;
  WinState& state = *win->state;
  if (!state.locked_all) return raise(win, MPI_ERR_RMA_SYNC, "no epoch of MPI_Win_lock_all");
  std::atomic_thread_fence(std::memory_order_seq_cst);
  flush_open(*win, -1);
  for (const int target : state.taken) unlock(lock_of(*win, target));
  Record record = one_sided_record(*win, OneSided::unlock, -1);
  line.post(record);
  state.taken.clear();
  state.locked_all = false;
  polling.pass_turn(*win);
  return take_access_error(*win);
}

int Win_flush(int rank, MPI_Win win) {
  return flush_target(win, OneSided::flush, rank);
}

int Win_flush_local(int rank, MPI_Win win) {
  return flush_target(win, OneSided::flush_local, rank);
}

int Win_flush_all(MPI_Win win) {
  return flush_every_target(win, OneSided::flush);
}

int Win_flush_local_all(MPI_Win win) {
  return flush_every_target(win, OneSided::flush_local);
}

int Win_sync(MPI_Win handle) {
  Win* win = get(handle);
  if (const int error = check_window(win)) return error;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  polling.look({win, -1, 0}, {});
  polling.pass_turn(*win);
  return MPI_SUCCESS;
}

}  // namespace impl
}  // namespace foretrace::mpi
