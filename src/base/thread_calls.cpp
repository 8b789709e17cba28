// pthread_create() and pthread_join(), and C11's, as the program calls them (thread_calls.hpp).
//
// What a thread that never calls MPI has computed beyond one that waits for it counts as that
// one's, as if it had slept so long (slept.hpp).
#include "base/thread_calls.hpp"

#include <pthread.h>
#include <threads.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

#include "base/cpu_clock.hpp"
#include "base/next_function.hpp"
#include "base/slept.hpp"
#include "base/ticks.hpp"

namespace foretrace {

Position later(const Position& a, const Position& b) {
  return {std::max(a.clock, b.clock), std::max(a.steps, b.steps), std::max(a.waits, b.waits)};
}

namespace thread_calls {
namespace {

using Function = void* (*)(void*);

std::atomic<const Watcher*> watching{nullptr};

// Where the calling thread began, later by as much as others have held it up since; from there it
// has gone on by what it has computed. Nothing: its maker did not know, and nobody has told it yet.
thread_local std::optional<Position> start;

Time computed() {
  return watching.load()->on_clock(work_of_thread());
}

// A thread of the program, from its maker's call until somebody has waited for its end.
struct Thread {
  Function function = nullptr;
  thrd_start_t c11_function = nullptr;
  void* argument = nullptr;
  std::optional<Position> at{};  // where it begins; at its end, where it was then
  // Its maker, and what that had done by then.
  pthread_t maker = pthread_self();
  Time makers_work = work_of_thread();
  Time makers_waits = waited_for_threads;
  std::int64_t made_ns = monotonic_ns();
  // At its end.
  pthread_t self{};
  Time work{};
  Time slept{};         // of that
  Time queued{};        // it waited for a core
  bool called = false;  // MPI
};

// Those that have ended, and may be waited for: the last one of each place. Without locks, which a
// child of the process would find as they were.
std::array<std::atomic<Thread*>, 1024> ended;

std::atomic<Thread*>& place_of(pthread_t thread) {
  return ended[(static_cast<std::uint64_t>(thread) * 0x9e3779b97f4a7c15U) >> 54];
}

// Around what the thread does: it may end by pthread_exit().
class Running {
 public:
  explicit Running(void* made) : thread_(static_cast<Thread*>(made)) { start = thread_->at; }
  ~Running() {
    thread_->self = pthread_self();
    thread_->work = work_of_thread();
    thread_->slept = slept_ever;
    thread_->queued = std::max(Time::ns(queued_ns()), Time());
    thread_->called = times_in_mpi != 0;
    if (!thread_->called) thread_->at = here();
    std::unique_ptr<Thread>(place_of(thread_->self).exchange(thread_.release())).reset();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  const Thread& thread() const { return *thread_; }

 private:
  std::unique_ptr<Thread> thread_;
};

void* run(void* made) {
  const Running running(made);
  return running.thread().function(running.thread().argument);
}

int run_c11(void* made) {
  const Running running(made);
  return running.thread().c11_function(running.thread().argument);
}

// Calls `make` with what is to be handed to run() or run_c11(); without it where the program is not
// followed, or there is no memory: the program goes on.
template <class Make>
int make_thread(const Thread& wanted, Make make) {
  std::unique_ptr<Thread> thread(new (std::nothrow) Thread(wanted));
  if (thread) thread->at = here();
  const int result = make(thread.get());
  if (result == 0) static_cast<void>(thread.release());
  return result;
}

// The calling thread has waited for the end of another.
void count(pthread_t other, std::int64_t waited_ns) {
  const std::unique_ptr<Thread> thread(place_of(other).exchange(nullptr));
  if (!thread || thread->self != other) return;
  // The rank's clock knows how far one was that called MPI (Watcher::joined).
  if (thread->called) return note_held_up(Time(), Time::ns(waited_ns));
  std::int64_t idle_ns = 0;
  if (thread->maker == pthread_self()) {
    // Since it made the thread, as far as that took so long and is not known to be for threads; it
    // may have shared its core, or had none, but for what its maker used of it.
    const Time makers = work_of_thread() - thread->makers_work;
    const Time beyond = std::max(thread->work - makers, Time());
    const Time idle = Time::ns(monotonic_ns() - thread->made_ns) - makers;
    const Time queued = std::max(thread->queued - makers, Time());
    const Time for_thread = std::min(idle, beyond + (thread->work - thread->slept) + queued);
    idle_ns = (for_thread - (waited_for_threads - thread->makers_waits)).count_ps() / 1000;
  }
  go_on(thread->at, {.ns = waited_ns, .idle_ns = idle_ns});
}

template <class Join>
int join_thread(pthread_t thread, Join join) {
  const std::int64_t begin = monotonic_ns();
  const int result = join();
  if (result != 0 || !is_followed()) return result;
  count(thread, monotonic_ns() - begin);
  if (const Watcher* const watcher = watching.load()) watcher->joined();
  return result;
}

}  // namespace

void watch(const Watcher& watcher) {
  watching.store(&watcher);
}

bool is_followed() {
  const Watcher* const watcher = watching.load();
  return watcher && watcher->is_followed();
}

std::optional<Position> begun_at() {
  return start;
}

std::optional<Position> here() {
  if (!is_followed()) return std::nullopt;
  if (auto known = watching.load()->position()) return known;
  if (!start) return std::nullopt;
  Position at = *start;
  at.clock += computed();
  return at;
}

void go_on(const std::optional<Position>& from, const Waited& waited) {
  if (!from || !is_followed()) return;
  // By that the wait is known to be none for anything else.
  note_held_up(Time(), Time::ns(std::max(waited.ns, waited.idle_ns)));
  if (watching.load()->go_on(*from, !waited.worked)) return;
  // What it has computed before anybody knew where it was, others have not waited for.
  const Time begun = from->clock - computed();
  if (!start || !waited.worked) start = Position{begun};
  const Time clock = std::max(start->clock, begun);
  start = later(*start, *from);
  start->clock = clock;
}

}  // namespace thread_calls
}  // namespace foretrace

using namespace foretrace::thread_calls;

FORETRACE_STANDS_IN int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                       Function function, void* argument) {
  const auto real =
      foretrace::next<"pthread_create", int(pthread_t*, const pthread_attr_t*, Function, void*)>();
  return make_thread({.function = function, .argument = argument}, [&](Thread* made) {
    return made ? real(thread, attributes, run, made)
                : real(thread, attributes, function, argument);
  });
}

