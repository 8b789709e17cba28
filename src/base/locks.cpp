#include "base/locks.hpp"

#include <pthread.h>
#include <threads.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/corner_turn.hpp"
#include "base/lock_use.hpp"
#include "base/next_function.hpp"
#include "base/slept.hpp"
#include "base/thread_calls.hpp"
#include "base/ticks.hpp"

namespace foretrace::locks {
namespace {

using thread_waits::Turn;

// What is shorter waits until there is so much of it: to look where the thread is takes a
// microsecond, and more in virtual machines.
constexpr std::int64_t kLeastUseNs = 100'000;
constexpr std::int64_t kLeastAwaitedNs = 20'000;  // where somebody waits for it
// Where a lock is used for less than that in so long a time, it holds nobody up.
constexpr std::int64_t kLongestGapNs = 10'000'000;
// For so long the thread's work goes on with the time that passes: longer, and it may have lost its
// core.
constexpr std::int64_t kFreshNs = 200'000;
// A library's own way to a lock takes less.
constexpr std::int64_t kLeastWaitNs = 5'000;

// The rate of the ticks, from when this was loaded.
struct Rate {
  bool counter = has_even_counter();
  TickReading begin = read_both_clocks();
  std::atomic<double> ns_per_tick{0};  // 0: not known yet

  void measure() {
    if (!counter) {
      ns_per_tick = 1;
      return;
    }
    // A live program may come here so soon.
    constexpr std::int64_t kLeastNs = 100'000;
    std::int64_t ns = 0;
    do ns = monotonic_ns() - begin.ns;
    while (ns < kLeastNs);
    const double ticks = static_cast<double>(read_ticks(true) - begin.ticks);
    ns_per_tick = static_cast<double>(ns) / std::max(ticks, 1.0);
  }
};
Rate rate;

std::int64_t to_ns(std::uint64_t ticks) {
  return static_cast<std::int64_t>(static_cast<double>(ticks) *
                                   rate.ns_per_tick.load(std::memory_order_relaxed));
}

// What the calling thread had done when the kernel was asked last.
struct Seen {
  std::uint64_t ticks = 0;
  Time work;
  Time slept;  // of that
};
constinit thread_local Seen seen;
// By how much it has gone on for locks that it has released. That is no use of those that it holds.
constinit thread_local Time held_up;
// Our own code, and what it calls, has locks as well.
constinit thread_local bool is_here = false;

class Here {
 public:
  Here() { is_here = true; }
  ~Here() {
    is_here = false;
    errno = error_;
  }
  Here(const Here&) = delete;
  Here& operator=(const Here&) = delete;

 private:
  int error_ = errno;
};

bool follows() {
  return thread_calls::knows_others() && !is_here && thread_calls::follows_locks();
}

Moment now() {
  const std::uint64_t ticks = read_ticks(rate.counter);
  if (seen.ticks == 0 || to_ns(ticks - seen.ticks) >= kFreshNs || seen.slept != slept_ever) {
    if (rate.ns_per_tick == 0) rate.measure();
    seen = {ticks, work_of_thread(), slept_ever};
  }
  return {ticks, seen.work + Time::ns(to_ns(ticks - seen.ticks)), thread_calls::begun_clock(),
          times_in_mpi + thread_calls::times_gone_on, held_up};
}

// Where the calling thread, which is `at` now, was `then`. (Of a thread that calls MPI, without
// those calls that it has made since.)
Time clock_at(const Moment& then, Time at) {
  const Time since = thread_calls::on_clock(work_of_thread() - then.work);
  return std::min(at - since - (thread_calls::begun_clock() - then.begun), at);
}

// What the calling thread holds.
struct Held {
  const void* lock = nullptr;
  bool is_shared = false;
  Moment since{};
};
constinit thread_local std::array<Held, 4> held;

// It has held one for short times since, so long in all.
struct Short {
  const void* lock = nullptr;
  Moment since{};
  std::uint64_t ticks = 0;
};
constinit thread_local std::array<Short, 4> shorts;

struct Known {
  const void* lock = nullptr;
  LockUse use;
  // Where the last of those was that shared it, or of which nobody knew that they had it.
  Time others_end;
};

// Some locks, by their addresses: those that were used last.
struct Set {
  std::atomic_flag taken = ATOMIC_FLAG_INIT;
  std::atomic<unsigned char> uses{0};  // how many were noted, some of their last bits
  std::atomic<int> waiting{0};
  std::array<Known, 4> known;
  std::size_t next = 0;

