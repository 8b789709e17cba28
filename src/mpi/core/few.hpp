// Few: a list of plain values, most often short, whose first ones lie in itself:
// what calls about several requests need while they run. Without it such a call
// would touch the allocator's memory, which after a switch of processes is cold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace foretrace::mpi {

template <class Value, std::size_t inside = 16>
class Few {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  Few() = default;
  // `size` elements, to be filled.
  explicit Few(std::size_t size) : size_(size), room_(size > inside ? size : inside) {
    if (size > inside) more_ = std::make_unique_for_overwrite<Place[]>(size);
  }
  Few(Few&& other) noexcept { *this = std::move(other); }
  Few& operator=(Few&& other) noexcept {
    more_ = std::move(other.more_);
    size_ = std::exchange(other.size_, 0);
    room_ = std::exchange(other.room_, inside);
    if (!more_) std::copy_n(other.first_, size_, first_);
    return *this;
  }

  void push_back(const Value& value) {
    if (size_ == room_) grow();
    data()[size_++] = value;
  }

  Value* data() { return &(more_ ? more_.get() : first_)->value; }
  const Value* data() const { return const_cast<Few*>(this)->data(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Value* begin() { return data(); }
  Value* end() { return data() + size_; }
  const Value* begin() const { return data(); }
  const Value* end() const { return data() + size_; }
  Value& operator[](std::size_t at) { return data()[at]; }
  const Value& operator[](std::size_t at) const { return data()[at]; }
  const Value& front() const { return *data(); }

 private:
  // Not initialised before it is used.
  union Place {
    Place() {}
    Value value;
  };

  void grow() {
    auto larger = std::make_unique_for_overwrite<Place[]>(2 * room_);
    for (std::size_t i = 0; i < size_; ++i) larger[i].value = data()[i];
    more_ = std::move(larger);
    room_ *= 2;
  }

  std::size_t size_ = 0;
  std::size_t room_ = inside;
  std::unique_ptr<Place[]> more_;
  Place first_[inside];
};

}  // namespace foretrace::mpi
