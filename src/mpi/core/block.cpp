#include "mpi/core/block.hpp"

#include <utility>

#include "mpi/core/line.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/core/simulator.hpp"
#include "shared/heap.hpp"

namespace foretrace::mpi {

std::uint64_t allocate_shared(std::uint64_t bytes) {
  const std::uint64_t place = heap::allocate(bytes);
  if (place == 0) end_run(1, "the memory that the ranks share is full");
  return place;
}

void free_shared(std::uint64_t place) {
  heap::free(place);
}

Block::Block(std::uint64_t bytes)
    : word_(bytes > kWordBytes ? allocate_shared(bytes) : 0), bytes_(bytes) {}

Block::Block(Block&& other) noexcept : word_(other.word_), bytes_(std::exchange(other.bytes_, 0)) {}

Block& Block::operator=(Block&& other) noexcept {
  std::swap(word_, other.word_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Block::~Block() {
  if (bytes_ > kWordBytes) heap::free(word_);
}

std::byte* Block::data() {
  return bytes_ > kWordBytes ? SharedMemory::at(word_) : reinterpret_cast<std::byte*>(&word_);
}

std::uint64_t Block::give_away() {
  return std::exchange(bytes_, 0) == 0 ? 0 : word_;
}

Block Block::take(std::uint64_t word, std::uint64_t bytes) {
  Block block;
  block.word_ = word;
  block.bytes_ = bytes;
  return block;
}

std::byte* address_of(std::uint64_t place) {
  return SharedMemory::at(place);
}

}  // namespace foretrace::mpi
