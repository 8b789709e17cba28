#include "base/spill.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/file_size_signal.hpp"

namespace foretrace {
namespace {

constexpr std::size_t kWindow = std::size_t{64} << 20;
// What is larger has a window of its own, so that its room comes back at once.
constexpr std::size_t kOwn = std::size_t{1} << 20;
constexpr std::size_t kAlign = 64;
constexpr std::size_t kPage = std::size_t{4} << 10;

std::size_t round_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

char* map(std::size_t size, int flags, int file, std::size_t offset) {
  void* const at =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, file, static_cast<off_t>(offset));
  return at == MAP_FAILED ? nullptr : static_cast<char*>(at);
}

// The whole pages of a piece, from the window's begin on.
struct Pages {
  std::size_t first = 0;
  std::size_t size = 0;
};

Pages pages_in(const char* window, const char* piece, std::size_t size) {
  const auto at = static_cast<std::size_t>(piece - window);
  const std::size_t first = round_up(at, kPage);
  const std::size_t end = (at + size) / kPage * kPage;
  return {first, end > first ? end - first : 0};
}

}  // namespace

Spill::~Spill() {
  for (const auto& [at, window] : windows_) ::munmap(at, window.size);
  if (file_ >= 0) ::close(file_);
}

void* Spill::take(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const std::size_t size = round_up(bytes, kAlign);
  if (size < bytes) throw std::bad_alloc();
  if (size > kOwn) return open(round_up(size, kPage));
  if (char* const piece = take_free(size)) return piece;
  if (left_ < size) {
    next_ = open(kWindow);
    left_ = kWindow;
  }
  left_ -= size;
  return std::exchange(next_, next_ + size);
}

void Spill::give(void* at, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const std::size_t size = round_up(bytes, kAlign);
  if (size > kOwn)
    close(static_cast<char*>(at));
  else
    let_go(static_cast<char*>(at), size);
}

// Its room goes back at once; the addresses are for the next of this size.
void Spill::let_go(char* piece, std::size_t size) {
  free_[size].push_back(piece);
  const auto& [at, window] = *std::prev(windows_.upper_bound(piece));
  const Pages pages = pages_in(at, piece, size);
  if (pages.size > 0)
    ::madvise(at + pages.first, pages.size, window.is_file ? MADV_REMOVE : MADV_DONTNEED);
}

char* Spill::take_free(std::size_t size) {
  auto& free = free_[size];
  if (free.empty()) return nullptr;
  char* const piece = free.back();
  const auto& [at, window] = *std::prev(windows_.upper_bound(piece));
  const Pages pages = pages_in(at, piece, size);
  if (window.is_file && pages.size > 0 && !has_place(window.offset + pages.first, pages.size))
    return nullptr;
  free.pop_back();
  return piece;
}

// Room that is there before it is written to: a full disk would end the program else.
bool Spill::has_place(std::size_t offset, std::size_t size) {
  const NoFileSizeSignal held;
  return ::posix_fallocate(file_, static_cast<off_t>(offset), static_cast<off_t>(size)) == 0;
}

char* Spill::open(std::size_t size) {
  Window window;
  window.size = size;
  char* at = taken_ + size > in_memory_ && has_file() ? map_file(size, window) : nullptr;
  if (!at) {
    at = map(size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!at) throw std::bad_alloc();
    taken_ += size;
  }
  windows_.emplace(at, window);
  return at;
}

char* Spill::map_file(std::size_t size, Window& window) {
  if (!has_place(file_size_, size)) {
    failed_ = true;
    return nullptr;
  }
  char* const at = map(size, MAP_SHARED, file_, file_size_);
  if (!at) return nullptr;
  window.offset = file_size_;
  window.is_file = true;
  file_size_ += size;
  in_file_ += size;
  return at;
}

void Spill::close(char* at) {
  const auto found = windows_.find(at);
  const Window window = found->second;
  windows_.erase(found);
  ::munmap(at, window.size);
  if (!window.is_file) {
    taken_ -= window.size;
    return;
  }
  in_file_ -= window.size;
  // Where the file system cannot, the room comes back when the file ends.
  static_cast<void>(::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                static_cast<off_t>(window.offset),
                                static_cast<off_t>(window.size)));
}

bool Spill::has_file() {
  if (file_ >= 0 || failed_) return !failed_;
  const char* const folder = std::getenv("TMPDIR");
  for (const char* where : {folder, "/var/tmp", "/tmp"}) {
    if (!where || *where == '\0') continue;
    file_ = ::open(where, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file_ >= 0) return true;
  }
  failed_ = true;
  return false;
}

Spill& spill() {
  constexpr std::size_t kInMemory = std::size_t{1} << 30;
  // Outlives what is static and lies in it.
  static Spill* const all = new Spill(kInMemory);
  return *all;
}

}  // namespace foretrace
