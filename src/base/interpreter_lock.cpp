#include "base/interpreter_lock.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>

namespace foretrace::interpreter_lock {
namespace {

// The interpreter's memory; empty: there is none.
std::atomic<const char*> memory{nullptr};
std::atomic<const char*> memory_end{nullptr};

// From the one condition to the other.
constexpr std::ptrdiff_t kApart = sizeof(pthread_cond_t) + sizeof(pthread_mutex_t);

std::atomic<const char*> lock{nullptr};
std::atomic<const char*> last{nullptr};  // of the interpreter's, that was signalled

}  // namespace

void find() {
  const auto* const begin = static_cast<const char*>(::dlsym(RTLD_DEFAULT, "_PyRuntime"));
  Dl_info info{};
  const ElfW(Sym)* symbol = nullptr;
  void** const extra = reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol));
  if (!begin || ::dladdr1(begin, &info, extra, RTLD_DL_SYMENT) == 0 || !symbol) return;
  memory_end = begin + symbol->st_size;
  memory = begin;
}

bool is_taken_by(const void* condition) {
  const auto* const place = static_cast<const char*>(condition);
  if (!memory || place < memory || place >= memory_end) return false;
  if (!lock) {
    const char* const before = last.exchange(place);
    if (before && place - before == kApart) lock = before;
    if (before && before - place == kApart) lock = place;
  }
  return lock && place == lock + kApart;
}

bool is_waited_for_at(const void* condition) {
  return condition == lock.load(std::memory_order_relaxed);
}

}  // namespace foretrace::interpreter_lock
