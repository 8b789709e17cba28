// Waits that end after a time, as the program calls them: one that does is a sleep (slept.hpp). A
// program may use nothing else to sleep (`poll` without files), and a loop of events (Python's
// asyncio) sleeps until the next one is due; its clock would never come there otherwise.
//
// The moment until which the others wait is one of the clock that the program is shown, which the
// system does not know.
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "base/next_function.hpp"
#include "base/note_sleep.hpp"
#include "base/semaphores.hpp"
#include "base/thread_waits.hpp"

namespace foretrace {
namespace {

constexpr std::int64_t kForEver = -1;

std::int64_t limit_of(const timespec* limit) {
  return limit ? ns_of(*limit) : kForEver;
}
std::int64_t limit_of(int milliseconds) {
  return milliseconds < 0 ? kForEver : std::int64_t{milliseconds} * 1'000'000;
}

// A condition keeps to itself which clock its waits go by. The two are decades apart.
clockid_t clock_of(const timespec& moment) {
  const std::int64_t at = ns_of(moment);
  return std::abs(at - now_on(CLOCK_REALTIME)) < std::abs(at - now_on(CLOCK_MONOTONIC))
             ? CLOCK_REALTIME
             : CLOCK_MONOTONIC;
}

// What all threads of the process have computed.
std::int64_t process_ns() {
  return now_on(CLOCK_PROCESS_CPUTIME_ID);
}

// `wait` waits until the moment that it is given. Where other threads compute for half of the time,
// it waits for them in turns (Python's do for their lock), and that is no sleep.
template <class Result, class Wait>
Result note_deadline(clockid_t clock, const timespec* moment, Result timed_out, Wait wait) {
  // What is no moment is the C library's to refuse.
  if (moment->tv_sec < 0 || moment->tv_nsec < 0 || moment->tv_nsec >= 1'000'000'000)
    return wait(moment);
  const std::int64_t left = ns_of(*moment) - now_on(clock);
  const program_clock::Real shown;
  const timespec really = to_timespec(std::max<std::int64_t>(now_on(clock) + left, 0));
  const std::int64_t before = process_ns();
  return note_wait([&] { return wait(&really); },
                   [&](Result result, std::int64_t passed) {
                     const bool sleeps = result == timed_out && process_ns() - before < passed / 2;
                     return sleeps ? std::optional(left) : std::nullopt;
                   });
}

// For waits that return -1, and say in errno why.
template <class Wait>
int note_deadline_by_errno(clockid_t clock, const timespec* moment, Wait wait) {
  int why = 0;
  note_deadline(clock, moment, ETIMEDOUT, [&](const timespec* until) {
    const int result = wait(until);
    why = result == 0 ? 0 : errno;
    return why;
  });
  if (why == 0) return 0;
  errno = why;
  return -1;
}

template <class Mutex, class Try, class Wait>
int acquire_until(const Mutex* mutex, int busy, Try try_lock, clockid_t clock,
                  const timespec* moment, int timed_out, Wait wait, bool shared) {
  const auto wait_if_busy = [&] {
    const int tried = try_lock();
    return tried == busy ? note_deadline(clock, moment, timed_out, wait) : tried;
  };
  return locks::acquire(mutex, busy, try_lock, wait_if_busy, shared);
}

}  // namespace
}  // namespace foretrace

using foretrace::acquire_until;
using foretrace::limit_of;
using foretrace::next;
using foretrace::note_deadline;
using foretrace::note_timeout;
using foretrace::thread_waits::wait_at;
using foretrace::thread_waits::wait_without;

FORETRACE_STANDS_IN int poll(pollfd* files, nfds_t count, int limit) {
  const auto real = next<"poll", int(pollfd*, nfds_t, int)>();
  return note_timeout(limit_of(limit), 0, [&] { return real(files, count, limit); });
}

FORETRACE_STANDS_IN int ppoll(pollfd* files, nfds_t count, const timespec* limit,
                              const sigset_t* signals) {
  const auto real = next<"ppoll", int(pollfd*, nfds_t, const timespec*, const sigset_t*)>();
  return note_timeout(limit_of(limit), 0, [&] { return real(files, count, limit, signals); });
}

// It changes `limit`.
FORETRACE_STANDS_IN int select(int count, fd_set* to_read, fd_set* to_write, fd_set* errors,
                               timeval* limit) {
  const auto real = next<"select", int(int, fd_set*, fd_set*, fd_set*, timeval*)>();
  const std::int64_t limit_ns =
      limit ? std::int64_t{limit->tv_sec} * 1'000'000'000 + std::int64_t{limit->tv_usec} * 1000
            : foretrace::kForEver;
  return note_timeout(limit_ns, 0, [&] { return real(count, to_read, to_write, errors, limit); });
}

FORETRACE_STANDS_IN int pselect(int count, fd_set* to_read, fd_set* to_write, fd_set* errors,
                                const timespec* limit, const sigset_t* signals) {
  const auto real =
      next<"pselect", int(int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*)>();
  return note_timeout(limit_of(limit), 0,
                      [&] { return real(count, to_read, to_write, errors, limit, signals); });
}

FORETRACE_STANDS_IN int epoll_wait(int files, epoll_event* events, int count, int limit) {
  const auto real = next<"epoll_wait", int(int, epoll_event*, int, int)>();
  return note_timeout(limit_of(limit), 0, [&] { return real(files, events, count, limit); });
}

FORETRACE_STANDS_IN int epoll_pwait(int files, epoll_event* events, int count, int limit,
                                    const sigset_t* signals) {
  const auto real = next<"epoll_pwait", int(int, epoll_event*, int, int, const sigset_t*)>();
  return note_timeout(limit_of(limit), 0,
                      [&] { return real(files, events, count, limit, signals); });
}

FORETRACE_STANDS_IN int sigtimedwait(const sigset_t* signals, siginfo_t* got,
                                     const timespec* limit) {
  const auto real = next<"sigtimedwait", int(const sigset_t*, siginfo_t*, const timespec*)>();
  int result = 0;
  note_timeout(limit_of(limit), EAGAIN, [&] {
    result = real(signals, got, limit);
    return result < 0 ? errno : 0;
  });
  return result;
}

// The C library has an older function of the name, for conditions of another form.
FORETRACE_STANDS_IN int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                               const timespec* moment) {
  using Function = int(pthread_cond_t*, pthread_mutex_t*, const timespec*);
  const auto real = next<"pthread_cond_timedwait", Function, "GLIBC_2.3.2">();
  return wait_without(mutex, condition, [&] {
    return note_deadline(foretrace::clock_of(*moment), moment, ETIMEDOUT,
                         [&](const timespec* until) { return real(condition, mutex, until); });
  });
}

