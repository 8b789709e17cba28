// What GCC's OpenMP library is asked to do by a program whose threads compute in teams: who waits
// for whom at a team's beginning, its barriers, its tasks and its end.
//
// A thread of a team begins where its master was, and goes on from a barrier where the last one was
// that came to it, the master after the team's end likewise. What a thread computes while it waits
// (the library looks again and again for a while) is none of the program's. Where a team has tasks,
// it may be: the library carries them out while a thread waits.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "base/locks.hpp"
#include "base/next_function.hpp"
#include "base/slept.hpp"
#include "base/thread_calls.hpp"
#include "base/ticks.hpp"
#include "base/work_sharing.hpp"

namespace foretrace {
namespace {

using Body = void(void*);

// The function that the module would have called without us: of the library that it was loaded
// with, by itself (as an interpreter's modules are).
template <class Function>
Function* find_for(const link_map& module, const char* name) {
  void* const handle = ::dlopen(module.l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return nullptr;
  void* const found = ::dlsym(handle, name);
  ::dlclose(handle);
  return reinterpret_cast<Function*>(found);
}

// The library's function that the code at `caller` would have called.
template <Name name, class Function>
Function* next_for(const void* caller) {
  if (Function* const found = FoundAtLoad<name, Function, "">::function) return found;
  struct Known {
    const link_map* module;
    Function* function;
    const Known* next;
  };
  static constinit std::atomic<const Known*> known{nullptr};
  const link_map* const module = module_of(caller);
  for (const Known* at = known.load(); at; at = at->next)
    if (at->module == module) return at->function;
  Function* found = next_function<Function>(name.text);
  if (!found && module) found = find_for<Function>(*module, name.text);
  auto* const made = new (std::nothrow) Known{module, found, known.load()};
  while (made && !known.compare_exchange_weak(made->next, made)) {
  }
  return found;
}

// What of the real time since it was made the calling thread did not compute.
class Idle {
 public:
  std::int64_t ns() const {
    const Time idle = Time::ns(monotonic_ns() - begin_ns_) - work();
    return std::max(idle, Time()).count_ps() / 1000;
  }
  // What it did compute.
  Time work() const { return work_of_thread() - work_; }

 private:
  std::int64_t begin_ns_ = monotonic_ns();
  Time work_ = work_of_thread();
};

// Where the last of several threads was.
using Last = std::optional<Position>;

class Team {
 public:
  // `size`: the library's omp_get_num_threads().
  Team(Body* body, void* data, const Position& begin, int (*size)())
      : body_(body), data_(data), begin_(begin), size_(size) {}

  // By each of its threads.
  static void run(void* team) { static_cast<Team*>(team)->run_here(); }
  // By its master, when all have run.
  void end() const {
    if (masters_) leave(last_, *masters_);
  }
  // By each of its threads, around the library's `wait` for all of them.
  template <class Wait>
  auto meet(Wait wait);
  // Around `wait` for one that has said that others may go on.
  template <class Wait>
  auto follow(Wait wait);
  void let_follow() { come(followed_); }
  // Around `wait` for tasks; one of them is done.
  template <class Wait>
  void await_tasks(Wait wait);
  void end_task() {
    come(tasks_);
    come(last_);
  }

  void has_tasks() { has_tasks_.store(true, std::memory_order_relaxed); }
  bool is_alone() const { return threads_.load(std::memory_order_relaxed) == 1; }
  static Team* current() { return current_; }
  static void be_current(Team* team) { current_ = team; }

 private:
  void run_here();
  void come(Last& last);
  void leave(const Last& last, const Idle& since) const {
    thread_calls::go_on(last, {.ns = since.ns(),
                               .worked = has_tasks_.load(std::memory_order_relaxed),
                               .spun = since.work()});
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
  int (*size_)();
  const Idle since_;  // its master called for it
  pthread_t master_ = pthread_self();
  std::atomic<int> threads_{1};
  std::atomic<bool> has_tasks_{false};
  std::atomic_flag taken_ = ATOMIC_FLAG_INIT;
  std::optional<Idle> masters_;  // since it has come to the end
  Last last_;                    // of those that have come to the end, or ended a task,
  Last tasks_;                   // ended a task, or
  Last followed_;                // let others go on.
  Last arrived_last_;            // Of those that have come to the barrier at hand,
  Last met_[2];                  // and to this one or the one before it, by their number
  int arrived_ = 0;
  unsigned barriers_ = 0;
};

thread_local Team* Team::current_ = nullptr;

void Team::run_here() {
  const int threads = size_();
  const bool is_master = pthread_equal(master_, pthread_self()) != 0;
  if (threads > 1) {
    threads_.store(threads, std::memory_order_relaxed);
    // Its master as well: the library may have waited for the others.
    thread_calls::go_on(begin_, {.ns = is_master ? since_.ns() : 0, .worked = false});
  }
  Team* const outer = std::exchange(current_, this);
  body_(data_);
  current_ = outer;
  if (threads == 1) return;
  come(last_);
  if (is_master) masters_.emplace();
}

void Team::come(Last& last) {
  const std::optional<Position> here = thread_calls::here();
  if (!here) return;
  const Turn turn(*this);
  last = last ? after_both(*last, *here) : here;
}

template <class Wait>
auto Team::meet(Wait wait) {
  come(arrived_last_);
  unsigned barrier = 0;
  {
    const Turn turn(*this);
    barrier = barriers_;
    if (++arrived_ == threads_.load(std::memory_order_relaxed)) {
      met_[barriers_++ % 2] = std::exchange(arrived_last_, std::nullopt);
      arrived_ = 0;
    }
  }
  struct End {
    const Team& team;
    const Last& last;
    Idle idle{};
    ~End() { team.leave(last, idle); }
  };
  const End end{*this, met_[barrier % 2]};
  return wait();
}

template <class Wait>
auto Team::follow(Wait wait) {
  const std::optional<Position> here = thread_calls::here();
  struct End {
    Team& team;
    const std::optional<Position>& here;
    Idle idle{};
    ~End() {
      Last last = here;
      {
        const Turn turn(team);
        if (last && team.followed_) last = after_both(*last, *team.followed_);
      }
      team.leave(last, idle);
    }
  };
  const End end{*this, here};
  return wait();
}

template <class Wait>
void Team::await_tasks(Wait wait) {
  const Idle idle;
  wait();
  Last last;
  {
    const Turn turn(*this);
    last = tasks_;
  }
  thread_calls::go_on(last, {.ns = idle.ns()});
}

// Calls `start` with what a team is to run.
template <class Start>
auto run_team(const void* caller, Body* body, void* data, Start start) {
  const std::optional<Position> here = thread_calls::here();
  auto* const size = here ? next_for<"omp_get_num_threads", int()>(caller) : nullptr;
  if (!size) return start(body, data);
  Team team(body, data, *here, size);
  struct End {
    const Team& team;
    ~End() { team.end(); }
  };
  const End end{team};
  return start(&Team::run, &team);
}

// A task as the library keeps it: the program's data lies behind this, aligned as it wants.
struct Task {
  Body* body;
  void (*copy)(void*, void*);
  Team* team;
  std::size_t offset;
  std::size_t size;

  static std::size_t offset_for(std::size_t alignment) {
    const std::size_t step = std::max(alignment, alignof(Task));
    return (sizeof(Task) + step - 1) / step * step;
  }
  void* data(void* task) const { return static_cast<std::byte*>(task) + offset; }

  static void run(void* made) {
    const Task& task = *static_cast<Task*>(made);
    Team* const outer = Team::current();
    Team::be_current(task.team);
    task.body(task.data(made));
    Team::be_current(outer);
    task.team->end_task();
  }
};

// What the library copies a task's data from.
struct TaskData {
  Task task;
  void* data;

  // Into the room that the library has made.
  static void copy(void* made, void* from) {
    const TaskData& source = *static_cast<TaskData*>(from);
    const Task& task = *new (made) Task(source.task);
    if (task.copy)
      task.copy(task.data(made), source.data);
    else
      std::memcpy(task.data(made), source.data, task.size);
  }
};

}  // namespace
}  // namespace foretrace

using foretrace::Body;
using foretrace::Name;
using foretrace::next_for;
using foretrace::run_team;
using foretrace::Task;
using foretrace::TaskData;
using foretrace::Team;

namespace {

// `more`: what its kind of a parallel part takes besides.
template <Name name, class Result = void, class... More>
Result start_team(const void* caller, Body* body, void* data, More... more) {
  auto* const real = next_for<name, Result(Body*, void*, More...)>(caller);
  return run_team(caller, body, data,
                  [&](Body* run, void* with) { return real(run, with, more...); });
}

template <class Wait>
void acquire(const void* lock, Wait wait) {
  const foretrace::locks::Asking asking;
  wait();
  asking.has(lock);
}

// The team of the calling thread, if it has others to wait for.
Team* team_of_several() {
  Team* const team = Team::current();
  return team && !team->is_alone() ? team : nullptr;
}

template <Name name, class Result = void>
Result meet(const void* caller) {
  auto* const real = next_for<name, Result()>(caller);
  Team* const team = team_of_several();
  return team ? team->meet(real) : real();
}

}  // namespace

#define FORETRACE_CALLER __builtin_return_address(0)

FORETRACE_STANDS_IN void GOMP_parallel(Body* body, void* data, unsigned threads, unsigned flags) {
  start_team<"GOMP_parallel">(FORETRACE_CALLER, body, data, threads, flags);
}
FORETRACE_STANDS_IN unsigned GOMP_parallel_reductions(Body* body, void* data, unsigned threads,
                                                      unsigned flags) {
  return start_team<"GOMP_parallel_reductions", unsigned>(FORETRACE_CALLER, body, data, threads,
                                                          flags);
}
FORETRACE_STANDS_IN void GOMP_parallel_sections(Body* body, void* data, unsigned threads,
                                                unsigned count, unsigned flags) {
  start_team<"GOMP_parallel_sections">(FORETRACE_CALLER, body, data, threads, count, flags);
}

// Loops: from where, to where, in which steps; in pieces of which length.
#define FORETRACE_LOOP(name)                                                                    \
  FORETRACE_STANDS_IN void name(Body* body, void* data, unsigned threads, long begin, long end, \
                                long step, unsigned flags) {                                    \
    start_team<#name>(FORETRACE_CALLER, body, data, threads, begin, end, step, flags);          \
  }
#define FORETRACE_LOOP_IN_PIECES(name)                                                          \
  FORETRACE_STANDS_IN void name(Body* body, void* data, unsigned threads, long begin, long end, \
                                long step, long piece, unsigned flags) {                        \
    start_team<#name>(FORETRACE_CALLER, body, data, threads, begin, end, step, piece, flags);   \
  }
FORETRACE_LOOP(GOMP_parallel_loop_runtime)
FORETRACE_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
FORETRACE_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
FORETRACE_LOOP_IN_PIECES(GOMP_parallel_loop_static)
FORETRACE_LOOP_IN_PIECES(GOMP_parallel_loop_dynamic)
FORETRACE_LOOP_IN_PIECES(GOMP_parallel_loop_guided)
FORETRACE_LOOP_IN_PIECES(GOMP_parallel_loop_nonmonotonic_dynamic)
FORETRACE_LOOP_IN_PIECES(GOMP_parallel_loop_nonmonotonic_guided)

// Barriers; those that may be cancelled say whether they were.
#define FORETRACE_MEETING(name, Result)           \
  FORETRACE_STANDS_IN Result name() {             \
    return meet<#name, Result>(FORETRACE_CALLER); \
  }
FORETRACE_MEETING(GOMP_barrier, void)
FORETRACE_MEETING(GOMP_loop_end, void)
FORETRACE_MEETING(GOMP_sections_end, void)
FORETRACE_MEETING(GOMP_barrier_cancel, bool)
FORETRACE_MEETING(GOMP_loop_end_cancel, bool)
FORETRACE_MEETING(GOMP_sections_end_cancel, bool)

// A piece of a loop that waits for the one before it.
FORETRACE_STANDS_IN void GOMP_ordered_start() {
  auto* const real = next_for<"GOMP_ordered_start", void()>(FORETRACE_CALLER);
  Team* const team = team_of_several();
  team ? team->follow(real) : real();
}
FORETRACE_STANDS_IN void GOMP_ordered_end() {
  auto* const real = next_for<"GOMP_ordered_end", void()>(FORETRACE_CALLER);
  if (Team* const team = team_of_several()) team->let_follow();
  real();
}

// What one thread does for all: the others wait for what it has made, and it for them.
FORETRACE_STANDS_IN void* GOMP_single_copy_start() {
  auto* const real = next_for<"GOMP_single_copy_start", void*()>(FORETRACE_CALLER);
  Team* const team = team_of_several();
  return team ? team->follow(real) : real();
}
FORETRACE_STANDS_IN void GOMP_single_copy_end(void* data) {
  auto* const real = next_for<"GOMP_single_copy_end", void(void*)>(FORETRACE_CALLER);
  Team* const team = team_of_several();
  if (!team) return real(data);
  team->let_follow();
  team->follow([&] { real(data); });
}

#define FORETRACE_WAIT_FOR_TASKS(name)                            \
  FORETRACE_STANDS_IN void name() {                               \
    auto* const real = next_for<#name, void()>(FORETRACE_CALLER); \
    Team* const team = team_of_several();                         \
    team ? team->await_tasks(real) : real();                      \
  }
FORETRACE_WAIT_FOR_TASKS(GOMP_taskwait)
FORETRACE_WAIT_FOR_TASKS(GOMP_taskgroup_end)

// Parts of the program that one thread at a time carries out, of whatever team; those without a
// name are one.
static char nameless;
FORETRACE_STANDS_IN void GOMP_critical_start() {
  acquire(&nameless,
          [real = next_for<"GOMP_critical_start", void()>(FORETRACE_CALLER)] { real(); });
}
FORETRACE_STANDS_IN void GOMP_critical_end() {
  foretrace::locks::release(&nameless);
  next_for<"GOMP_critical_end", void()>(FORETRACE_CALLER)();
}
FORETRACE_STANDS_IN void GOMP_critical_name_start(void** name) {
  auto* const real = next_for<"GOMP_critical_name_start", void(void**)>(FORETRACE_CALLER);
  acquire(name, [=] { real(name); });
}
FORETRACE_STANDS_IN void GOMP_critical_name_end(void** name) {
  foretrace::locks::release(name);
  next_for<"GOMP_critical_name_end", void(void**)>(FORETRACE_CALLER)(name);
}

// Locks, as C and Fortran have them.
#define FORETRACE_OMP_LOCK(set, test, unset)                             \
  FORETRACE_STANDS_IN void set(void* lock) {                             \
    auto* const real = next_for<#set, void(void*)>(FORETRACE_CALLER);    \
    acquire(lock, [=] { real(lock); });                                  \
  }                                                                      \
  FORETRACE_STANDS_IN int test(void* lock) {                             \
    const foretrace::locks::Asking asking;                               \
    const int has = next_for<#test, int(void*)>(FORETRACE_CALLER)(lock); \
    if (has != 0) asking.has(lock, false);                               \
    return has;                                                          \
  }                                                                      \
  FORETRACE_STANDS_IN void unset(void* lock) {                           \
    foretrace::locks::release(lock);                                     \
    next_for<#unset, void(void*)>(FORETRACE_CALLER)(lock);               \
  }
FORETRACE_OMP_LOCK(omp_set_lock, omp_test_lock, omp_unset_lock)
FORETRACE_OMP_LOCK(omp_set_lock_, omp_test_lock_, omp_unset_lock_)

// As many arguments as the newest compiler passes: whoever passes fewer says so in the flags.
FORETRACE_STANDS_IN void GOMP_task(Body* body, void* data, void (*copy)(void*, void*), long size,
                                   long alignment, bool may_wait, unsigned flags, void** depend,
                                   int priority, void* detach) {
  using Copy = void(void*, void*);
  using Function = void(Body*, void*, Copy*, long, long, bool, unsigned, void**, int, void*);
  auto* const real = next_for<"GOMP_task", Function>(FORETRACE_CALLER);
  Team* const team = team_of_several();
  // Into the data of a task that ends by an event the library writes the event.
  constexpr unsigned kDetached = 1U << 13;
  if (team) team->has_tasks();
  if (!team || (flags & kDetached) != 0)
    return real(body, data, copy, size, alignment, may_wait, flags, depend, priority, detach);
  const auto length = static_cast<std::size_t>(size);
  const std::size_t offset = Task::offset_for(static_cast<std::size_t>(alignment));
  TaskData wrapped{{body, copy, team, offset, length}, data};
  real(&Task::run, &wrapped, &TaskData::copy, static_cast<long>(offset + length),
       std::max(alignment, static_cast<long>(alignof(Task))), may_wait, flags, depend, priority,
       detach);
}

// The library writes each task's part of the loop into its data: they stay as they are.
#define FORETRACE_TASKLOOP(name, Number)                                                           \
  FORETRACE_STANDS_IN void name(Body* body, void* data, void (*copy)(void*, void*), long size,     \
                                long alignment, unsigned flags, unsigned long tasks, int priority, \
                                Number begin, Number end, Number step) {                           \
    using Function = void(Body*, void*, void (*)(void*, void*), long, long, unsigned,              \
                          unsigned long, int, Number, Number, Number);                             \
    auto* const real = next_for<#name, Function>(FORETRACE_CALLER);                                \
    if (Team* const team = team_of_several()) team->has_tasks();                                   \
    real(body, data, copy, size, alignment, flags, tasks, priority, begin, end, step);             \
  }
FORETRACE_TASKLOOP(GOMP_taskloop, long)
FORETRACE_TASKLOOP(GOMP_taskloop_ull, unsigned long long)
