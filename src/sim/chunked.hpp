// Chunked: a sequence that grows at its end and never moves. Unlike a vector's, its growth
// needs no room for all of it twice.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace foretrace::sim {

template <class T>
class Chunked {
 public:
  std::size_t size() const { return size_; }
  const T& operator[](std::size_t i) const { return chunks_[i / kPerChunk][i % kPerChunk]; }
  void push_back(const T& value) {
    if (size_ % kPerChunk == 0) chunks_.push_back(std::make_unique_for_overwrite<T[]>(kPerChunk));
    chunks_.back()[size_++ % kPerChunk] = value;
  }

 private:
  static constexpr std::size_t kPerChunk = std::size_t{1} << 14;
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace foretrace::sim
