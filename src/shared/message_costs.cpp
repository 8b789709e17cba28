#include "shared/message_costs.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <new>

#include "shared/heap.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::live::message_costs {
namespace {

constexpr std::int64_t kUnknown = -1;

struct Entry {
  std::atomic<std::uint64_t> size{UINT64_MAX};  // that: free
  std::array<std::atomic<std::int64_t>, static_cast<std::size_t>(MessageCost::kCount)> costs;

  Entry() {
    for (auto& cost : costs) cost.store(kUnknown, std::memory_order_relaxed);
  }
};

// Programs use few sizes. Those for which there is no room stay unknown.
constexpr std::size_t kEntries = 256;
constexpr std::size_t kMostTries = 8;
using CostTable = std::array<Entry, kEntries>;

// The entry of that size, or a free one where it would be; nullptr: neither.
Entry* look_up(Bytes size) {
  const std::uint64_t place = SharedMemory::header().message_costs.load(std::memory_order_acquire);
  if (place == 0) return nullptr;
  CostTable& table = *SharedMemory::at<CostTable>(place);
  const std::uint64_t hash = size.count * 0x9e3779b97f4a7c15U >> 32;
  for (std::size_t i = 0; i < kMostTries; ++i) {
    Entry& entry = table[(hash + i) % kEntries];
    const std::uint64_t own = entry.size.load(std::memory_order_acquire);
    if (own == size.count || own == UINT64_MAX) return &entry;
  }
  return nullptr;
}

std::atomic<std::int64_t>& cost_in(Entry& entry, MessageCost what) {
  return entry.costs[static_cast<std::size_t>(what)];
}

}  // namespace

void begin() {
  const std::uint64_t place = heap::allocate(sizeof(CostTable));
  if (place == 0) return;
  new (SharedMemory::at<CostTable>(place)) CostTable;
  SharedMemory::header().message_costs.store(place, std::memory_order_release);
}

bool is_known(Bytes size, MessageCost what) {
  Entry* const entry = look_up(size);
  return !entry || cost_in(*entry, what).load(std::memory_order_relaxed) != kUnknown;
}

void publish(Bytes size, MessageCost what, Time cost) {
  Entry* const entry = look_up(size);
  if (!entry) return;
  cost_in(*entry, what).store(cost.count_ps(), std::memory_order_release);
  entry->size.store(size.count, std::memory_order_release);
}

std::optional<Time> find(Bytes size, MessageCost what) {
  Entry* const entry = look_up(size);
  if (!entry || entry->size.load(std::memory_order_acquire) != size.count) return std::nullopt;
  const std::int64_t cost = cost_in(*entry, what).load(std::memory_order_acquire);
  return cost == kUnknown ? std::nullopt : std::optional(Time::ps(cost));
}

}  // namespace foretrace::live::message_costs
