// What is told of a program whose threads do what it did not ask MPI for, in all three ways.
#pragma once

namespace foretrace {

// Behind "rank N".
inline constexpr const char* kUnaskedThreads =
    " calls MPI from several threads, but asked it for MPI_THREAD_SINGLE or MPI_THREAD_FUNNELED: "
    "such calls may keep each other waiting for ever, and what the threads compute is taken for "
    "one "
    "thread's; ask for MPI_THREAD_MULTIPLE (MPI_Init_thread)";

}  // namespace foretrace
