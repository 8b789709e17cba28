// What an ABI has to say about handles: how one stands for an object. Handles are
// passed as bits: a pointer's under Open MPI's ABI, an int's under MPICH's.
#pragma once

#include <cstdint>

#include "mpi/core/object.hpp"

namespace foretrace::mpi::abi {

// nullptr for what is no handle of this kind.
Object* find(ObjectKind kind, std::intptr_t handle);
// Sets the object's handle, and its Fortran number where functions of the program
// may get it as such.
void give_handle(Object& object);
// A handle that stands for no object now belongs to this one; nothing happens if
// this MPI has no such handle (MPI_DATATYPE_NULL in its place).
void set_predefined(std::intptr_t handle, Object& object);

}  // namespace foretrace::mpi::abi
