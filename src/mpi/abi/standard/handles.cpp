// Handles of MPI's standard ABI: pointers to cells. Predefined ones are numbers
// below 4096, which are no addresses and no two kinds share.
#include "mpi/abi/handles.hpp"

#include "live_impl.hpp"
#include "mpi/abi/cells.hpp"

namespace foretrace::mpi {

namespace abi {

namespace {
constexpr std::intptr_t kFirstDynamic = 4096;
// MPI 5.0, annex A.1.1: the highest handle is a datatype, 0x2ff at most.
constexpr std::intptr_t kPredefined = 0x300;
constinit Object* predefined[kPredefined] = {};

bool is_number(std::intptr_t handle) {
  return handle > 0 && handle < kFirstDynamic;
}
}  // namespace

Object* find(ObjectKind kind, std::intptr_t handle) {
  if (is_number(handle)) {
    Object* const object = handle < kPredefined ? predefined[handle] : nullptr;
    return object && object->kind == kind ? object : nullptr;
  }
  Cell* const cell = cell_at(kind, handle);
  return cell ? cell->object : nullptr;
}

void give_handle(Object& object) {
  object.handle = reinterpret_cast<std::intptr_t>(make_cell(object));
}

void set_predefined(std::intptr_t handle, Object& object) {
  predefined[handle] = &object;
  object.handle = handle;
}

namespace {
// Predefined handles keep their numbers, as the ABI has it; the others follow.
int to_int(ObjectKind kind, std::intptr_t handle, std::intptr_t null) {
  if (is_number(handle)) return static_cast<int>(handle);
  Cell* const cell = cell_at(kind, handle);
  return static_cast<int>(cell ? fortran_number(*cell) + kFirstDynamic : null);
}

std::intptr_t from_int(ObjectKind kind, int number, std::intptr_t null) {
  if (is_number(number)) return number;
  Cell* const cell = cell_with_number(kind, static_cast<int>(number - kFirstDynamic));
  return cell ? reinterpret_cast<std::intptr_t>(cell) : null;
}
}  // namespace

}  // namespace abi

void forget_handle(Object& object) {
  if (object.handle == 0) return;
  if (abi::is_number(object.handle)) {
    abi::predefined[object.handle] = nullptr;
  } else {
    abi::free_cell(*reinterpret_cast<abi::Cell*>(object.handle));
  }
  object.handle = 0;
}

namespace impl {

#define FORETRACE_CONVERSIONS(name, kind, Handle, null)                                  \
  int name##_toint(Handle handle) {                                                      \
    return abi::to_int(ObjectKind::kind, reinterpret_cast<std::intptr_t>(handle),        \
                       reinterpret_cast<std::intptr_t>(null));                           \
  }                                                                                      \
  Handle name##_fromint(int number) {                                                    \
    return reinterpret_cast<Handle>(                                                     \
        abi::from_int(ObjectKind::kind, number, reinterpret_cast<std::intptr_t>(null))); \
  }

FORETRACE_CONVERSIONS(Comm, comm, MPI_Comm, MPI_COMM_NULL)
FORETRACE_CONVERSIONS(Group, group, MPI_Group, MPI_GROUP_NULL)
FORETRACE_CONVERSIONS(Type, datatype, MPI_Datatype, MPI_DATATYPE_NULL)
FORETRACE_CONVERSIONS(Op, op, MPI_Op, MPI_OP_NULL)
FORETRACE_CONVERSIONS(Request, request, MPI_Request, MPI_REQUEST_NULL)
FORETRACE_CONVERSIONS(Errhandler, errhandler, MPI_Errhandler, MPI_ERRHANDLER_NULL)
FORETRACE_CONVERSIONS(Info, info, MPI_Info, MPI_INFO_NULL)
FORETRACE_CONVERSIONS(Win, win, MPI_Win, MPI_WIN_NULL)
FORETRACE_CONVERSIONS(File, file, MPI_File, MPI_FILE_NULL)
FORETRACE_CONVERSIONS(Message, message, MPI_Message, MPI_MESSAGE_NULL)
FORETRACE_CONVERSIONS(Session, session, MPI_Session, MPI_SESSION_NULL)

}  // namespace impl

}  // namespace foretrace::mpi
