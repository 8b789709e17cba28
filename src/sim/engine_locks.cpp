#include <algorithm>

#include "base/error.hpp"
#include "sim/engine_impl.hpp"

namespace foretrace::sim {

// Calls begin in the order of time and rank, so locks are granted in it.
void Engine::start_lock(Rank& rank) {
  if (!races_) fail(rank, "takes a lock, but its source says that nothing races");
  const Operation& operation = rank.operation;
  if (operation.locking == Locking::release) return release_lock(rank);
  ask_for_lock(rank);
  const bool exclusive = operation.locking == Locking::exclusive;
  Lock& lock = locks_[operation.lock];
  if (lock.holders.empty() || (lock.waiting.empty() && !exclusive && !lock.exclusive)) {
    lock.exclusive = exclusive;
    lock.holders.push_back(rank.id);
    return;
  }
  lock.waiting.push_back({rank.id, exclusive});
  ++rank.waiting_for;
}

// Takes no time but its own equation's; those who have waited longest go on: one that is exclusive,
// or all shared ones up to the next such.
void Engine::release_lock(Rank& rank) {
  const auto found = locks_.find(rank.operation.lock);
  const auto own = found == locks_.end() ? 0 : std::erase(found->second.holders, rank.id);
  if (own == 0) fail(rank, "releases a lock that it does not hold");
  if (rank.operation.one_sided != machine::OneSided::none)
    rank.leave = rank.enter + call_cost(rank);
  Lock& lock = found->second;
  while (!lock.waiting.empty()) {
    const LockWaiter next = lock.waiting.front();
    if (!lock.holders.empty() && (next.exclusive || lock.exclusive)) break;
    lock.waiting.pop_front();
    lock.exclusive = next.exclusive;
    lock.holders.push_back(next.rank);
    Rank& holder = rank_of(next.rank);
    holder.leave = std::max(holder.leave, rank.enter);
    if (log_ && holder.waiting_for == 1) log_grant(rank, holder);
    half_done(holder);
  }
  if (lock.holders.empty()) locks_.erase(found);
}

}  // namespace foretrace::sim