FORETRACE_STANDS_IN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                               clockid_t clock, const timespec* moment) {
  const auto real = next<"pthread_cond_clockwait",
                         int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>();
  return wait_without(mutex, condition, [&] {
    return note_deadline(clock, moment, ETIMEDOUT, [&](const timespec* until) {
      return real(condition, mutex, clock, until);
    });
  });
}

FORETRACE_STANDS_IN int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* moment) {
  const auto real = next<"cnd_timedwait", int(cnd_t*, mtx_t*, const timespec*)>();
  return wait_without(mutex, condition, [&] {
    return note_deadline(CLOCK_REALTIME, moment, int{thrd_timedout},
                         [&](const timespec* until) { return real(condition, mutex, until); });
  });
}

FORETRACE_STANDS_IN int sem_timedwait(sem_t* semaphore, const timespec* moment) {
  const auto real = next<"sem_timedwait", int(sem_t*, const timespec*)>();
  return foretrace::thread_waits::take(semaphore, [&] {
    return foretrace::note_deadline_by_errno(
        CLOCK_REALTIME, moment, [&](const timespec* until) { return real(semaphore, until); });
  });
}

FORETRACE_STANDS_IN int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* moment) {
  const auto real = next<"sem_clockwait", int(sem_t*, clockid_t, const timespec*)>();
  return foretrace::thread_waits::take(semaphore, [&] {
    return foretrace::note_deadline_by_errno(
        clock, moment, [&](const timespec* until) { return real(semaphore, clock, until); });
  });
}

