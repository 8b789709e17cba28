#include "base/thread_waits.hpp"

#include <pthread.h>
#include <threads.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "base/corner_turn.hpp"
#include "base/interpreter_lock.hpp"
#include "base/next_function.hpp"
#include "base/slept.hpp"
#include "base/thread_calls.hpp"

namespace foretrace::thread_waits {
namespace {

// What a thread waits for. It lies with the thread, since a program may leave a wait by
// siglongjmp().
struct Waiter {
  ~Waiter();

  const void* place = nullptr;  // nullptr: it does not wait
  thread_calls::WaitBegin begin{};
  Time slept_before;  // by the thread
  Waiter* next = nullptr;
  bool is_woken = false;
  std::optional<Position> by{};
  std::optional<Time> locked{};  // the one that has woken it had taken a lock there
  thread_calls::Unawaited unawaited{};
};
thread_local Waiter waiter;

// Where the calling thread took the lock of Python's interpreter last.
thread_local std::optional<Time> took_interpreter_at;

// How often it has given its core away to look again, in a row.
struct Looks {
  int count = 0;
  std::int64_t last_ns = 0;
};
thread_local Looks looks;

// What the calling thread has slept in waits at one place that came to their limits, one after the
// other. Who is woken there in the end has waited for that all the time. (Python's threads wait so
// for their lock; who has it may lack a core, or be in MPI.)
struct InVain {
  const void* place = nullptr;
  std::uint64_t times_in_mpi = 0;  // by then the clock had not gone on by it
  Time slept{};
};
thread_local InVain in_vain;

void count_sleep(const void* place, Time slept) {
  if (in_vain.place != place || in_vain.times_in_mpi != times_in_mpi)
    in_vain = {.place = place, .times_in_mpi = times_in_mpi};
  in_vain.slept += slept;
}

void take_sleep_back(const void* place) {
  if (in_vain.place == place && in_vain.times_in_mpi == times_in_mpi)
    note_slept({Time() - in_vain.slept, Time()});
  in_vain = {};
}

// A barrier of the program, as long as it exists.
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

  std::unique_ptr<Barrier>& find(const void* place) {
    std::unique_ptr<Barrier>* barrier = &barriers;
    while (*barrier && (*barrier)->place != place) barrier = &(*barrier)->next;
    return *barrier;
  }
};
std::array<Corner, 256> corners;

Corner& corner_of(const void* place) {
  return corners[(reinterpret_cast<std::uintptr_t>(place) * 0x9e3779b97f4a7c15U) >> 56];
}

// In a child of the process, which has the calling thread alone.
void forget_others() {
  waiter.place = nullptr;
  for (Corner& corner : corners) {
    corner.taken.clear();
    corner.first = nullptr;
    for (Barrier* barrier = corner.barriers.get(); barrier; barrier = barrier->next.get()) {
      barrier->arrived = 0;
      barrier->last.reset();
    }
  }
}

const int registered = ::pthread_atfork(nullptr, nullptr, forget_others);

// The calling thread waits no more. False: it is in a signal handler, and has to stay.
bool leave() {
  Corner& corner = corner_of(waiter.place);
  const Turn turn(corner.taken);
  if (!turn) return false;
  waiter.place = nullptr;
  Waiter* at = corner.first.load(std::memory_order_relaxed);
  if (at == &waiter) {
    corner.first.store(waiter.next);
    return true;
  }
  while (at && at->next != &waiter) at = at->next;
  if (at) at->next = waiter.next;
  return true;
}

Waiter::~Waiter() {
  if (place) leave();
}

}  // namespace

void begin(const void* place) {
  looks = {};
  if (waiter.place && !leave()) return;
  const auto begin = thread_calls::WaitBegin::now();
  const thread_calls::Unawaited unawaited = thread_calls::unawaited_here();
  Corner& corner = corner_of(place);
  const Turn turn(corner.taken);
  if (!turn) return;
  waiter.place = place;
  waiter.begin = begin;
  waiter.slept_before = slept_ever;
  waiter.next = nullptr;
  waiter.is_woken = false;
  waiter.by.reset();
  waiter.unawaited = unawaited;
  waiter.locked.reset();
  Waiter* last = corner.first.load(std::memory_order_relaxed);
  while (last && last->next) last = last->next;
  if (last)
    last->next = &waiter;
  else
    corner.first.store(&waiter);
}

