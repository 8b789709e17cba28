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
#include <utility>

#include "base/cpu_clock.hpp"
#include "base/interpreter_lock.hpp"
#include "base/next_function.hpp"
#include "base/slept.hpp"
#include "base/ticks.hpp"
#include "base/work_sharing.hpp"

namespace foretrace::thread_calls {
namespace {

using Function = void* (*)(void*);

std::atomic<const Watcher*> watching{nullptr};

// Where the calling thread began, later by as much as others have held it up since; from there it
// has gone on by what it has computed. Nothing: its maker did not know, and nobody has told it yet.
thread_local std::optional<Position> start;

// A shorter wait is none along with others, for files or other processes.
constexpr std::int64_t kLeastAlongNs = 1'000'000;

// How long threads have waited for a core, as far as they have asked.
std::atomic<std::int64_t> all_queued_ns{0};

// The calling thread's part of that. Asking takes some microseconds.
class Queued {
 public:
  // Some milliseconds old at most; -1: the kernel does not say.
  std::int64_t lately() { return monotonic_ns() - asked_ns_ > kLatelyNs ? now() : queued_ns_; }
  std::int64_t now() {
    const std::int64_t queued = queued_ns();
    if (queued > told_ns_) all_queued_ns += queued - std::exchange(told_ns_, queued);
    queued_ns_ = queued;
    asked_ns_ = monotonic_ns();
    asked_cpu_ns_ = now_on(CLOCK_THREAD_CPUTIME_ID);
    return queued_ns_;
  }
  // Others are to know if it is long.
  void tell() {
    const std::int64_t without =
        monotonic_ns() - asked_ns_ - (now_on(CLOCK_THREAD_CPUTIME_ID) - asked_cpu_ns_);
    if (without >= kLeastAlongNs) now();
  }

 private:
  static constexpr std::int64_t kLatelyNs = 4'000'000;

