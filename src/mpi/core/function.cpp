#include "mpi/core/function.hpp"

#include <cstddef>
#include <iterator>

#include "base/called_back.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/threads.hpp"

namespace foretrace::mpi {

namespace {

constexpr const char* kNames[] = {
#include "live_names.inc"
};

int depth = 0;
Fn current{};

}  // namespace

const char* name_of(Fn function) {
  const auto index = static_cast<std::size_t>(function);
  return index < std::size(kNames) ? kNames[index] : "MPI";
}

int function_count() {
  return static_cast<int>(std::size(kNames));
}

Fn current_function() {
  return current;
}

bool in_call() {
  return program_clock::Real::depth > 0;
}

CallState save_call() {
  const CallState state{depth, current};
  depth = 0;
  return state;
}

void restore_call(const CallState& state) {
  depth = state.depth;
  current = state.current;
}

Entry::Entry(Fn function, callers::CallPoint point) : outer_(current) {
  enter_library();
  if (depth++ > 0) {
    nests_ = !is_combining && !threads_may_call();
    if (!nests_) return;
    current = function;
    line.enter_nested(function, point);
    return;
  }
  current = function;
  line.enter(function, point);
}

Entry::~Entry() {
  if (--depth == 0)
    line.leave(current);
  else if (nests_)
    line.leave_nested(current);
  if (depth == 0 || nests_) current = outer_;
  leave_library();
}

}  // namespace foretrace::mpi
