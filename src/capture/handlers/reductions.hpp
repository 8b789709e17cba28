// What an operation and a datatype of MPI's are to the machine's [reduction]; and what the
// program's own operations take.
#pragma once

#include <mpi.h>

#include "machine/reduction.hpp"

namespace foretrace::capture {

// The two arguments of a call that combines; of others none.
struct Reduces {
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

// Its class; none of a call that combines nothing. For one thread at a time.
machine::Reduction class_of(const Reduces& call);

// What MPI is to be given in place of a function that it calls to combine: calls that, and notes
// what it takes (base/called_back.hpp). `function` itself where there is no room for one more.
using Combiner = void(void*, void*, void*, void*);
Combiner* measured(Combiner* function);

}  // namespace foretrace::capture