  std::int64_t asked_ns_ = 0;
  std::int64_t asked_cpu_ns_ = 0;
  std::int64_t queued_ns_ = -1;
  std::int64_t told_ns_ = 0;  // of it to others
};
thread_local Queued queued;

thread_local WaitedAlong along;

// What the calling thread had computed when it last handed on how far it was, without sleep.
thread_local Time handed_on;

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
  Unawaited unawaited{};
};

// Those that have ended, and may be waited for: the last one of each place. Without locks, which a
// child of the process would find as they were.
std::array<std::atomic<Thread*>, 1024> ended;

std::atomic<Thread*>& place_of(pthread_t thread) {
  return ended[(static_cast<std::uint64_t>(thread) * 0x9e3779b97f4a7c15U) >> 54];
}

// The threads that have ended while others that were made like them were there, together.
std::atomic<std::int64_t> ended_computed_ns{0};
std::atomic<std::int64_t> ended_queued_ns{0};
std::atomic<std::int64_t> ended_most_ns{0};  // computed by one of them

// Whether the program has made any by itself.
std::atomic<bool> makes_own{false};

// How many of the program's have begun, and how many of these have not ended. (MPI has threads of
// its own.)
std::atomic<std::int64_t> begun{0};
std::atomic<std::int64_t> there{0};
// Whether it has been known of any where it was.
std::atomic<bool> others_known{false};

// Around what the thread does: it may end by pthread_exit().
class Running {
 public:
  explicit Running(void* made) : thread_(static_cast<Thread*>(made)) {
    start = thread_->at;
    if (start) along.slept = start->slept;
    if (start) others_known = true;
  }
  ~Running() {
    if (is_programs_) --there;
    thread_->self = pthread_self();
    thread_->work = work_of_thread();
    thread_->slept = slept_ever;
    thread_->queued = std::max(Time::ns(queued.now()), Time());
    if (found_others_ || (is_programs_ && begun != begun_)) count_usage();
    thread_->called = times_in_mpi != 0;
    thread_->unawaited = unawaited_here();
    if (!thread_->called) thread_->at = here();
    std::unique_ptr<Thread>(place_of(thread_->self).exchange(thread_.release())).reset();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  const Thread& thread() const { return *thread_; }

 private:
  void count_usage() const {
    const std::int64_t computed_ns = now_on(CLOCK_THREAD_CPUTIME_ID);
    ended_computed_ns += computed_ns;
    ended_queued_ns += thread_->queued.count_ps() / 1000;
    std::int64_t most_ns = ended_most_ns;
    while (most_ns < computed_ns && !ended_most_ns.compare_exchange_weak(most_ns, computed_ns)) {
    }
  }

  std::unique_ptr<Thread> thread_;
  bool is_programs_ = thread_->at.has_value();
  bool found_others_ = is_programs_ && there++ > 0;
  std::int64_t begun_ = is_programs_ ? ++begun : 0;
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
// followed, or there is no memory: the program goes on. `caller`: the code that asks for the
// thread.
template <class Make>
int make_thread(const Thread& wanted, const void* caller, Make make) {
  std::unique_ptr<Thread> thread(new (std::nothrow) Thread(wanted));
  if (thread) thread->at = here();
  if (thread && thread->at) others_known = true;
  if (thread && thread->at && !makes_own && !is_of_openmp(caller)) makes_own = true;
  if (const Watcher* const watcher = watching.load(); watcher && watcher->makes_thread)
    watcher->makes_thread();
  const int result = make(thread.get());
  if (result == 0) static_cast<void>(thread.release());
  return result;
}

// The calling thread has waited for the end of another.
void count(pthread_t other, Waited waited) {
  const std::unique_ptr<Thread> thread(place_of(other).exchange(nullptr));
  if (!thread || thread->self != other) return;
  // The rank's clock knows how far one was that called MPI (Watcher::joined).
  if (thread->called) return note_held_up(Time(), Time::ns(waited.ns));
  if (thread->maker == pthread_self()) {
    // Since it made the thread, as far as that took so long and is not known to be for threads; it
    // may have shared its core, or had none, but for what its maker used of it.
    const Time makers = work_of_thread() - thread->makers_work;
    const Time beyond = std::max(thread->work - makers, Time());
    const Time idle = Time::ns(monotonic_ns() - thread->made_ns) - makers;
    const Time queued = std::max(thread->queued - makers, Time());
    const Time for_thread = std::min(idle, beyond + (thread->work - thread->slept) + queued);
    waited.idle_ns = (for_thread - (waited_for_threads - thread->makers_waits)).count_ps() / 1000;
  }
  go_on(thread->at, waited);
}

template <class Join>
int join_thread(pthread_t thread, Join join) {
  const WaitBegin begin = WaitBegin::now();
  const int result = join();
  if (result != 0 || !is_followed()) return result;
  count(thread, begin.until_now());
  if (const Watcher* const watcher = watching.load()) watcher->joined();
  return result;
}

}  // namespace

void watch(const Watcher& watcher) {
  interpreter_lock::find();
  watching.store(&watcher);
}

bool is_followed() {
  const Watcher* const watcher = watching.load();
  return watcher && watcher->is_followed();
}

Time on_clock(Time computed) {
  return watching.load()->on_clock(computed);
}

bool follows_locks() {
  return is_followed() && watching.load()->one_calls();
}

bool knows_others() {
  return others_known.load(std::memory_order_relaxed);
}

std::optional<Position> begun_at() {
  return start;
}

Time begun_clock() {
  return start ? start->clock : Time();
}

namespace {

// `work`: what it has done, where that is all that says how far it is.
std::optional<Position> look_from(std::optional<Time>& work) {
  if (!is_followed()) return std::nullopt;
  std::optional<Position> at = watching.load()->position();
  if (!at) {
    if (!start) return std::nullopt;
    work = work_of_thread();
    at = start;
    at->clock += on_clock(*work);
  }
  at->slept = slept_ever + along.slept;
  return at;
}

}  // namespace

std::optional<Position> look() {
  std::optional<Time> work;
  return look_from(work);
}

std::optional<Position> here() {
  std::optional<Time> work;
  const std::optional<Position> at = look_from(work);
  if (work) handed_on = *work - slept_ever;
  return at;
}

Unawaited unawaited_here() {
  if (!start || times_in_mpi != 0 || !is_followed()) return {};
  const Time work = work_of_thread() - slept_ever;
  Unawaited unawaited{*start, work - handed_on};
  unawaited.at.clock += on_clock(work);
  return unawaited;
}

std::vector<Unawaited> take_unawaited_ends() {
  std::vector<Unawaited> all;
  for (std::atomic<Thread*>& place : ended) {
    const std::unique_ptr<Thread> thread(place.exchange(nullptr));
    if (thread && thread->unawaited.work > Time()) all.push_back(thread->unawaited);
  }
  return all;
}

WaitedAlong waited_along() {
  return along;
}

Time crowded() {
  // Of what all compute, by others than the busiest: MPI has threads of its own that do little.
  constexpr double kLeastBeside = 0.2;
  constexpr double kLeastQueued = 0.2;
  const std::optional<ThreadsUsage> living = usage_of_threads();
  if (!living) return {};
  const Time ended = Time::ns(ended_computed_ns);
  const Time most_ended = Time::ns(ended_most_ns);
  const double computed = (living->computed + ended).seconds();
  // What the busiest of those that have ended waited is as much of all as it computed.
  const double beside = ended > Time() ? 1 - most_ended.seconds() / ended.seconds() : 0;
  const Time queued = living->queued_beside + Time::ns(ended_queued_ns).scaled(beside);
  const bool several =
      computed - std::max(living->most, most_ended).seconds() >= kLeastBeside * computed;
  if (!several || queued.seconds() < kLeastQueued * computed) return {};
  return makes_own || has_openmp_that_shares_out() ? queued : Time();
}

void tell_queued() {
  if (is_followed()) queued.tell();
}

WaitBegin WaitBegin::now() {
  WaitBegin begin;
  begin.at_ns_ = monotonic_ns();
  if (!is_followed()) return begin;
  if (queued.lately() < 0) return begin;
  begin.usage_ = {.queued = all_queued_ns, .others = now_on(CLOCK_PROCESS_CPUTIME_ID)};
  begin.in_calls_ = watching.load()->in_calls();
  return begin;
}

Waited WaitBegin::until_now() const {
  const std::int64_t waited_ns = monotonic_ns() - at_ns_;
  if (usage_.queued < 0) return {.ns = waited_ns};
  // While the program was in MPI it did not wait for this thread.
  const Watcher& watcher = *watching.load();
  const Time in_calls = std::clamp(watcher.in_calls() - in_calls_, Time(), Time::ns(waited_ns));
  const Time without = Time::ns(waited_ns) - in_calls;
  if (without < Time::ns(kLeastAlongNs)) return {.ns = waited_ns};
  if (queued.now() < 0) return {.ns = waited_ns};
  // It has computed nothing, and waited.
  ThreadUsage before = usage_;
  if (watcher.looks_in_calls) before.others += in_calls.count_ps() / 1000;
  const ThreadUsage now{
      .queued = all_queued_ns, .others = now_on(CLOCK_PROCESS_CPUTIME_ID), .gave_away = 1};
  const Waits waits = waits_between(before, now, without);
  return {.ns = waited_ns,
          .for_others_ns = waits.for_others.count_ps() / 1000,
          .counts = watcher.counts_waits()};
}

// Where the calling thread is after `waited` for others; nowhere where that is told by `from`, to
// which others have slept, or computed.
static Position after(const Waited& waited, Time from) {
  const std::optional<Position> at = waited.for_others_ns == 0 ? std::nullopt : here();
  if (!at) return {};
  const Time for_others = Time::ns(waited.for_others_ns);
  const Time held_up = on_clock(for_others);
  const Time told = std::max(from - at->clock, Time());
  if (held_up - told <= Time::ps(held_up.count_ps() / 10)) return {};
  (waited.counts ? along.counted : along.left_out) += std::max(for_others - told, Time());
  if (!waited.counts) return {};
  return {.clock = at->clock + held_up, .behind = at->behind};
}

void go_on(const std::optional<Position>& from, const Waited& waited) {
  if (!from || !is_followed()) return;
  ++times_gone_on;
  const Time slept = from->slept - slept_ever - along.slept;
  along.slept += std::clamp(slept, Time(), Time::ns(std::max<std::int64_t>(waited.ns, 0)));
  // By that the wait is known to be none for anything else.
  note_held_up(Time(), Time::ns(std::max(waited.ns, waited.idle_ns)));
  const Position until = after_both(*from, after(waited, from->clock));
  if (watching.load()->go_on(until, waited)) return;
  // What it has computed before anybody knew where it was, others have not waited for.
  Position begun = until;
  begun.clock = until.clock - on_clock(work_of_thread());
  start = start && waited.worked ? after_both(*start, begun) : begun;
  others_known = true;
}

}  // namespace foretrace::thread_calls

using namespace foretrace::thread_calls;

FORETRACE_STANDS_IN int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                       Function function, void* argument) {
  const auto real =
      foretrace::next<"pthread_create", int(pthread_t*, const pthread_attr_t*, Function, void*)>();
  return make_thread({.function = function, .argument = argument}, __builtin_return_address(0),
                     [&](Thread* made) {
                       return made ? real(thread, attributes, run, made)
                                   : real(thread, attributes, function, argument);
                     });
}

FORETRACE_STANDS_IN int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  const auto real = foretrace::next<"thrd_create", int(thrd_t*, thrd_start_t, void*)>();
  return make_thread({.c11_function = function, .argument = argument}, __builtin_return_address(0),
                     [&](Thread* made) {
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
