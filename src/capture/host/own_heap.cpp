// A heap of our own, below every `new` of this library and of the C++ run-time inside it.
//
// The program's heap stays as it would be without us. What malloc returns after a block was
// freed holds what was left in it: programs that read memory before they write it, and run well
// by chance since it was never used before, end or crash where we had freed a machine model of a
// megabyte (Ray 2.3.1 did). Addresses, and so caches and pages, stay the same as well.
//
// Blocks have classes, four to each doubling; free ones of a class are a list. Larger
// ones than a chunk's share are mappings of their own.
#include <pthread.h>
#include <sys/mman.h>

#include <array>
#include <bit>
#include <cstddef>
#include <mutex>
#include <new>

#include "base/next_function.hpp"

namespace foretrace::capture {
namespace {

struct alignas(std::max_align_t) Block {
  std::size_t bytes;  // of the whole block, this header included
  Block* next;        // while it is free
};

constexpr std::size_t kChunk = std::size_t{1} << 20;
constexpr std::size_t kLargest = kChunk / 4;  // beyond: a mapping of its own
constexpr std::size_t kSmallest = 64;
constexpr std::size_t kClasses = 4 * (std::bit_width(kLargest) - std::bit_width(kSmallest)) + 1;

struct Class {
  std::size_t number;
  std::size_t bytes;
};

// The first class of at least `bytes`: kSmallest times 1, 1.25, 1.5, 1.75, 2, 2.5 and so on.
Class class_of(std::size_t bytes) {
  if (bytes <= kSmallest) return {0, kSmallest};
  const auto doubling = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
  const std::size_t quarter = (std::size_t{1} << doubling) / 4;
  const std::size_t quarters = (bytes - 1 - 4 * quarter) / quarter + 1;  // 1 to 4
  const auto first = static_cast<std::size_t>(std::bit_width(kSmallest)) - 1;
  return {4 * (doubling - first) + quarters, (4 + quarters) * quarter};
}

void* map(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

// The C library's: what stands in for its functions follows the program's locks alone.
class Lock {
 public:
  void lock() { next<"pthread_mutex_lock", int(pthread_mutex_t*)>()(&mutex_); }
  void unlock() { next<"pthread_mutex_unlock", int(pthread_mutex_t*)>()(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

class Heap {
 public:
  Block* take(std::size_t bytes) {
    if (bytes > kLargest) return new (map(bytes)) Block{bytes, nullptr};
    const Class wanted = class_of(bytes);
    const std::lock_guard hold(lock_);
    if (Block* found = free_[wanted.number]) {
      free_[wanted.number] = found->next;
      return found;
    }
    // What is left of the old chunk is less than a quarter of it.
    if (left_ < wanted.bytes) {
      at_ = static_cast<char*>(map(kChunk));
      left_ = kChunk;
    }
    auto* made = new (at_) Block{wanted.bytes, nullptr};
    at_ += wanted.bytes;
    left_ -= wanted.bytes;
    return made;
  }

  void give(Block* block) {
    if (block->bytes > kLargest) {
      ::munmap(block, block->bytes);
      return;
    }
    const std::lock_guard hold(lock_);
    Block*& first = free_[class_of(block->bytes).number];
    block->next = first;
    first = block;
  }

  Lock& lock() { return lock_; }

 private:
  Lock lock_;
  std::array<Block*, kClasses> free_{};
  char* at_ = nullptr;
  std::size_t left_ = 0;
};

// Never destroyed: destructors that run later free memory, too.
constinit Heap heap;

// A child must not find the lock held by a thread that it does not have.
[[gnu::constructor]] void survive_forks() {
  pthread_atfork([] { heap.lock().lock(); }, [] { heap.lock().unlock(); },
                 [] { heap.lock().unlock(); });
}

}  // namespace
}  // namespace foretrace::capture

void* operator new(std::size_t bytes) {
  using foretrace::capture::Block;
  if (bytes > SIZE_MAX - sizeof(Block)) throw std::bad_alloc();
  return foretrace::capture::heap.take(bytes + sizeof(Block)) + 1;
}

void operator delete(void* memory) noexcept {
  using foretrace::capture::Block;
  if (memory != nullptr) foretrace::capture::heap.give(static_cast<Block*>(memory) - 1);
}

void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}
