// FramePool: memory for coroutine frames and other small pieces, of which a
// model program has one or two for each rank.
//
// A piece costs no header: free pieces of each size are kept in a list, new
// ones cut from aligned slabs, at whose start the pool is found again. Slabs go
// back only with the pool, and with them all that was taken.
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

namespace foretrace::sim {

class FramePool {
 public:
  FramePool() = default;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  // At least `size` bytes, aligned for anything that needs no more than 16.
  void* take(std::size_t size) {
    const std::size_t index = (size + kGrain - 1) / kGrain;
    if (index >= kClasses) return take_large(size);
    if (Piece* piece = free_[index]) {
      free_[index] = piece->next;
      return piece;
    }
    return cut(index * kGrain);
  }

  // Gives a piece back to the pool that it came from; `size` as it was asked for.
  static void give(void* piece, std::size_t size);

  // Bytes got from the system.
  std::size_t memory() const { return slabs_.size() * kSlab + large_; }

  // The pool of the model program that runs in this thread; nullptr: none.
  static FramePool* current() { return current_; }

  // Makes a pool the current one of this thread as long as it lives.
  class Use {
   public:
    explicit Use(FramePool& pool) : before_(current_) { current_ = &pool; }
    ~Use() { current_ = before_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    FramePool* before_;
  };

 private:
  static constexpr std::size_t kGrain = 16;
  static constexpr std::size_t kClasses = 257;  // up to 4 KiB; larger ones are rare
  static constexpr std::size_t kSlab = std::size_t{256} * 1024;

  struct Piece {
    Piece* next;
  };
  struct Slab {  // at its start
    FramePool* pool;
  };
  struct Free {
    void operator()(void* slab) const { std::free(slab); }
  };

  void* cut(std::size_t size);
  void* take_large(std::size_t size);

  static thread_local FramePool* current_;

  std::array<Piece*, kClasses> free_{};
  char* cursor_ = nullptr;
  char* end_ = nullptr;
  std::vector<std::unique_ptr<void, Free>> slabs_;
  std::size_t large_ = 0;
};

}  // namespace foretrace::sim
