// Locks of the program: while a thread holds one, no other does. Which of them has it first is
// decided by the cores that they have here, so what counts is how long each holds it, and where it
// is on the rank's clock (lock_use.hpp).
//
// Where several threads call MPI, locks are left out: a callback of MPI may wait for one, and the
// rank's clock jumps with every call.
//
// locks.cpp stands in for the C library's functions.
#pragma once

#include <pthread.h>
#include <threads.h>

#include <cstdint>

#include "base/time.hpp"

namespace foretrace::locks {

// Where the calling thread is, as far as that needs no call of the kernel.
struct Moment {
  std::uint64_t ticks;  // 0: nobody follows it
  Time work;            // done by then
  Time begun;           // where it would be without
  std::uint64_t moved;  // how often it has gone on by anything else
  Time held_up;         // by how much for locks that it has released
};

// The calling thread is about to ask for a lock.
class Asking {
 public:
  Asking();
  // Whether it is followed, or what it waits is told.
  explicit operator bool() const { return at_.ticks != 0 || is_left_out_; }
  bool is_left_out() const { return is_left_out_; }
  // It has it, after a wait, in which it slept, or without one. `shared`: others may have it, too.
  void has(const void* lock, bool waited, bool shared = false) const;
  // The same where how long it took is all that is known of the wait, in which it may have spun:
  // nothing of that is the program's.
  void has(const void* lock) const;

 private:
  std::int64_t passed_ns() const;

  Moment at_{};
  bool is_left_out_ = false;
};

// As long as one is there, the thread that makes it waits for the lock.
class Waiting {
 public:
  Waiting(const void* lock, const Asking& asking);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  const void* lock_;
  std::int64_t since_ns_ = 0;  // 0: it is followed
};
// What threads have waited, really, for locks that are left out.
Time waited_left_out();

// The calling thread is about to release it.
void release(const void* lock);
// It has released it while it waited for something else, and has it again.
void has_again(const void* lock);

// Whether other processes may use it, too. (The C library says so of robust ones as well.)
inline bool is_of_several(const pthread_mutex_t* mutex) {
  constexpr int kShared = 128;
  return (mutex->__data.__kind & kShared) != 0;
}
inline bool is_of_several(const mtx_t*) {
  return false;
}
inline bool is_of_several(const pthread_rwlock_t* lock) {
  return lock->__data.__shared != 0;
}

// Whether its owner, which asks, has it several times.
inline bool is_nested(const pthread_mutex_t* mutex) {
  constexpr int kKinds = 3;
  const bool is_recursive = (mutex->__data.__kind & kKinds) == PTHREAD_MUTEX_RECURSIVE;
  return is_recursive && mutex->__data.__count > 1;
}
inline bool is_nested(const mtx_t* mutex) {
  static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t));
  return is_nested(reinterpret_cast<const pthread_mutex_t*>(mutex));
}
inline bool is_nested(const pthread_rwlock_t*) {
  return false;
}

// `try_lock` returns `busy` where the thread has to wait; both return 0 where it has the lock.
template <class Mutex, class Try, class Wait>
int acquire(const Mutex* mutex, int busy, Try try_lock, Wait wait, bool shared = false) {
  const Asking asking;
  if (!asking || is_of_several(mutex)) return wait();
  int result = try_lock();
  const bool waits = result == busy;
  if (waits) {
    const Waiting waiting(mutex, asking);
    result = wait();
  }
  if (result == 0 && !is_nested(mutex)) asking.has(mutex, waits, shared);
  return result;
}

// The same without a wait.
template <class Mutex, class Try>
int acquire_if_free(const Mutex* mutex, Try try_lock, bool shared = false) {
  const Asking asking;
  const int result = try_lock();
  if (result == 0 && !is_of_several(mutex) && !is_nested(mutex)) asking.has(mutex, false, shared);
  return result;
}

// Around `wait`, which releases the lock and acquires it again.
template <class Mutex, class Wait>
auto without(const Mutex* mutex, Wait wait) {
  if (is_of_several(mutex)) return wait();
  release(mutex);
  const auto result = wait();
  has_again(mutex);
  return result;
}

}  // namespace foretrace::locks
