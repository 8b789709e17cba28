// What functions of the program take that MPI calls to combine (MPI_Op_create): computation, though
// the rank is in a call of MPI meanwhile. Both MPI libraries that we stand in ask for it when the
// call is over.
#pragma once

#include <cstdint>
#include <utility>

#include "base/slept.hpp"
#include "base/time.hpp"

namespace foretrace {

struct CalledBack {
  Time took;  // CPU time and sleep
  std::int64_t calls = 0;
};
inline thread_local CalledBack called_back;
inline thread_local bool is_combining = false;  // the calling thread is in such a function

template <class Function>
void call_back(Function function) {
  struct Mark {
    bool outer = std::exchange(is_combining, true);
    ~Mark() { is_combining = outer; }
  };
  const Time before = work_of_thread();
  {
    const Mark mark;
    function();
  }
  called_back.took += work_of_thread() - before;
  ++called_back.calls;
}

// On the calling thread since it was asked last.
inline CalledBack take_called_back() {
  return std::exchange(called_back, {});
}

}  // namespace foretrace
