#include "shared/site_list.hpp"

#include <cstring>
#include <functional>
#include <new>

#include "shared/heap.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::live::sites {
namespace {

constexpr std::size_t kBuckets = 1024;

using Bucket = std::atomic<std::uint64_t>;

Bucket& bucket_of(std::string_view object, std::uint64_t offset) {
  const std::size_t hash = std::hash<std::string_view>()(object) ^ (offset * 0x9E3779B97F4A7C15u);
  return SharedMemory::at<Bucket>(SharedMemory::header().sites)[(hash >> 20) % kBuckets];
}

std::uint64_t new_entry(std::string_view object, std::uint64_t offset) {
  const std::uint64_t place = heap::allocate(sizeof(Entry) + object.size());
  if (place == 0) return 0;
  Entry& entry = *new (SharedMemory::at(place)) Entry;
  entry.offset = offset;
  entry.number = SharedMemory::header().site_count.fetch_add(1) + 1;
  entry.object_bytes = static_cast<std::uint32_t>(object.size());
  std::memcpy(&entry + 1, object.data(), object.size());
  return place;
}

}  // namespace

void begin() {
  const std::uint64_t place = heap::allocate(kBuckets * sizeof(Bucket));
  if (place == 0) return;
  for (std::size_t i = 0; i < kBuckets; ++i) new (SharedMemory::at<Bucket>(place) + i) Bucket(0);
  SharedMemory::header().sites = place;
}

std::uint64_t add(std::string_view object, std::uint64_t offset) {
  if (SharedMemory::header().sites == 0) return 0;
  Bucket& bucket = bucket_of(object, offset);
  std::uint64_t first = bucket.load(std::memory_order_acquire);
  for (std::uint64_t made = 0;;) {
    for (std::uint64_t place = first; place != 0;) {
      const Entry& entry = *SharedMemory::at<Entry>(place);
      if (entry.offset == offset && entry.object() == object) {
        if (made != 0) heap::free(made);
        return place;
      }
      place = entry.next;
    }
    if (made == 0) made = new_entry(object, offset);
    if (made == 0) return 0;
    SharedMemory::at<Entry>(made)->next = first;
    if (bucket.compare_exchange_strong(first, made, std::memory_order_acq_rel)) return made;
  }
}

}  // namespace foretrace::live::sites
