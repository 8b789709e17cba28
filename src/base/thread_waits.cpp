#include "base/thread_waits.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <threads.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <new>
#include <utility>

#include "base/next_function.hpp"
#include "base/ticks.hpp"

namespace foretrace::thread_waits {
namespace {

// A barrier of the program, from its initialisation on.
struct Barrier {
  const void* place = nullptr;
  std::unique_ptr<Barrier> next{};
  unsigned wanted = 0;
  unsigned arrived = 0;
  std::optional<Position> last{};  // of those that have arrived
};

// Those that wait at some places, in the order in which they came.
struct Corner {
  std::atomic_flag taken = ATOMIC_FLAG_INIT;
  std::atomic<Waiter*> first{nullptr};
  std::unique_ptr<Barrier> barriers;

  Barrier* find(const void* place) const {
    Barrier* barrier = barriers.get();
    while (barrier && barrier->place != place) barrier = barrier->next.get();
    return barrier;
  }
};
std::array<Corner, 256> corners;

Corner& corner_of(const void* place) {
  return corners[(reinterpret_cast<std::uintptr_t>(place) * 0x9e3779b97f4a7c15U) >> 56];
}

// Nobody holds a corner for long. In a child of the process, or a signal handler, the one who does
// may not be there to let it go.
constexpr int kPatience = 10'000;

class Turn {
 public:
  explicit Turn(Corner& corner, int patience = kPatience) : corner_(corner) {
    while ((is_ours_ = !corner_.taken.test_and_set(std::memory_order_acquire)) == false) {
      if (patience-- == 0) return;
      ::sched_yield();
    }
  }
  ~Turn() {
    if (is_ours_) corner_.taken.clear(std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return is_ours_; }

 private:
  Corner& corner_;
  bool is_ours_ = false;
};

}  // namespace

Waiter::Waiter(const void* place) : place_(place) {
  thread_calls::begin_wait();
  begin_ns_ = monotonic_ns();
  Corner& corner = corner_of(place);
  const Turn turn(corner);
  if (!turn) return;
  is_in_ = true;
  Waiter* last = corner.first.load(std::memory_order_relaxed);
  while (last && last->next_) last = last->next_;
  if (last)
    last->next_ = this;
  else
    corner.first.store(this);
}

void Waiter::leave() {
  if (!is_in_) return;
  is_in_ = false;
  Corner& corner = corner_of(place_);
  const Turn turn(corner, std::numeric_limits<int>::max());
  Waiter* at = corner.first.load(std::memory_order_relaxed);
  if (at == this) return corner.first.store(next_);
  while (at && at->next_ != this) at = at->next_;
  if (at) at->next_ = next_;
}

void Waiter::end(bool woken) {
  if (!is_in_) return;
  leave();
  const int error = errno;
  if (woken) thread_calls::go_on(by_, {.ns = monotonic_ns() - begin_ns_});
  errno = error;
}

void wake(const void* place, std::uint32_t most) {
  if (!corner_of(place).first.load(std::memory_order_relaxed)) return;
  const int error = errno;
  wake(place, most, thread_calls::here());
  errno = error;
}

void wake(const void* place, std::uint32_t most, const std::optional<Position>& by) {
  Corner& corner = corner_of(place);
  const Turn turn(corner);
  if (!turn) return;
  for (Waiter* at = corner.first.load(std::memory_order_relaxed); at && most > 0; at = at->next_) {
    if (at->place_ != place || at->is_woken_) continue;
    at->is_woken_ = true;
    at->by_ = by;
    --most;
  }
  if (most == 0 || !by) return;
  // Those that are on their way will see what the calling thread has changed.
  for (Waiter* at = corner.first.load(std::memory_order_relaxed); at; at = at->next_)
    if (at->place_ == place && at->by_) at->by_ = later(*at->by_, *by);
}

namespace {

void make_barrier(const void* place, unsigned wanted) {
  std::unique_ptr<Barrier> barrier(new (std::nothrow) Barrier{.place = place, .wanted = wanted});
  Corner& corner = corner_of(place);
  const Turn turn(corner);
  if (!turn || !barrier) return;
  if (Barrier* const known = corner.find(place)) {
    known->wanted = wanted;
    known->arrived = 0;
    known->last.reset();
    return;
  }
  barrier->next = std::move(corner.barriers);
  corner.barriers = std::move(barrier);
}

// The last one that comes to it wakes all, itself included.
void arrive(const void* place) {
  const std::optional<Position> here = thread_calls::here();
  std::optional<Position> last;
  {
    Corner& corner = corner_of(place);
    const Turn turn(corner);
    Barrier* const barrier = turn ? corner.find(place) : nullptr;
    if (!barrier) return;
    if (here) barrier->last = barrier->last ? later(*barrier->last, *here) : here;
    if (++barrier->arrived < barrier->wanted) return;
    barrier->arrived = 0;
    last = std::exchange(barrier->last, std::nullopt);
  }
  wake(place, kAll, last);
}

}  // namespace
}  // namespace foretrace::thread_waits

using foretrace::next_function;
using namespace foretrace::thread_waits;

namespace {

// The C library has older functions of these names, for conditions of another form.
template <class Function>
Function* next_of_condition(const char* name) {
  void* const newer = ::dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
  return newer ? reinterpret_cast<Function*>(newer) : next_function<Function>(name);
}

}  // namespace

FORETRACE_STANDS_IN int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  using Function = int(pthread_cond_t*, pthread_mutex_t*);
  static const auto real = next_of_condition<Function>("pthread_cond_wait");
  return wait_at(condition, [&] { return real(condition, mutex); });
}

