// What the process's other threads do while one is in the library.
#pragma once

namespace foretrace::mpi {

// Whether all others sleep, and none of them waits to come into the library: then what
// the calling thread waits for can only come from other ranks.
bool other_threads_sleep();

}  // namespace foretrace::mpi
