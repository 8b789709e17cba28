// Task: a coroutine that says what a rank of a model program does, or a part
// of it.
//
//     sim::RankTask my_rank(sim::ModelRank& rank) { ... co_await exchange(rank); ... }
//     sim::Task<double> exchange(sim::ModelRank& rank) { ... co_return 3.5; }
//
// It begins when it is awaited (the rank's own: when the simulation asks for the
// rank's first call) and its frame lies in the program's FramePool. What a rank
// can await besides tasks is in model_program.hpp.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "sim/model/frame_pool.hpp"

namespace foretrace::sim {

class ModelProgram;

// What the promises of all tasks have.
class TaskPromise {
 public:
  static void* operator new(std::size_t size) {
    FramePool* pool = FramePool::current();
    if (!pool)
      throw Error(
          "a task of a model program was made outside of it; make it in the program's body");
    return pool->take(size);
  }
  static void operator delete(void* frame, std::size_t size) { FramePool::give(frame, size); }

  std::suspend_always initial_suspend() const noexcept { return {}; }

  // Goes on with whoever awaits the task; the rank's own one is awaited by nobody.
  struct Return {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      const std::coroutine_handle<> awaiting = ended.promise().awaiting_;
      return awaiting ? awaiting : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };
  Return final_suspend() const noexcept { return {}; }

  void unhandled_exception() noexcept { error_ = std::current_exception(); }
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }
  void set_awaiting(std::coroutine_handle<> awaiting) { awaiting_ = awaiting; }

 private:
  std::coroutine_handle<> awaiting_;
  std::exception_ptr error_;
};

template <class T>
class TaskResult : public TaskPromise {
 public:
  template <class U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T take() {
    rethrow();
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class TaskResult<void> : public TaskPromise {
 public:
  void return_void() const noexcept {}
  void take() { rethrow(); }
};

// Owns its coroutine. Awaited once, with co_await, in a task of the same rank.
template <class T = void>
class [[nodiscard]] Task {
 public:
  struct promise_type : TaskResult<T> {
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  class Awaiter {
   public:
    explicit Awaiter(std::coroutine_handle<promise_type> task) : task_(task) {}
    bool await_ready() const {
      if (!task_ || task_.done())
        throw Error("a task of a model program is awaited twice; call its function again");
      return false;
    }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) const noexcept {
      task_.promise().set_awaiting(awaiting);
      return task_;
    }
    T await_resume() const { return task_.promise().take(); }

   private:
    std::coroutine_handle<promise_type> task_;
  };
  Awaiter operator co_await() const noexcept { return Awaiter(handle_); }

 private:
  friend class ModelProgram;
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  // The coroutine is the caller's from now on.
  std::coroutine_handle<promise_type> release() { return std::exchange(handle_, nullptr); }

  std::coroutine_handle<promise_type> handle_;
};

// What a rank does, from MPI_Init to MPI_Finalize.
using RankTask = Task<void>;

}  // namespace foretrace::sim
