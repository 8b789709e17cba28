// WorkCounter: what the calling thread has executed since the last reading, in
// basic blocks or instructions.
//
// Blocks are counted by the program itself: it is compiled with
// -fsanitize-coverage and linked with libforetrace-blocks.a (src/blocks), which
// hands its counter over when the program is loaded. Instructions are counted
// by the processor, through the kernel's performance events. Knows no MPI.
#pragma once

#include <cstdint>

#include "compute/spec.hpp"

namespace foretrace::compute {

// Where a loaded object counts the blocks of the calling thread.
using BlockCounter = unsigned long* (*)();
// From libforetrace-blocks.a's constructor, once for each object that holds it.
void add_block_counter(BlockCounter counter) noexcept;

// Whether the kernel counts instructions for us. Throws Error saying why not.
void check_instructions();

class WorkCounter {
 public:
  WorkCounter() = default;
  ~WorkCounter();
  WorkCounter(const WorkCounter&) = delete;
  WorkCounter& operator=(const WorkCounter&) = delete;

  // Begins to count what the calling thread does. Throws Error where this program
  // or this machine does not count.
  void open(Counter what);
  bool is_open() const { return what_ != Counter::none; }

  // Begins an interval on the calling thread.
  void resume() { begin_ = read(); }
  // Since resume().
  std::uint64_t stop() const { return read() - begin_; }

 private:
  std::uint64_t read() const;
  std::uint64_t read_instructions() const;

  Counter what_ = Counter::none;
  int descriptor_ = -1;
  void* page_ = nullptr;  // of the counter, where the processor lets us read it ourselves
  std::uint64_t begin_ = 0;
};

}  // namespace foretrace::compute