  Known* find(const void* lock) {
    const auto found = std::ranges::find(known, lock, &Known::lock);
    return found == known.end() ? nullptr : &*found;
  }
  Known& find_or_make(const void* lock) {
    if (Known* const found = find(lock)) return *found;
    Known& made = known[next++ % known.size()];
    made = {};
    made.lock = lock;
    return made;
  }
};
std::array<Set, 64> sets;
// Up to which of its uses the calling thread has asked a set.
constinit thread_local std::array<unsigned char, 64> asked_uses;

std::size_t hash(const void* lock) {
  return (reinterpret_cast<std::uintptr_t>(lock) * 0x9e3779b97f4a7c15U) >> 58;
}

std::atomic<std::int64_t> left_out_ns{0};

// In a child of the process, which has the calling thread alone.
const int registered = ::pthread_atfork(nullptr, nullptr, [] {
  for (Set& set : sets) {
    set.taken.clear();
    set.waiting = 0;
  }
});

// From where on the calling thread has it that comes at `from`. Who has waited to hold it alone has
// waited for those that shared it as well.
Time first_free(const void* lock, Time from, bool has_waited_alone) {
  Set& set = sets[hash(lock)];
  asked_uses[hash(lock)] = set.uses.load(std::memory_order_relaxed);
  const Turn turn(set.taken);
  const Known* const known = turn ? set.find(lock) : nullptr;
  if (!known) return from;
  const Time free = known->use.free_at(from);
  return has_waited_alone ? std::max(free, known->others_end) : free;
}

// The calling thread has held it for `length` in all, since `from`. Where that has ended.
Time add(const void* lock, Time from, Time length) {
  Set& set = sets[hash(lock)];
  const Turn turn(set.taken);
  if (!turn || length <= Time()) return from;
  ++set.uses;
  asked_uses[hash(lock)] = set.uses.load(std::memory_order_relaxed);
  return set.find_or_make(lock).use.add(from, length);
}

void add_end(const void* lock, Time end) {
  Set& set = sets[hash(lock)];
  const Turn turn(set.taken);
  if (!turn) return;
  Time& last = set.find_or_make(lock).others_end;
  last = std::max(last, end);
}

// In place of another one where there are too many: it may have been released unseen.
void hold(const void* lock, bool shared, const Moment& since) {
  Held* place = held.data();
  for (Held& each : held) {
    if (each.lock == lock) {
      place = &each;
      break;
    }
    if (place->lock && (!each.lock || each.since.ticks < place->since.ticks)) place = &each;
  }
  *place = {lock, shared, since};
}

// Others have used it since the calling thread asked last, and may be behind it here.
bool may_be_held_up(const void* lock) {
  return sets[hash(lock)].uses.load(std::memory_order_relaxed) != asked_uses[hash(lock)];
}

// The calling thread goes on from where it is free, after so long a wait, really.
void go_on_from_free(const void* lock, std::int64_t waited_ns, bool has_waited_alone) {
  const Here here;
  std::optional<Position> at = thread_calls::look();
  if (!at) return;
  const Time free = first_free(lock, at->clock, has_waited_alone);
  if (free <= at->clock && waited_ns == 0) return;
  at->clock = free;
  thread_calls::go_on(at, {.ns = waited_ns});
}

// The same, less what it has computed since it asked, as it spins. What that was is not known so
// well that a use might not have begun a little later.
void go_back_and_on(const void* lock, const Moment& asked, std::int64_t waited_ns) {
  const Here here;
  std::optional<Position> at = thread_calls::look();
  if (!at) return;
  const Time free = first_free(lock, at->clock, true);
  at->clock = free > at->clock ? free : first_free(lock, clock_at(asked, at->clock), true);
  const Time spun = std::max(work_of_thread() - asked.work, Time());
  thread_calls::go_on(at, {.ns = waited_ns, .worked = false, .spun = spun});
}

}  // namespace

Asking::Asking() {
  if (!thread_calls::knows_others() || is_here || !thread_calls::is_followed()) return;
  if (thread_calls::follows_locks())
    at_ = now();
  else
    is_left_out_ = true;
}

void Asking::has(const void* lock, bool waited, bool shared) const {
  if (at_.ticks == 0) return;
  if (!waited && !may_be_held_up(lock)) return hold(lock, shared, at_);
  go_on_from_free(lock, waited ? passed_ns() : 0, waited && !shared);
  hold(lock, shared, now());
}

void Asking::has(const void* lock) const {
  if (at_.ticks == 0) return;
  const std::int64_t ns = passed_ns();
  if (ns < kLeastWaitNs) return has(lock, false);
  go_back_and_on(lock, at_, ns);
  hold(lock, false, now());
}

std::int64_t Asking::passed_ns() const {
  return to_ns(read_ticks(rate.counter) - at_.ticks);
}

Waiting::Waiting(const void* lock, const Asking& asking) : lock_(lock) {
  if (asking.is_left_out())
    since_ns_ = monotonic_ns();
  else
    ++sets[hash(lock_)].waiting;
}

Waiting::~Waiting() {
  if (since_ns_ != 0)
    left_out_ns += monotonic_ns() - since_ns_;
  else
    --sets[hash(lock_)].waiting;
}

Time waited_left_out() {
  return Time::ns(left_out_ns);
}

void release(const void* lock) {
  if (!follows()) return;
  const auto found = std::ranges::find(held, lock, &Held::lock);
  const bool is_awaited = sets[hash(lock)].waiting.load(std::memory_order_relaxed) > 0;
  if (found == held.end()) {
    // It took it before it made the first thread.
    const Here here;
    const std::optional<Position> at = is_awaited ? thread_calls::look() : std::nullopt;
    if (at) add_end(lock, at->clock);
    return;
  }
  const Held use = std::exchange(*found, {});
  const Moment end = now();
  Short& before = shorts[hash(lock) % shorts.size()];
  if (before.lock != lock || to_ns(use.since.ticks - before.since.ticks) > kLongestGapNs)
    before = {lock, use.since};
  const std::uint64_t ticks = end.ticks - use.since.ticks;
  if (use.since.moved == end.moved &&
      to_ns(before.ticks + ticks) < (is_awaited ? kLeastAwaitedNs : kLeastUseNs)) {
    before.ticks += ticks;
    return;
  }
  const Here here;
  const Short so_far = std::exchange(before, {});
  const std::optional<Position> at = thread_calls::look();
  if (!at) return;
  if (use.is_shared) return add_end(lock, at->clock);
  const Time shortly = thread_calls::on_clock(Time::ns(to_ns(so_far.ticks)));
  const Time inside = held_up - use.since.held_up;
  const Time length = shortly + (at->clock - clock_at(use.since, at->clock) - inside);
  Position until = *at;
  until.clock = add(lock, clock_at(so_far.since, at->clock), length);
  if (until.clock <= at->clock) return;
  held_up += until.clock - at->clock;
  thread_calls::go_on(until, {});
}

void has_again(const void* lock) {
  if (!follows()) return;
  if (may_be_held_up(lock)) go_on_from_free(lock, 0, false);
  hold(lock, false, now());
}

}  // namespace foretrace::locks