FORETRACE_STANDS_IN int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  static const auto real = next_of_condition<int(pthread_cond_t*)>("pthread_cond_signal");
  wake(condition, 1);
  return real(condition);
}

FORETRACE_STANDS_IN int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  static const auto real = next_of_condition<int(pthread_cond_t*)>("pthread_cond_broadcast");
  wake(condition, kAll);
  return real(condition);
}

FORETRACE_STANDS_IN int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  static const auto real = next_function<int(cnd_t*, mtx_t*)>("cnd_wait");
  return wait_at(condition, [&] { return real(condition, mutex); });
}

FORETRACE_STANDS_IN int cnd_signal(cnd_t* condition) {
  static const auto real = next_function<int(cnd_t*)>("cnd_signal");
  wake(condition, 1);
  return real(condition);
}

FORETRACE_STANDS_IN int cnd_broadcast(cnd_t* condition) {
  static const auto real = next_function<int(cnd_t*)>("cnd_broadcast");
  wake(condition, kAll);
  return real(condition);
}

// Where it need not wait, nobody let it go on.
FORETRACE_STANDS_IN int sem_wait(sem_t* semaphore) {
  static const auto real = next_function<int(sem_t*)>("sem_wait");
  if (::sem_trywait(semaphore) == 0) return 0;
  return wait_at(semaphore, [&] { return real(semaphore); });
}

FORETRACE_STANDS_IN int sem_post(sem_t* semaphore) noexcept {
  static const auto real = next_function<int(sem_t*)>("sem_post");
  wake(semaphore, 1);
  return real(semaphore);
}

FORETRACE_STANDS_IN int pthread_barrier_init(pthread_barrier_t* barrier,
                                             const pthread_barrierattr_t* attributes,
                                             unsigned count) noexcept {
  using Function = int(pthread_barrier_t*, const pthread_barrierattr_t*, unsigned);
  static const auto real = next_function<Function>("pthread_barrier_init");
  const int result = real(barrier, attributes, count);
  if (result == 0) make_barrier(barrier, count);
  return result;
}

FORETRACE_STANDS_IN int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  static const auto real = next_function<int(pthread_barrier_t*)>("pthread_barrier_wait");
  Waiter waiter(barrier);
  arrive(barrier);
  const int result = real(barrier);
  waiter.end(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
  return result;
}
