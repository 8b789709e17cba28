// Chunked: a sequence that grows at its end and never moves. Unlike a vector's, its growth
// needs no room for all of it twice. What is more than memory should hold lies on disk
// (base/spill.hpp).
#pragma once

#include <cstddef>
#include <vector>

#include "base/spill.hpp"

namespace foretrace::sim {

template <class T>
class Chunked {
 public:
  std::size_t size() const { return size_; }
  const T& operator[](std::size_t i) const { return chunks_[i / kPerChunk][i % kPerChunk]; }
  void push_back(const T& value) {
    if (size_ % kPerChunk == 0) chunks_.emplace_back().reserve(kPerChunk);
    chunks_.back().push_back(value);
    ++size_;
  }

 private:
  static constexpr std::size_t kPerChunk = std::size_t{1} << 14;
  std::vector<std::vector<T, SpillAllocator<T>>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace foretrace::sim
