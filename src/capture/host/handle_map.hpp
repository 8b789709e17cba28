// HandleMap: what belongs to a handle, for handles that come and go with every
// call: an open-addressing table, so that nothing is allocated for one. Knows
// nothing of MPI; for one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace foretrace::capture {

// A Value says by operator bool whether it is in use; a default one is not.
template <class Value>
class HandleMap {
 public:
  // nullptr: none. Good until the next get() or erase().
  Value* find(std::uint64_t handle) noexcept {
    if (used_ == 0) return nullptr;
    Slot& slot = slots_[place_of(handle)];
    return slot.value ? &slot.value : nullptr;
  }

  // The handle's value; if it is new, a default one, which must be in use before
  // the next call.
  Value& get(std::uint64_t handle) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    Slot& slot = slots_[place_of(handle)];
    if (!slot.value) {
      slot.handle = handle;
      ++used_;
    }
    return slot.value;
  }

  // Of a handle that is there. What lies behind moves up, so no mark is left.
  void erase(std::uint64_t handle) noexcept {
    std::size_t hole = place_of(handle);
    for (std::size_t i = next(hole); slots_[i].value; i = next(i)) {
      const std::size_t home = home_of(slots_[i].handle);
      // It may move if its home is not between the hole and its place.
      if (((i - home) & mask()) < ((i - hole) & mask())) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = Slot();
    --used_;
  }

 private:
  struct Slot {
    std::uint64_t handle = 0;
    Value value{};
  };

  std::size_t mask() const noexcept { return slots_.size() - 1; }
  std::size_t next(std::size_t i) const noexcept { return (i + 1) & mask(); }
  std::size_t home_of(std::uint64_t handle) const noexcept {
    return static_cast<std::size_t>(handle * 0x9E3779B97F4A7C15u >> 32) & mask();
  }
  std::size_t place_of(std::uint64_t handle) const noexcept {
    std::size_t i = home_of(handle);
    while (slots_[i].value && slots_[i].handle != handle) i = next(i);
    return i;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.value) slots_[place_of(slot.handle)] = slot;
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  std::size_t used_ = 0;
};

}  // namespace foretrace::capture