void end(bool woken) {
  if (!waiter.place) return;
  const int error = errno;
  const void* const place = waiter.place;
  const bool has_left = leave();
  if (const Time slept = slept_ever - waiter.slept_before; slept > Time())
    count_sleep(place, slept);
  if (woken && has_left && waiter.by) {
    take_sleep_back(place);
    const thread_calls::Waited waited = waiter.begin.until_now();
    const std::optional<Position> at = waiter.locked ? thread_calls::here() : std::nullopt;
    if (at && at->clock < *waiter.locked)
      note_held_up(Time(), Time::ns(waited.ns));
    else
      thread_calls::go_on(waiter.by, waited);
  }
  errno = error;
}

// `by`: where the calling thread is. `locked`: where it took a lock, which it gives away.
static void wake_by(const void* place, std::uint32_t most, const std::optional<Position>& by,
                    const std::optional<Time>& locked) {
  Corner& corner = corner_of(place);
  const Turn turn(corner.taken);
  if (!turn) return;
  for (Waiter* at = corner.first.load(std::memory_order_relaxed); at && most > 0; at = at->next) {
    if (at->place != place || at->is_woken) continue;
    at->is_woken = true;
    at->by = by;
    at->locked = locked;
    --most;
  }
  if (most == 0 || !by) return;
  // Those that are on their way will see what the calling thread has changed.
  for (Waiter* at = corner.first.load(std::memory_order_relaxed); at; at = at->next)
    if (at->place == place && at->by) at->by = after_both(*at->by, *by);
}

void wake(const void* place, std::uint32_t most) {
  const bool takes = interpreter_lock::is_taken_by(place) && thread_calls::knows_others();
  if (!takes && !corner_of(place).first.load(std::memory_order_relaxed)) return;
  const int error = errno;
  thread_calls::tell_queued();
  const std::optional<Position> here = thread_calls::here();
  if (takes) took_interpreter_at = here ? std::optional(here->clock) : std::nullopt;
  // Who has given it away, and waits for somebody to take it, does not where nobody wants it yet.
  if (takes)
    wake_by(place, most, here, Time::max());
  else if (interpreter_lock::is_waited_for_at(place))
    wake_by(place, most, here, took_interpreter_at);
  else
    wake_by(place, most, here, std::nullopt);
  errno = error;
}

std::vector<thread_calls::Unawaited> unawaited() {
  std::vector<thread_calls::Unawaited> all;
  for (Corner& corner : corners) {
    const Turn turn(corner.taken);
    if (!turn) continue;
    for (const Waiter* at = corner.first; at; at = at->next)
      if (at->unawaited.work > Time()) all.push_back(at->unawaited);
  }
  return all;
}

namespace {

void make_barrier(const void* place, unsigned wanted) {
  std::unique_ptr<Barrier> barrier(new (std::nothrow) Barrier{.place = place, .wanted = wanted});
  Corner& corner = corner_of(place);
  const Turn turn(corner.taken);
  if (!turn || !barrier) return;
  if (std::unique_ptr<Barrier>& known = corner.find(place)) barrier->next = std::move(known->next);
  corner.find(place) = std::move(barrier);
}

void forget_barrier(const void* place) {
  std::unique_ptr<Barrier> barrier;
  Corner& corner = corner_of(place);
  const Turn turn(corner.taken);
  if (!turn) return;
  std::unique_ptr<Barrier>& known = corner.find(place);
  if (!known) return;
  barrier = std::move(known);
  known = std::move(barrier->next);
}

// The last one that comes to it wakes all, itself included.
void arrive(const void* place) {
  thread_calls::tell_queued();
  const std::optional<Position> here = thread_calls::here();
  std::optional<Position> last;
  {
    Corner& corner = corner_of(place);
    const Turn turn(corner.taken);
    Barrier* const barrier = turn ? corner.find(place).get() : nullptr;
    if (!barrier) return;
    if (here) barrier->last = barrier->last ? after_both(*barrier->last, *here) : here;
    if (++barrier->arrived < barrier->wanted) return;
    barrier->arrived = 0;
    last = std::exchange(barrier->last, std::nullopt);
  }
  wake_by(place, kAll, last, std::nullopt);
}

}  // namespace
}  // namespace foretrace::thread_waits

