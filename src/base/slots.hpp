// Items that are called by number while they last; numbers of those that are over are used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace foretrace {

template <class Item>
class Slots {
 public:
  // Keeps the item; its number until give_back().
  std::uint32_t take(Item item) {
    if (free_.empty()) {
      items_.push_back(std::move(item));
      return static_cast<std::uint32_t>(items_.size() - 1);
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    items_[number] = std::move(item);
    return number;
  }
  // The item stays as it is until its number is used again.
  void give_back(std::uint32_t number) { free_.push_back(number); }

  Item& operator[](std::size_t number) { return items_[number]; }
  const Item& operator[](std::size_t number) const { return items_[number]; }

  // Bytes.
  std::size_t memory() const {
    return items_.capacity() * sizeof(Item) + free_.capacity() * sizeof(std::uint32_t);
  }

 private:
  std::vector<Item> items_;
  std::vector<std::uint32_t> free_;
};

}  // namespace foretrace
