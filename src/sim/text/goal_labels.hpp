// GoalLabels: the labels of one body, from their names to their operations.
//
// Made to be cleared a million times: rank blocks are many and small. Names
// are views into the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "sim/text/goal_program.hpp"

namespace foretrace::sim {

class GoalLabels {
 public:
  void clear() {
    used_ = 0;
    if (++round_ == 0) {
      slots_.assign(slots_.size(), {});
      round_ = 1;
    }
  }

  // kGoalNone if there is no such label.
  std::uint32_t find(std::string_view name) const {
    if (used_ == 0) return kGoalNone;
    const Slot& slot = slots_[place(name)];
    return slot.round == round_ ? slot.number : kGoalNone;
  }

  // kGoalNone if the label is new; else the operation that has it.
  std::uint32_t add(std::string_view name, std::uint32_t number) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    Slot& slot = slots_[place(name)];
    if (slot.round == round_) return slot.number;
    slot = {name, number, round_};
    ++used_;
    return kGoalNone;
  }

 private:
  struct Slot {
    std::string_view name;
    std::uint32_t number = 0;
    std::uint32_t round = 0;  // of another one: free
  };

  std::size_t place(std::string_view name) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = std::hash<std::string_view>()(name) & mask;
    while (slots_[at].round == round_ && slots_[at].name != name) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.round == round_) slots_[place(slot.name)] = slot;
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  std::size_t used_ = 0;
  std::uint32_t round_ = 1;
};

}  // namespace foretrace::sim
