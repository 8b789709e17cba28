#include "mpi/onesided/mutex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "mpi/core/block.hpp"

namespace foretrace::mpi {
namespace {

long futex(std::uint32_t& word, int what, std::uint32_t value) {
  return syscall(SYS_futex, &word, what, value, nullptr, nullptr, 0);
}

}  // namespace

// A mutex of three states (Drepper, "Futexes Are Tricky", section 5): 0 free,
// 1 held, 2 held and others wait.
SharedMutex::SharedMutex(std::uint64_t place)
    : word_(*reinterpret_cast<std::uint32_t*>(address_of(place))) {
  std::atomic_ref<std::uint32_t> word(word_);
  std::uint32_t found = 0;
  if (word.compare_exchange_strong(found, 1, std::memory_order_acquire)) return;
  if (found != 2) found = word.exchange(2, std::memory_order_acquire);
  while (found != 0) {
    futex(word_, FUTEX_WAIT, 2);
    found = word.exchange(2, std::memory_order_acquire);
  }
}

SharedMutex::~SharedMutex() {
  std::atomic_ref<std::uint32_t> word(word_);
  if (word.exchange(0, std::memory_order_release) == 2) futex(word_, FUTEX_WAKE, 1);
}

}  // namespace foretrace::mpi
