// Which threads of a process share out work among each other as they go, so that who does what
// hangs on who has a core: those that the program makes itself (pools), and OpenMP's where it was
// asked for that. OpenMP's other loops deal out the same to each, however fast it is.
#pragma once

#include <dlfcn.h>
#include <link.h>

namespace foretrace {

// The module that has the code at `caller`; nullptr: nobody knows. Takes no lock.
inline const link_map* module_of(const void* caller) {
  dl_find_object found{};
  return ::_dl_find_object(const_cast<void*>(caller), &found) == 0 ? found.dlfo_link_map : nullptr;
}

// Whether the code is GCC's or LLVM's OpenMP library.
bool is_of_openmp(const void* code);

// Whether the program, or a library of it, has OpenMP's tasks, sections, or loops with a schedule
// that is dynamic, guided or chosen at run time.
bool has_openmp_that_shares_out();

}  // namespace foretrace