// A lock that is free is acquired at once, without a look at the clocks.
#define FORETRACE_TIMED_LOCK(name, try_lock, Mutex, busy, timed_out, shared)               \
  FORETRACE_STANDS_IN int name(Mutex* mutex, const timespec* moment) {                     \
    const auto tries = next<#try_lock, int(Mutex*)>();                                     \
    const auto waits = next<#name, int(Mutex*, const timespec*)>();                        \
    return acquire_until(                                                                  \
        mutex, busy, [=] { return tries(mutex); }, CLOCK_REALTIME, moment, int{timed_out}, \
        [=](const timespec* until) { return waits(mutex, until); }, shared);               \
  }
#define FORETRACE_CLOCKED_LOCK(name, try_lock, Mutex, shared)                           \
  FORETRACE_STANDS_IN int name(Mutex* mutex, clockid_t clock, const timespec* moment) { \
    const auto tries = next<#try_lock, int(Mutex*)>();                                  \
    const auto waits = next<#name, int(Mutex*, clockid_t, const timespec*)>();          \
    return acquire_until(                                                               \
        mutex, EBUSY, [=] { return tries(mutex); }, clock, moment, ETIMEDOUT,           \
        [=](const timespec* until) { return waits(mutex, clock, until); }, shared);     \
  }
FORETRACE_TIMED_LOCK(pthread_mutex_timedlock, pthread_mutex_trylock, pthread_mutex_t, EBUSY,
                     ETIMEDOUT, false)
FORETRACE_TIMED_LOCK(mtx_timedlock, mtx_trylock, mtx_t, thrd_busy, thrd_timedout, false)
FORETRACE_TIMED_LOCK(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, pthread_rwlock_t, EBUSY,
                     ETIMEDOUT, false)
FORETRACE_TIMED_LOCK(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t, EBUSY,
                     ETIMEDOUT, true)
FORETRACE_CLOCKED_LOCK(pthread_mutex_clocklock, pthread_mutex_trylock, pthread_mutex_t, false)
FORETRACE_CLOCKED_LOCK(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock, pthread_rwlock_t,
                       false)
FORETRACE_CLOCKED_LOCK(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t, true)

// By this one the run-times of languages ask the kernel to wait, which the C library's own
// functions do without it: C++'s for futures and semaphores, Rust's for all. It takes as many
// arguments as the call at hand has; those that are not there mean nothing to the kernel.
FORETRACE_STANDS_IN long foretrace_syscall(long number, long a, long b, long c, long d, long e,
                                           long f) __asm__("syscall");

long foretrace_syscall(long number, long a, long b, long c, long d, long e, long f) {
  const auto real = next<"syscall", long(long, long, long, long, long, long, long)>();
  const bool is_ours = foretrace::program_clock::Real::depth > 0;  // our own MPI library's
  if (number != SYS_futex || is_ours) return real(number, a, b, c, d, e, f);
  const long operation = b & FUTEX_CMD_MASK;
  const auto* const place = reinterpret_cast<const void*>(a);
  if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET)
    foretrace::thread_waits::wake(place, static_cast<std::uint32_t>(c));
  if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET)
    return real(number, a, b, c, d, e, f);
  const auto* const limit = reinterpret_cast<const timespec*>(d);
  long result = 0;
  // Also where what it waits for has come before it was asleep.
  const auto is_woken = [&] { return result == 0 || errno == EAGAIN ? 0 : -1; };
  if (!limit) {
    wait_at(place, [&] {
      result = real(number, a, b, c, d, e, f);
      return is_woken();
    });
    return result;
  }
  const clockid_t clock = (b & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  // The one waits for so long, the other one until then.
  const bool is_length = operation == FUTEX_WAIT;
  const timespec moment =
      is_length ? foretrace::to_timespec(foretrace::now_on(clock) + foretrace::ns_of(*limit))
                : *limit;
  wait_at(place, [&] {
    result = foretrace::note_deadline_by_errno(clock, &moment, [&](const timespec* until) {
      const long limited = is_length ? d : reinterpret_cast<long>(until);
      return real(number, a, b, c, limited, e, f) == 0 ? 0 : -1;
    });
    return is_woken();
  });
  return result;
}