FORETRACE_STANDS_IN int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  const auto real = foretrace::next<"thrd_create", int(thrd_t*, thrd_start_t, void*)>();
  return make_thread({.c11_function = function, .argument = argument}, [&](Thread* made) {
    return made ? real(thread, run_c11, made) : real(thread, function, argument);
  });
}

FORETRACE_STANDS_IN int pthread_join(pthread_t thread, void** value) {
  const auto real = foretrace::next<"pthread_join", int(pthread_t, void**)>();
  return join_thread(thread, [&] { return real(thread, value); });
}

FORETRACE_STANDS_IN int pthread_tryjoin_np(pthread_t thread, void** value) noexcept {
  const auto real = foretrace::next<"pthread_tryjoin_np", int(pthread_t, void**)>();
  return join_thread(thread, [&] { return real(thread, value); });
}

FORETRACE_STANDS_IN int pthread_timedjoin_np(pthread_t thread, void** value,
                                             const timespec* moment) {
  const auto real =
      foretrace::next<"pthread_timedjoin_np", int(pthread_t, void**, const timespec*)>();
  return join_thread(thread, [&] { return real(thread, value, moment); });
}

FORETRACE_STANDS_IN int pthread_clockjoin_np(pthread_t thread, void** value, clockid_t clock,
                                             const timespec* moment) {
  const auto real =
      foretrace::next<"pthread_clockjoin_np", int(pthread_t, void**, clockid_t, const timespec*)>();
  return join_thread(thread, [&] { return real(thread, value, clock, moment); });
}

FORETRACE_STANDS_IN int thrd_join(thrd_t thread, int* value) {
  const auto real = foretrace::next<"thrd_join", int(thrd_t, int*)>();
  return join_thread(thread, [&] { return real(thread, value); });
}
