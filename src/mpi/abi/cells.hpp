// Handles that are pointers: to cells, which say which object is meant. Open MPI's
// are, and MPICH's for files.
//
// Cells are never given back to the system: a handle that the program kept
// after freeing its object still points to one, which is empty or has become
// another object's. The libraries that Open MPI has for Fortran and C++ look into
// what handles point to; a cell is so large that what they read and write lies in
// it (layout.hpp in openmpi/).
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/core/object.hpp"

namespace foretrace::mpi::abi {

struct Cell {
  std::uint64_t magic;
  Object* object;
  Cell* next;   // among the free ones
  int fortran;  // -1: it has no number yet
  ObjectKind kind;
};
inline constexpr std::uint64_t kCellMagic = 0x466f726574726163;

// Bytes of a cell of this kind.
constexpr std::size_t cell_bytes(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::comm:
      return 384;
    case ObjectKind::datatype:
    case ObjectKind::win:
    case ObjectKind::request:
    case ObjectKind::file:
      return 256;
    case ObjectKind::op:
    case ObjectKind::errhandler:
      return 128;
    default:
      return 64;
  }
}

// The cell behind a handle; nullptr if there is none of this kind.
inline Cell* cell_at(ObjectKind kind, std::intptr_t handle) {
  // The first page is never mapped: small numbers are no pointers.
  if (static_cast<std::uintptr_t>(handle) < 4096) return nullptr;
  Cell* const cell = reinterpret_cast<Cell*>(handle);
  return cell->magic == kCellMagic && cell->kind == kind ? cell : nullptr;
}
// A cell for an object, which becomes its handle.
Cell* make_cell(Object& object);
// Empties it, for reuse.
void free_cell(Cell& cell);

// Fortran's numbers of handles, which count from 0 for each kind.
// The number of a cell, made at the first call.
int fortran_number(Cell& cell);
// Gives a predefined cell its number.
void set_fortran_number(Cell& cell, int number);
// nullptr if nothing has this number.
Cell* cell_with_number(ObjectKind kind, int number);

}  // namespace foretrace::mpi::abi
