#include "shared/horizon.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "shared/heap.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::live::horizon {
namespace {

constexpr std::size_t kMostRanks = 256;
constexpr std::size_t kContexts = 1024;  // of those that are the same, entries are counted together
constexpr std::int64_t kNever = INT64_MAX;

// Times in picoseconds.
struct Table {
  std::size_t ranks = 0;
  Time least_transfer;
  std::array<std::atomic<std::int64_t>, kMostRanks> floors{};
  std::atomic<std::uint32_t> lock{0};  // of what ranks wait for
  std::atomic<std::int64_t> least_wanted{kNever};
  std::array<std::atomic<std::int64_t>, kMostRanks> wanted;  // by rank; kNever: it does not wait
  std::array<std::atomic<std::uint64_t>, kContexts> entries{};

  Table() {
    for (auto& each : wanted) each.store(kNever, std::memory_order_relaxed);
  }
};

Table* table() {
  const std::uint64_t place = SharedMemory::header().horizon.load(std::memory_order_acquire);
  return place == 0 ? nullptr : SharedMemory::at<Table>(place);
}

// The least floor, and the least of all others.
struct Least {
  std::int64_t floor = kNever;
  std::size_t rank = 0;
  std::int64_t of_others = kNever;
};

Least find_least(const Table& table) {
  Least least;
  for (std::size_t r = 0; r < table.ranks; ++r) {
    const std::int64_t floor = table.floors[r].load(std::memory_order_seq_cst);
    if (floor < least.floor)
      least = {floor, r, least.floor};
    else
      least.of_others = std::min(least.of_others, floor);
  }
  return least;
}

void let_go_on_who_waits(Table& table) {
  std::array<int, kMostRanks> woken{};
  std::size_t count = 0;
  {
    const ShortLock lock(table.lock);
    const Least least = find_least(table);
    std::int64_t least_wanted = kNever;
    for (std::size_t r = 0; r < table.ranks; ++r) {
      const std::int64_t wanted = table.wanted[r].load(std::memory_order_relaxed);
      if (wanted == kNever) continue;
      if ((r == least.rank ? least.of_others : least.floor) < wanted) {
        least_wanted = std::min(least_wanted, wanted);
        continue;
      }
      table.wanted[r].store(kNever, std::memory_order_relaxed);
      if (stop_awaiting(static_cast<int>(r))) woken[count++] = static_cast<int>(r);
    }
    table.least_wanted.store(least_wanted, std::memory_order_seq_cst);
  }
  for (std::size_t i = 0; i < count; ++i) let_go_on(woken[i]);
}

}  // namespace

void begin(int ranks, Time least_transfer) {
  if (static_cast<std::size_t>(ranks) > kMostRanks) return;
  const std::uint64_t place = heap::allocate(sizeof(Table));
  if (place == 0) return;
  Table& table = *new (SharedMemory::at<Table>(place)) Table;
  table.ranks = static_cast<std::size_t>(ranks);
  table.least_transfer = least_transfer;
  SharedMemory::header().horizon.store(place, std::memory_order_release);
}

bool exists() {
  return table() != nullptr;
}

void raise(int rank, Time floor) {
  Table* const all = table();
  if (!all) return;
  std::atomic<std::int64_t>& own = all->floors[static_cast<std::size_t>(rank)];
  std::int64_t before = own.load(std::memory_order_relaxed);
  do {
    if (floor.count_ps() <= before) return;
  } while (!own.compare_exchange_weak(before, floor.count_ps(), std::memory_order_seq_cst));
  if (floor.count_ps() >= all->least_wanted.load(std::memory_order_seq_cst))
    let_go_on_who_waits(*all);
}

Time of(int rank) {
  const Table* const all = table();
  if (!all) return {};
  const Least least = find_least(*all);
  return Time::ps(static_cast<std::size_t>(rank) == least.rank ? least.of_others : least.floor);
}

Time least_transfer() {
  const Table* const all = table();
  return all ? all->least_transfer : Time();
}

void enter(std::uint32_t context) {
  if (Table* const all = table())
    all->entries[context % kContexts].fetch_add(1, std::memory_order_seq_cst);
}

std::uint64_t entries(std::uint32_t context) {
  const Table* const all = table();
  return all ? all->entries[context % kContexts].load(std::memory_order_seq_cst) : UINT64_MAX;
}

bool await(int rank, Time wanted) {
  Table* const all = table();
  if (!all) return false;
  {
    const ShortLock lock(all->lock);
    all->wanted[static_cast<std::size_t>(rank)].store(wanted.count_ps(), std::memory_order_relaxed);
    if (wanted.count_ps() < all->least_wanted.load(std::memory_order_relaxed))
      all->least_wanted.store(wanted.count_ps(), std::memory_order_seq_cst);
  }
  return of(rank) >= wanted;
}

bool others_bring(int rank, Time wanted) {
  const Table* const all = table();
  if (!all) return false;
  for (std::size_t r = 0; r < all->ranks; ++r)
    if (static_cast<int>(r) != rank &&
        all->floors[r].load(std::memory_order_relaxed) < wanted.count_ps() &&
        all->wanted[r].load(std::memory_order_relaxed) == kNever && !goes_on(static_cast<int>(r)))
      return false;
  return true;
}

void forget(int rank) {
  Table* const all = table();
  if (!all) return;
  const ShortLock lock(all->lock);
  all->wanted[static_cast<std::size_t>(rank)].store(kNever, std::memory_order_relaxed);
}

}  // namespace foretrace::live::horizon
