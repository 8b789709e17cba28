#include "base/semaphores.hpp"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>

#include "base/corner_turn.hpp"
#include "base/next_function.hpp"
#include "base/slept.hpp"
#include "base/thread_calls.hpp"

namespace foretrace::thread_waits {
namespace {

// Its address says which thread.
thread_local char self;

// One of the program's, as long as it exists.
struct Semaphore {
  const void* place = nullptr;
  Semaphore* next = nullptr;
  // Who took it last, and where that was.
  const void* taker = nullptr;
  Time taken_at{};
  // Of what is there the first on the rank's clock, and whose. Nothing: somebody put it there of
  // whom nobody knows where it was, or it was there from the beginning.
  std::optional<Position> put{};
  const void* giver = nullptr;
  // The giver had taken it itself, as a lock: here.
  std::optional<Time> locked{};
  std::uint64_t times_in_mpi = 0;  // of all threads by then
};

// It stays until the process ends, as long as the program may use semaphores.
struct Corner {
  std::atomic_flag taken = ATOMIC_FLAG_INIT;
  Semaphore* first = nullptr;

  Semaphore** find(const void* place) {
    Semaphore** semaphore = &first;
    while (*semaphore && (*semaphore)->place != place) semaphore = &(*semaphore)->next;
    return semaphore;
  }
};
std::array<Corner, 1024> corners;

Corner& corner_of(const void* place) {
  return corners[(reinterpret_cast<std::uintptr_t>(place) * 0x9e3779b97f4a7c15U) >> 54];
}

// In a child of the process, which has the calling thread alone.
const int registered = ::pthread_atfork(nullptr, nullptr, [] {
  for (Corner& corner : corners) corner.taken.clear();
});

void forget(const void* place) {
  std::unique_ptr<Semaphore> semaphore;
  Corner& corner = corner_of(place);
  const Turn turn(corner.taken);
  if (!turn) return;
  Semaphore** const known = corner.find(place);
  semaphore.reset(*known);
  if (semaphore) *known = semaphore->next;
}

void make(const void* place) {
  forget(place);
  std::unique_ptr<Semaphore> semaphore(new (std::nothrow) Semaphore{.place = place});
  Corner& corner = corner_of(place);
  const Turn turn(corner.taken);
  if (!turn || !semaphore) return;
  semaphore->next = corner.first;
  corner.first = semaphore.release();
}

bool has_threads() {
  return thread_calls::knows_others() && thread_calls::is_followed();
}

// Where the calling thread has to be later than, as it takes what is there.
std::optional<Position> put_there(const void* place, const std::optional<Position>& at) {
  Corner& corner = corner_of(place);
  const Turn turn(corner.taken);
  const Semaphore* const semaphore = turn ? *corner.find(place) : nullptr;
  if (!semaphore || semaphore->giver == &self) return std::nullopt;
  const bool comes_first = semaphore->locked && !(at && at->clock >= *semaphore->locked);
  const bool was_in_mpi = times_in_mpi != 0 && semaphore->times_in_mpi != all_times_in_mpi;
  if (comes_first && !was_in_mpi) return std::nullopt;
  return semaphore->put;
}

void note_taker(const void* place, const std::optional<Position>& at) {
  Corner& corner = corner_of(place);
  const Turn turn(corner.taken);
  Semaphore* const semaphore = turn ? *corner.find(place) : nullptr;
  if (!semaphore) return;
  semaphore->taker = at ? &self : nullptr;
  if (at) semaphore->taken_at = at->clock;
}

// The calling thread has found it there.
void note_taken(const void* place) {
  const int error = errno;
  std::optional<Position> at = thread_calls::here();
  if (const std::optional<Position> put = put_there(place, at)) {
    thread_calls::go_on(put, {});
    at = thread_calls::here();
  }
  note_taker(place, at);
  errno = error;
}

// The calling thread is about to put it there.
void note_put(sem_t* place) {
  const int error = errno;
  int value = 0;
  const bool more = ::sem_getvalue(place, &value) == 0 && value > 0;
  const std::optional<Position> at = thread_calls::here();
  errno = error;
  Corner& corner = corner_of(place);
  const Turn turn(corner.taken);
  Semaphore* const semaphore = turn ? *corner.find(place) : nullptr;
  if (!semaphore) return;
  if (more && at && (!semaphore->put || at->clock >= semaphore->put->clock)) return;
  semaphore->put = at;
  semaphore->giver = &self;
  semaphore->times_in_mpi = all_times_in_mpi;
  semaphore->locked.reset();
  if (semaphore->taker == &self) semaphore->locked = semaphore->taken_at;
}

}  // namespace

bool take_if_there(sem_t* semaphore) {
  // Where a thread may be cancelled.
  ::pthread_testcancel();
  return ::sem_trywait(semaphore) == 0;
}

// Who comes to wait just as it is put there is woken by nobody.
void has_waited_for(sem_t* semaphore) {
  if (has_threads()) note_taken(semaphore);
}

}  // namespace foretrace::thread_waits

using foretrace::next;
using namespace foretrace::thread_waits;

FORETRACE_STANDS_IN int sem_init(sem_t* semaphore, int shared, unsigned value) noexcept {
  const auto real = next<"sem_init", int(sem_t*, int, unsigned)>();
  const int result = real(semaphore, shared, value);
  if (result == 0 && shared == 0) make(semaphore);
  return result;
}

FORETRACE_STANDS_IN int sem_destroy(sem_t* semaphore) noexcept {
  const auto real = next<"sem_destroy", int(sem_t*)>();
  forget(semaphore);
  return real(semaphore);
}

FORETRACE_STANDS_IN int sem_wait(sem_t* semaphore) {
  const auto real = next<"sem_wait", int(sem_t*)>();
  return take(semaphore, [&] { return real(semaphore); });
}

FORETRACE_STANDS_IN int sem_trywait(sem_t* semaphore) noexcept {
  const auto real = next<"sem_trywait", int(sem_t*)>();
  const int result = real(semaphore);
  if (result == 0 && has_threads()) note_taken(semaphore);
  return result;
}

FORETRACE_STANDS_IN int sem_post(sem_t* semaphore) noexcept {
  const auto real = next<"sem_post", int(sem_t*)>();
  if (has_threads()) note_put(semaphore);
  wake(semaphore, 1);
  return real(semaphore);
}