using foretrace::next;
using namespace foretrace::locks;

#define FORETRACE_LOCK(lock, try_lock, Mutex, busy, shared)                               \
  FORETRACE_STANDS_IN int lock(Mutex* mutex) noexcept(noexcept(::lock(mutex))) {          \
    const auto tries = next<#try_lock, int(Mutex*)>();                                    \
    const auto waits = next<#lock, int(Mutex*)>();                                        \
    return acquire(                                                                       \
        mutex, busy, [=] { return tries(mutex); }, [=] { return waits(mutex); }, shared); \
  }

#define FORETRACE_TRY_LOCK(try_lock, Mutex, shared)                                      \
  FORETRACE_STANDS_IN int try_lock(Mutex* mutex) noexcept(noexcept(::try_lock(mutex))) { \
    const auto tries = next<#try_lock, int(Mutex*)>();                                   \
    return acquire_if_free(                                                              \
        mutex, [=] { return tries(mutex); }, shared);                                    \
  }

#define FORETRACE_UNLOCK(unlock, Mutex)                                              \
  FORETRACE_STANDS_IN int unlock(Mutex* mutex) noexcept(noexcept(::unlock(mutex))) { \
    if (!is_nested(mutex)) release(mutex);                                           \
    return next<#unlock, int(Mutex*)>()(mutex);                                      \
  }

FORETRACE_LOCK(pthread_mutex_lock, pthread_mutex_trylock, pthread_mutex_t, EBUSY, false)
FORETRACE_TRY_LOCK(pthread_mutex_trylock, pthread_mutex_t, false)
FORETRACE_UNLOCK(pthread_mutex_unlock, pthread_mutex_t)
FORETRACE_LOCK(mtx_lock, mtx_trylock, mtx_t, thrd_busy, false)
FORETRACE_TRY_LOCK(mtx_trylock, mtx_t, false)
FORETRACE_UNLOCK(mtx_unlock, mtx_t)
FORETRACE_LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, pthread_rwlock_t, EBUSY, false)
FORETRACE_TRY_LOCK(pthread_rwlock_trywrlock, pthread_rwlock_t, false)
FORETRACE_LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t, EBUSY, true)
FORETRACE_TRY_LOCK(pthread_rwlock_tryrdlock, pthread_rwlock_t, true)
FORETRACE_UNLOCK(pthread_rwlock_unlock, pthread_rwlock_t)
