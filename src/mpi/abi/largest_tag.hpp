// The largest tag of a message (MPI_TAG_UB), as the MPI of the ABI has it: programs divide its
// range among their parts, so that another one would give other tags.
#pragma once

#include <mpi.h>

#include <climits>

namespace foretrace::mpi {

#ifdef MPICH
// 28 bits of a match (MPICH 4, ch4).
inline constexpr int kLargestTag = (1 << 28) - 1;
#else
inline constexpr int kLargestTag = INT_MAX;
#endif

}  // namespace foretrace::mpi
