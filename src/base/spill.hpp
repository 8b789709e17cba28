// Spill: memory for what may outgrow the machine's.
//
// The first part is ordinary memory. Beyond, it lies in a file without a name in $TMPDIR (else
// /var/tmp), which the kernel writes out and reads again as it needs the room. Where no file can
// be had, or its disk is full, all of it is ordinary memory.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace foretrace {

class Spill {
 public:
  // `in_memory`: bytes of the first part; rounded down to whole windows.
  explicit Spill(std::size_t in_memory) : in_memory_(in_memory) {}
  ~Spill();
  Spill(const Spill&) = delete;
  Spill& operator=(const Spill&) = delete;

  // At least `bytes` > 0, aligned to 64 bytes. Throws std::bad_alloc.
  void* take(std::size_t bytes);
  // What take() gave for as many bytes.
  void give(void* at, std::size_t bytes);

  // Bytes that lie in the file now.
  std::size_t in_file() const { return in_file_; }

 private:
  struct Window {
    std::size_t size = 0;
    std::size_t offset = 0;  // in the file
    bool is_file = false;
  };

  char* take_free(std::size_t size);
  void let_go(char* piece, std::size_t size);
  bool has_place(std::size_t offset, std::size_t size);
  char* open(std::size_t size);
  char* map_file(std::size_t size, Window& window);
  void close(char* at);
  bool has_file();

  std::size_t in_memory_;
  std::size_t taken_ = 0;  // of in_memory_
  std::size_t in_file_ = 0;
  std::size_t file_size_ = 0;
  int file_ = -1;
  bool failed_ = false;  // there is no file to be had
  std::map<char*, Window> windows_;
  char* next_ = nullptr;  // what is left of the window from which pieces are cut
  std::size_t left_ = 0;
  std::map<std::size_t, std::vector<char*>>
      free_;  // pieces, by size: few sizes come again and again
  std::mutex mutex_;
};

// The process's own: 1 GiB of ordinary memory first.
Spill& spill();

// For containers: what is large comes from spill(), the rest from the heap.
template <class T>
struct SpillAllocator {
  using value_type = T;
  static constexpr std::size_t kLarge = std::size_t{16} << 10;

  SpillAllocator() = default;
  template <class U>
  SpillAllocator(const SpillAllocator<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    return static_cast<T*>(bytes < kLarge ? ::operator new(bytes) : spill().take(bytes));
  }
  void deallocate(T* at, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kLarge)
      ::operator delete(at);
    else
      spill().give(at, bytes);
  }
  template <class U>
  bool operator==(const SpillAllocator<U>&) const {
    return true;
  }
};

}  // namespace foretrace
