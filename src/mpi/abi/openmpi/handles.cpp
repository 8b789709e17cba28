// Open MPI's handles: pointers to cells.
#include "mpi/abi/handles.hpp"

#include "live_impl.hpp"
#include "mpi/abi/generalized.hpp"
#include "mpi/abi/openmpi/layout.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/p2p/request.hpp"

namespace foretrace::mpi {

namespace abi {

namespace {
std::uint32_t flags_of(const Comm& comm) {
  return (comm.is_inter() ? kCommInter : 0) | (comm.cartesian ? kCommCartesian : 0) |
         (comm.graph ? kCommGraph : 0);
}

void fill_in_group(Cell& cell, std::size_t pointer, std::size_t image, int size) {
  field_of<std::byte*>(cell, pointer) = &field_of<std::byte>(cell, image);
  field_of<int>(cell, image + kGroupSize) = size;
}

void fill_in_comm(Cell& cell, Comm& comm) {
  field_of<Object*>(cell, kCommAttributes) = &comm;
  field_of<std::uint32_t>(cell, kCommFlags) = flags_of(comm);
  fill_in_group(cell, kCommGroup, kCommGroupImage, comm.size());
  fill_in_group(cell, kCommRemoteGroup, kCommRemoteGroupImage, comm.partners().size());
}

// What the Fortran library left in a cell, into the object.
void take_over(Cell& cell, Object& object) {
  if (object.kind == ObjectKind::op) {
    if ((field_of<std::uint32_t>(cell, kOpFlags) & kOpIsFortran) != 0) {
      static_cast<Op&>(object).is_fortran = true;
    }
  } else if (object.kind == ObjectKind::request) {
    auto& request = static_cast<Request&>(object);
    if (request.what == Request::What::generalized && !field_of<bool>(cell, kRequestIsC)) {
      field_of<bool>(cell, kRequestIsC) = true;
      make_fortran(request);
    }
  }
}

// What the libraries for Fortran and C++ want to find in the object.
void fill_in(Cell& cell, Object& object) {
  switch (object.kind) {
    case ObjectKind::comm:
      fill_in_comm(cell, static_cast<Comm&>(object));
      break;
    case ObjectKind::datatype:
      field_of<Object*>(cell, kTypeAttributes) = &object;
      break;
    case ObjectKind::win:
      field_of<Object*>(cell, kWinAttributes) = &object;
      break;
    case ObjectKind::request:
      field_of<bool>(cell, kRequestIsC) = true;
      return;
    case ObjectKind::group:
    case ObjectKind::file:
      break;
    default:
      return;
  }
  // Functions of the program get it: error handlers, reductions, attributes'. The Fortran library
  // reads a group's.
  fortran_number(cell);
}
}  // namespace

Object* find(ObjectKind kind, std::intptr_t handle) {
  Cell* const cell = cell_at(kind, handle);
  if (!cell || !cell->object) return nullptr;
  take_over(*cell, *cell->object);
  return cell->object;
}

void give_handle(Object& object) {
  Cell* const cell = make_cell(object);
  object.handle = reinterpret_cast<std::intptr_t>(cell);
  fill_in(*cell, object);
}

void set_predefined(std::intptr_t handle, Object& object) {
  Cell* const cell = cell_at(object.kind, handle);
  if (!cell) return;
  cell->object = &object;
  object.handle = handle;
  object.fortran = cell->fortran;
  fill_in(*cell, object);
}

namespace {
template <class Handle>
int to_fortran(ObjectKind kind, Handle handle) {
  Cell* const cell = cell_at(kind, reinterpret_cast<std::intptr_t>(handle));
  if (!cell) return -1;
  const int number = fortran_number(*cell);
  if (kind == ObjectKind::request) field_of<int>(*cell, kRequestNumber) = number;
  return number;
}

template <class Handle>
Handle from_fortran(ObjectKind kind, int number) {
  return reinterpret_cast<Handle>(cell_with_number(kind, number));
}
}  // namespace

}  // namespace abi

void forget_handle(Object& object) {
  if (object.handle == 0) return;
  abi::free_cell(*reinterpret_cast<abi::Cell*>(object.handle));
  object.handle = 0;
}

namespace impl {

#define FORETRACE_CONVERSIONS(name, kind, Handle)               \
  int name##_c2f(Handle handle) {                               \
    return abi::to_fortran(ObjectKind::kind, handle);           \
  }                                                             \
  Handle name##_f2c(int number) {                               \
    return abi::from_fortran<Handle>(ObjectKind::kind, number); \
  }

FORETRACE_CONVERSIONS(Comm, comm, MPI_Comm)
FORETRACE_CONVERSIONS(Group, group, MPI_Group)
FORETRACE_CONVERSIONS(Type, datatype, MPI_Datatype)
FORETRACE_CONVERSIONS(Op, op, MPI_Op)
FORETRACE_CONVERSIONS(Request, request, MPI_Request)
FORETRACE_CONVERSIONS(Errhandler, errhandler, MPI_Errhandler)
FORETRACE_CONVERSIONS(Info, info, MPI_Info)
FORETRACE_CONVERSIONS(Win, win, MPI_Win)
FORETRACE_CONVERSIONS(File, file, MPI_File)
FORETRACE_CONVERSIONS(Message, message, MPI_Message)

}  // namespace impl

}  // namespace foretrace::mpi
