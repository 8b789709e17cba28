// The threads of a program in the library.
#pragma once

namespace foretrace::mpi {

// Around every call of the program: with MPI_THREAD_MULTIPLE one thread at a
// time is in the library.
void enter_library();
void leave_library();
// Lets other threads in for a moment; from a call that waits.
void let_threads_in();
// Whether there may be such a thread: the level is MPI_THREAD_MULTIPLE, and a second
// thread exists.
bool threads_multiple();
void set_thread_level(int level);
bool thread_multiple_level();

}  // namespace foretrace::mpi
