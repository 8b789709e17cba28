#include "shared/heap.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <map>

#include "shared/shared_memory.hpp"

namespace foretrace::live::heap {
namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr int kSmallestShift = 7;  // with its head, a block is at least 128 bytes
constexpr int kLargestShift = 19;
constexpr int kShifts = kLargestShift - kSmallestShift + 1;
constexpr std::uint64_t kChunk = 1 << 20;
constexpr std::uint64_t kPage = 4096;
// From this size on the pages of a free block are given back.
constexpr std::uint64_t kGiveBack = 1 << 20;

// Before the block.
struct alignas(kAlignment) Head {
  std::int32_t owner = 0;
  std::int32_t shift = 0;   // size class; 0: a big block of `bytes`
  std::uint64_t bytes = 0;  // with its head
  std::uint64_t next = 0;   // in a list of free blocks
};

int self = -1;
std::uint64_t chunk_at = 0;
std::uint64_t chunk_end = 0;
std::uint64_t free_lists[kShifts];                                // places of heads
std::multimap<std::uint64_t, std::uint64_t>* big_free = nullptr;  // by size

Head* head_at(std::uint64_t place) {
  return SharedMemory::at<Head>(place);
}

std::atomic<std::uint64_t>& returned_to(std::int32_t owner) {
  return owner < 0 ? SharedMemory::header().simulator_returned : SharedMemory::slot(owner).returned;
}

void keep(std::uint64_t place) {
  Head& head = *head_at(place);
  if (head.shift == 0) {
    if (!big_free) big_free = new std::multimap<std::uint64_t, std::uint64_t>;
    big_free->emplace(head.bytes, place);
    return;
  }
  std::uint64_t& list = free_lists[head.shift - kSmallestShift];
  head.next = list;
  list = place;
}

void collect_returned() {
  std::uint64_t place = returned_to(self).exchange(0, std::memory_order_acquire);
  while (place != 0) {
    const std::uint64_t next = head_at(place)->next;
    keep(place);
    place = next;
  }
}

std::uint64_t extend(std::uint64_t bytes) {
  Header& header = SharedMemory::header();
  const std::uint64_t place = header.heap_end.fetch_add(bytes, std::memory_order_relaxed);
  return place + bytes <= header.total ? place : 0;
}

std::uint64_t take_big(std::uint64_t bytes) {
  if (!big_free) return 0;
  const auto found = big_free->lower_bound(bytes);
  if (found == big_free->end() || found->first > 2 * bytes) return 0;
  const std::uint64_t place = found->second;
  big_free->erase(found);
  return place;
}

std::uint64_t allocate_big(std::uint64_t bytes) {
  bytes = (bytes + kPage - 1) / kPage * kPage;
  std::uint64_t place = take_big(bytes);
  if (place == 0) {
    collect_returned();
    place = take_big(bytes);
  }
  if (place == 0) {
    place = extend(bytes);
    if (place == 0) return 0;
    *head_at(place) = {self, 0, bytes, 0};
  }
  return place + sizeof(Head);
}

}  // namespace

void begin(int rank) {
  self = rank;
}

std::uint64_t allocate(std::uint64_t bytes) {
  const std::uint64_t needed = bytes + sizeof(Head);
  if (needed < bytes) return 0;
  if (needed > std::uint64_t{1} << kLargestShift) return allocate_big(needed);
  const int shift = std::max(kSmallestShift, static_cast<int>(std::bit_width(needed - 1)));
  std::uint64_t& list = free_lists[shift - kSmallestShift];
  if (list == 0) collect_returned();
  if (list != 0) {
    const std::uint64_t place = list;
    list = head_at(place)->next;
    return place + sizeof(Head);
  }
  const std::uint64_t size = std::uint64_t{1} << shift;
  if (chunk_end - chunk_at < size) {
    const std::uint64_t chunk = extend(kChunk);
    if (chunk == 0) return 0;
    chunk_at = chunk;
    chunk_end = chunk + kChunk;
  }
  const std::uint64_t place = chunk_at;
  chunk_at += size;
  *head_at(place) = {self, shift, size, 0};
  return place + sizeof(Head);
}

void free(std::uint64_t place) {
  place -= sizeof(Head);
  Head& head = *head_at(place);
  if (head.shift == 0 && head.bytes >= kGiveBack)
    ::madvise(SharedMemory::at(place + kPage), head.bytes - kPage, MADV_REMOVE);
  if (head.owner == self) return keep(place);
  std::atomic<std::uint64_t>& stack = returned_to(head.owner);
  std::uint64_t top = stack.load(std::memory_order_relaxed);
  do {
    head.next = top;
  } while (!stack.compare_exchange_weak(top, place, std::memory_order_release));
}

}  // namespace foretrace::live::heap
