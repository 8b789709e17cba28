#include "sim/model/frame_pool.hpp"

#include <cstdint>
#include <new>
#include <utility>

namespace foretrace::sim {

thread_local FramePool* FramePool::current_ = nullptr;

void FramePool::give(void* piece, std::size_t size) {
  // Large pieces begin in the first grain after a header of their own.
  const auto slab = reinterpret_cast<std::uintptr_t>(piece) & ~(kSlab - 1);
  FramePool& pool = *reinterpret_cast<Slab*>(slab)->pool;
  const std::size_t index = (size + kGrain - 1) / kGrain;
  if (index >= kClasses) {
    pool.large_ -= size + kGrain;
    std::free(reinterpret_cast<void*>(slab));
    return;
  }
  pool.free_[index] = new (piece) Piece{pool.free_[index]};
}

void* FramePool::cut(std::size_t size) {
  if (static_cast<std::size_t>(end_ - cursor_) < size) {
    std::unique_ptr<void, Free> slab(std::aligned_alloc(kSlab, kSlab));
    if (!slab) throw std::bad_alloc();
    slabs_.push_back(std::move(slab));
    new (slabs_.back().get()) Slab{this};
    cursor_ = static_cast<char*>(slabs_.back().get()) + kGrain;
    end_ = static_cast<char*>(slabs_.back().get()) + kSlab;
  }
  void* piece = cursor_;
  cursor_ += size;
  return piece;
}

void* FramePool::take_large(std::size_t size) {
  const std::size_t whole = (size + kGrain + kSlab - 1) / kSlab * kSlab;
  void* slab = std::aligned_alloc(kSlab, whole);
  if (!slab) throw std::bad_alloc();
  new (slab) Slab{this};
  large_ += size + kGrain;
  return static_cast<char*>(slab) + kGrain;
}

}  // namespace foretrace::sim
