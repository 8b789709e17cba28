// The threads of a program in the library.
#pragma once

namespace foretrace::mpi {

// Around every call of the program: with MPI_THREAD_MULTIPLE one thread at a
// time is in the library.
void enter_library();
void leave_library();
// Lets those threads in that wait for it, before the calling one goes on; from a call that looks
// again and again.
void let_threads_in();
// The same from a call that only another thread can end: until one has come in, but not for long.
void wait_for_threads();
// Whether there may be such a thread: the level is MPI_THREAD_MULTIPLE, and a second
// thread exists.
bool threads_multiple();
void set_thread_level(int level);
// Whether others than the one that initialised MPI may call.
bool threads_may_call();
bool thread_multiple_level();
// In a child of the process, which has the calling thread alone.
void forget_other_threads();

}  // namespace foretrace::mpi
