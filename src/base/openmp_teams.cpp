// What GCC's OpenMP library is asked to do by a program whose threads compute in teams: who waits
// for whom at a team's beginning, its barriers and its end.
//
// A thread of a team begins where its master was, and goes on from a barrier where the last one was
// that came to it, the master after the team's end likewise. What a thread computes while it waits
// (the library looks again and again for a while) is none of the program's. Where a team has tasks,
// it may be: the library carries them out while a thread waits.
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/next_function.hpp"
#include "base/slept.hpp"
#include "base/thread_calls.hpp"
#include "base/ticks.hpp"

namespace foretrace {
namespace {

using Body = void(void*);

int threads_of_team() {
  static const auto real =
      reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "omp_get_num_threads"));
  return real ? real() : 1;
}

// What of the real time since it was made the calling thread did not compute.
class Idle {
 public:
  std::int64_t ns() const {
    const Time idle = Time::ns(monotonic_ns() - begin_ns_) - (work_of_thread() - work_);
    return std::max(idle, Time()).count_ps() / 1000;
  }

 private:
  std::int64_t begin_ns_ = monotonic_ns();
  Time work_ = work_of_thread();
};

class Team {
 public:
  Team(Body* body, void* data, const Position& begin) : body_(body), data_(data), begin_(begin) {}

  // By each of its threads.
  static void run(void* team) { static_cast<Team*>(team)->run_here(); }
  // By each of its threads, around the library's `wait`.
  template <class Wait>
  void meet(Wait wait);
  // By its master, when all have run.
  void end() const {
    if (masters_) leave(last_, *masters_);
  }

  void has_tasks() { has_tasks_.store(true, std::memory_order_relaxed); }
  static Team* current() { return current_; }

 private:
  void run_here();
  void come(std::optional<Position>& last);
  void leave(const std::optional<Position>& last, const Idle& since) const {
    thread_calls::go_on(last,
                        {.ns = since.ns(), .worked = has_tasks_.load(std::memory_order_relaxed)});
  }

  class Turn {
   public:
    explicit Turn(Team& team) : team_(team) {
      while (team.taken_.test_and_set(std::memory_order_acquire)) ::sched_yield();
    }
    ~Turn() { team_.taken_.clear(std::memory_order_release); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Team& team_;
  };

  static thread_local Team* current_;

  Body* body_;
  void* data_;
  Position begin_;
  pthread_t master_ = pthread_self();
  std::atomic<int> threads_{1};
  std::atomic<bool> has_tasks_{false};
  std::atomic_flag taken_ = ATOMIC_FLAG_INIT;
  std::optional<Idle> masters_;   // since it has come to the end
  std::optional<Position> last_;  // of those that have come to the end,
  // to the barrier at hand, and to the one at hand or before it.
  std::optional<Position> arrived_last_;
  std::optional<Position> met_[2];
  int arrived_ = 0;
  unsigned barriers_ = 0;
};

thread_local Team* Team::current_ = nullptr;

void Team::run_here() {
  const int threads = threads_of_team();
  const bool is_master = pthread_equal(master_, pthread_self()) != 0;
  if (threads > 1) {
    threads_.store(threads, std::memory_order_relaxed);
    if (!is_master) thread_calls::go_on(begin_, {.worked = false});
  }
  Team* const outer = std::exchange(current_, this);
  body_(data_);
  current_ = outer;
  if (threads == 1) return;
  come(last_);
  if (is_master) masters_.emplace();
}

void Team::come(std::optional<Position>& last) {
  const std::optional<Position> here = thread_calls::here();
  const Turn turn(*this);
  if (here) last = last ? later(*last, *here) : here;
}

template <class Wait>
void Team::meet(Wait wait) {
  const int threads = threads_.load(std::memory_order_relaxed);
  if (threads == 1) return wait();
  come(arrived_last_);
  unsigned barrier = 0;
  {
    const Turn turn(*this);
    barrier = barriers_;
    if (++arrived_ == threads) {
      met_[barriers_++ % 2] = std::exchange(arrived_last_, std::nullopt);
      arrived_ = 0;
    }
  }
  const Idle idle;
  wait();
  leave(met_[barrier % 2], idle);
}

// Calls `start` with what a team is to run.
template <class Start>
auto run_team(Body* body, void* data, Start start) {
  const std::optional<Position> here = thread_calls::here();
  if (!here) return start(body, data);
  Team team(body, data, *here);
  struct End {
    const Team& team;
    ~End() { team.end(); }
  };
  const End end{team};
  return start(&Team::run, &team);
}

// Before a thread makes tasks.
void note_tasks() {
  if (Team* const team = Team::current()) team->has_tasks();
}

}  // namespace
}  // namespace foretrace

