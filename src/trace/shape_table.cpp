#include "trace/shape_table.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace foretrace::trace {
namespace {

// Eight bytes at a time, by multiplication with a large odd number.
std::uint64_t hash_of(std::span<const std::uint8_t> bytes) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15u;
  std::uint64_t hash = bytes.size();
  std::size_t at = 0;
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 32;
  };
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    mix(word);
  }
  std::uint64_t rest = 0;
  if (at < bytes.size()) std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
  mix(rest);
  return hash;
}

}  // namespace

std::uint16_t ShapeTable::find(std::span<const std::uint8_t> bytes,
                               std::uint64_t hash) const noexcept {
  if (buckets_.empty()) return kNone;
  std::uint16_t at = buckets_[hash % kMostShapes];
  while (at != kNone && !(slots_[at].hash == hash && std::ranges::equal(slots_[at].bytes, bytes)))
    at = slots_[at].next;
  return at;
}

// A new slot as long as there may be more, else one that was not used lately.
std::uint16_t ShapeTable::free_slot() {
  if (buckets_.empty()) buckets_.assign(kMostShapes, kNone);
  if (slots_.size() < kMostShapes) {
    slots_.emplace_back();
    return static_cast<std::uint16_t>(slots_.size() - 1);
  }
  while (slots_[hand_].recent) {
    slots_[hand_].recent = false;
    hand_ = (hand_ + 1) % kMostShapes;
  }
  const auto at = static_cast<std::uint16_t>(hand_);
  hand_ = (hand_ + 1) % kMostShapes;
  std::uint16_t* link = &bucket(slots_[at].hash);
  while (*link != at && *link != kNone) link = &slots_[*link].next;
  if (*link == at) *link = slots_[at].next;
  return at;
}

bool ShapeTable::find_or_add(std::span<const std::uint8_t> bytes, Place& place) noexcept {
  const std::uint64_t hash = hash_of(bytes);
  std::uint16_t at = find(bytes, hash);
  place.added = at == kNone;
  if (place.added) {
    try {
      std::vector<std::uint8_t> own(bytes.begin(), bytes.end());
      at = free_slot();
      slots_[at].bytes.swap(own);
    } catch (const std::bad_alloc&) {
      return false;
    }
    slots_[at].hash = hash;
    ++slots_[at].owner;
    slots_[at].next = bucket(hash);
    bucket(hash) = at;
  }
  slots_[at].recent = true;
  place.number = at;
  place.owner = slots_[at].owner;
  return true;
}

}  // namespace foretrace::trace