using foretrace::next;
using namespace foretrace::thread_waits;

namespace {

// The C library has older functions of these names, for conditions of another form.
constexpr foretrace::Name kNewerCondition = "GLIBC_2.3.2";

}  // namespace

FORETRACE_STANDS_IN int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  using Function = int(pthread_cond_t*, pthread_mutex_t*);
  const auto real = next<"pthread_cond_wait", Function, kNewerCondition>();
  return wait_without(mutex, condition, [&] { return real(condition, mutex); });
}

FORETRACE_STANDS_IN int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  const auto real = next<"pthread_cond_signal", int(pthread_cond_t*), kNewerCondition>();
  wake(condition, 1);
  return real(condition);
}

FORETRACE_STANDS_IN int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  const auto real = next<"pthread_cond_broadcast", int(pthread_cond_t*), kNewerCondition>();
  wake(condition, kAll);
  return real(condition);
}

FORETRACE_STANDS_IN int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  const auto real = next<"cnd_wait", int(cnd_t*, mtx_t*)>();
  return wait_without(mutex, condition, [&] { return real(condition, mutex); });
}

FORETRACE_STANDS_IN int cnd_signal(cnd_t* condition) {
  const auto real = next<"cnd_signal", int(cnd_t*)>();
  wake(condition, 1);
  return real(condition);
}

FORETRACE_STANDS_IN int cnd_broadcast(cnd_t* condition) {
  const auto real = next<"cnd_broadcast", int(cnd_t*)>();
  wake(condition, kAll);
  return real(condition);
}

FORETRACE_STANDS_IN int pthread_barrier_init(pthread_barrier_t* barrier,
                                             const pthread_barrierattr_t* attributes,
                                             unsigned count) noexcept {
  using Function = int(pthread_barrier_t*, const pthread_barrierattr_t*, unsigned);
  const auto real = next<"pthread_barrier_init", Function>();
  const int result = real(barrier, attributes, count);
  if (result == 0) make_barrier(barrier, count);
  return result;
}

FORETRACE_STANDS_IN int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept {
  const auto real = next<"pthread_barrier_destroy", int(pthread_barrier_t*)>();
  const int result = real(barrier);
  if (result == 0) forget_barrier(barrier);
  return result;
}

FORETRACE_STANDS_IN int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  const auto real = next<"pthread_barrier_wait", int(pthread_barrier_t*)>();
  begin(barrier);
  arrive(barrier);
  const int result = real(barrier);
  end(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
  return result;
}

// GCC's C++ library looks several times at what is atomic (std::atomic::wait, std::latch, ...), and
// gives its core away four times between the looks, before it waits in the kernel. What comes
// meanwhile is not seen. So the thread keeps its core that often, unless it might keep it for good.
FORETRACE_STANDS_IN int sched_yield() noexcept {
  constexpr int kTimes = 4;
  constexpr std::int64_t kApartNs = 1'000'000;
  const auto real = next<"sched_yield", int()>();
  if (!foretrace::thread_calls::knows_others() || !foretrace::thread_calls::is_followed())
    return real();
  if (foretrace::monotonic_ns() - looks.last_ns > kApartNs) looks.count = 0;
  const int policy = looks.count < kTimes ? ::sched_getscheduler(0) : SCHED_FIFO;
  const bool keeps = policy != SCHED_FIFO && policy != SCHED_RR;
  const int result = keeps ? 0 : real();
  ++looks.count;
  looks.last_ns = foretrace::monotonic_ns();
  return result;
}
