// The loops of predefined reductions, one for each operation and kind of number.
#pragma once

#include <cstddef>

#include "mpi/datatype/basic.hpp"

namespace foretrace::mpi {

enum class Operation {
  max,
  min,
  sum,
  prod,
  land,
  band,
  lor,
  bor,
  lxor,
  bxor,
  minloc,
  maxloc,
  replace,
  no_op,
};

// inout[i] = in[i] op inout[i] for i < count; the arrays do not overlap.
using Loop = void (*)(const void* in, void* inout, std::size_t count);

// nullptr where the operation is not defined (MPI 3.1, 5.9.2, and what this MPI's
// own library takes beyond that).
Loop loop_of(Operation operation, Scalar value, Scalar index);

}  // namespace foretrace::mpi