using foretrace::Body;
using foretrace::next_function;
using foretrace::note_tasks;
using foretrace::run_team;
using foretrace::Team;

namespace {

// `more`: what its kind of a parallel part takes besides.
template <class Result = void, class... More>
Result start_team(const char* name, Body* body, void* data, More... more) {
  auto* const real = next_function<Result(Body*, void*, More...)>(name);
  return run_team(body, data, [&](Body* run, void* with) { return real(run, with, more...); });
}

template <class Wait>
void meet(Wait wait) {
  Team* const team = Team::current();
  team ? team->meet(wait) : wait();
}

}  // namespace

FORETRACE_STANDS_IN void GOMP_parallel(Body* body, void* data, unsigned threads, unsigned flags) {
  start_team("GOMP_parallel", body, data, threads, flags);
}
FORETRACE_STANDS_IN unsigned GOMP_parallel_reductions(Body* body, void* data, unsigned threads,
                                                      unsigned flags) {
  return start_team<unsigned>("GOMP_parallel_reductions", body, data, threads, flags);
}
FORETRACE_STANDS_IN void GOMP_parallel_sections(Body* body, void* data, unsigned threads,
                                                unsigned count, unsigned flags) {
  start_team("GOMP_parallel_sections", body, data, threads, count, flags);
}

// Loops: from where, to where, in which steps; in pieces of which length.
#define FORETRACE_LOOP(kind)                                                                       \
  FORETRACE_STANDS_IN void GOMP_parallel_loop_##kind(                                              \
      Body* body, void* data, unsigned threads, long begin, long end, long step, unsigned flags) { \
    start_team("GOMP_parallel_loop_" #kind, body, data, threads, begin, end, step, flags);         \
  }
#define FORETRACE_LOOP_IN_PIECES(kind)                                                            \
  FORETRACE_STANDS_IN void GOMP_parallel_loop_##kind(Body* body, void* data, unsigned threads,    \
                                                     long begin, long end, long step, long piece, \
                                                     unsigned flags) {                            \
    start_team("GOMP_parallel_loop_" #kind, body, data, threads, begin, end, step, piece, flags); \
  }
FORETRACE_LOOP(runtime)
FORETRACE_LOOP(nonmonotonic_runtime)
FORETRACE_LOOP(maybe_nonmonotonic_runtime)
FORETRACE_LOOP_IN_PIECES(static)
FORETRACE_LOOP_IN_PIECES(dynamic)
FORETRACE_LOOP_IN_PIECES(guided)
FORETRACE_LOOP_IN_PIECES(nonmonotonic_dynamic)
FORETRACE_LOOP_IN_PIECES(nonmonotonic_guided)

FORETRACE_STANDS_IN void GOMP_barrier() {
  static const auto real = next_function<void()>("GOMP_barrier");
  meet(real);
}
FORETRACE_STANDS_IN void GOMP_loop_end() {
  static const auto real = next_function<void()>("GOMP_loop_end");
  meet(real);
}
FORETRACE_STANDS_IN void GOMP_sections_end() {
  static const auto real = next_function<void()>("GOMP_sections_end");
  meet(real);
}

// As many arguments as the newest compiler passes: whoever passes fewer says so in the flags.
FORETRACE_STANDS_IN void GOMP_task(Body* body, void* data, void (*copy)(void*, void*), long size,
                                   long alignment, bool may_wait, unsigned flags, void** depend,
                                   int priority, void* detach) {
  using Function =
      void(Body*, void*, void (*)(void*, void*), long, long, bool, unsigned, void**, int, void*);
  static const auto real = next_function<Function>("GOMP_task");
  note_tasks();
  real(body, data, copy, size, alignment, may_wait, flags, depend, priority, detach);
}

#define FORETRACE_TASKLOOP(name, Number)                                                           \
  FORETRACE_STANDS_IN void name(Body* body, void* data, void (*copy)(void*, void*), long size,     \
                                long alignment, unsigned flags, unsigned long tasks, int priority, \
                                Number begin, Number end, Number step) {                           \
    using Function = void(Body*, void*, void (*)(void*, void*), long, long, unsigned,              \
                          unsigned long, int, Number, Number, Number);                             \
    static const auto real = next_function<Function>(#name);                                       \
    note_tasks();                                                                                  \
    real(body, data, copy, size, alignment, flags, tasks, priority, begin, end, step);             \
  }
FORETRACE_TASKLOOP(GOMP_taskloop, long)
FORETRACE_TASKLOOP(GOMP_taskloop_ull, unsigned long long)
