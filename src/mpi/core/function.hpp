// The MPI function that a rank is in.
#pragma once

#include <cstdint>

#include "base/program_clock.hpp"
#include "callers/stack_walk.hpp"
#include "live_functions.inc.hpp"  // generated: enum class Fn : std::uint16_t { MPI_Abort, ... }

namespace foretrace::mpi {

// The name of a function ("MPI_Send").
const char* name_of(Fn function);
int function_count();

// A call of the program: made by the generated MPI_X around impl::X. Calls
// inside calls, from functions of the program's (attributes, error handlers), are calls of their
// own that come before the outer one; in those that combine, and where several threads may call,
// they belong to the outer one. Those that an MPI's Fortran library makes for itself are none of
// the program's.
class Entry {
 public:
  explicit Entry(Fn function,
                 callers::CallPoint point = {__builtin_return_address(0), __builtin_dwarf_cfa()});
  ~Entry();
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  Fn outer_;
  bool nests_ = false;
  program_clock::Real own_;  // what the library reads
};
// Of the call at hand.
Fn current_function();
// Whether the calling thread is in one.
bool in_call();

// For threads that take turns: which call a thread is in.
struct CallState {
  int depth = 0;
  Fn current{};
};
CallState save_call();
void restore_call(const CallState& state);

}  // namespace foretrace::mpi
