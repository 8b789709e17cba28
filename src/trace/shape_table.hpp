// ShapeTable: the shapes that a writer has defined, found by their bytes.
//
// Holds at most kMostShapes. When all places are taken, a shape that was not
// used since the last look makes room (second chance), so that a program whose
// every call is different costs no memory. Private to src/trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/encoding.hpp"

namespace foretrace::trace {

class ShapeTable {
 public:
  struct Place {
    std::uint32_t number = 0;
    std::uint32_t owner = 0;  // counts the shapes that had this number
    bool added = false;
  };

  // The place of the shape, which is added if it is new. False if there is no
  // memory for it.
  bool find_or_add(std::span<const std::uint8_t> bytes, Place& place) noexcept;
  // The shape found there before is used again. False: another one has its place.
  bool use(const Place& place) noexcept {
    Slot& slot = slots_[place.number];
    if (slot.owner != place.owner) return false;
    slot.recent = true;
    return true;
  }

 private:
  static constexpr std::uint16_t kNone = UINT16_MAX;
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t owner = 0;
    std::vector<std::uint8_t> bytes;
    std::uint16_t next = kNone;  // in its bucket
    bool recent = false;
  };

  std::uint16_t find(std::span<const std::uint8_t> bytes, std::uint64_t hash) const noexcept;
  std::uint16_t free_slot();
  std::uint16_t& bucket(std::uint64_t hash) { return buckets_[hash % kMostShapes]; }

  std::vector<Slot> slots_;
  std::vector<std::uint16_t> buckets_;
  std::size_t hand_ = 0;
};

}  // namespace foretrace::trace
