// What ranks hand each other: bytes in the memory that all of them share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace foretrace::mpi {

// The bytes of a message or contribution, which one rank leaves and another gets:
// a block in the memory that all share, or a word if they are so few. Moves, frees
// what it holds.
class Block {
 public:
  Block() = default;
  // Of `bytes` bytes, 64-byte aligned from a block's size on; 0: an empty one. Ends
  // the run if there is no memory left.
  explicit Block(std::uint64_t bytes);
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;
  ~Block();

  std::byte* data();
  const std::byte* data() const { return const_cast<Block*>(this)->data(); }
  std::uint64_t bytes() const { return bytes_; }
  // Hands the bytes to whoever gets this word.
  std::uint64_t give_away();
  // Takes over what somebody gave away.
  static Block take(std::uint64_t word, std::uint64_t bytes);

 private:
  std::uint64_t word_ = 0;  // the bytes, or their place
  std::uint64_t bytes_ = 0;
};

// Memory that all ranks share, 64-byte aligned: its place. Ends the run if there
// is none left.
std::uint64_t allocate_shared(std::uint64_t bytes);
void free_shared(std::uint64_t place);
// A block's address from its place (for blocks that several ranks read).
std::byte* address_of(std::uint64_t place);

}  // namespace foretrace::mpi
