#include "mpi/abi/handles.hpp"

#include <type_traits>

#include "mpi/core/object.hpp"

namespace foretrace::mpi {

namespace {
template <class Handle>
std::intptr_t bits_of(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::intptr_t>(handle);
  } else {
    return handle;
  }
}

template <class Handle>
Handle from_bits(std::intptr_t bits) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(bits);
  } else {
    return static_cast<Handle>(bits);
  }
}

// Object is the first member of all that it is the base of; their definitions
// do not matter here.
template <class Handle>
Handle handle_for(void* object, Handle null) {
  if (!object) return null;
  Object& base = *static_cast<Object*>(object);
  if (base.handle == 0) abi::give_handle(base);
  return from_bits<Handle>(base.handle);
}
}  // namespace

#define FORETRACE_HANDLES(Kind, kind, Handle, null)                               \
  template <>                                                                     \
  Kind* get<Kind, Handle>(Handle handle) {                                        \
    return reinterpret_cast<Kind*>(abi::find(ObjectKind::kind, bits_of(handle))); \
  }                                                                               \
  template <>                                                                     \
  const Kind* get<const Kind, Handle>(Handle handle) {                            \
    return get<Kind>(handle);                                                     \
  }                                                                               \
  Handle handle_of(Kind* object) {                                                \
    return handle_for<Handle>(object, null);                                      \
  }
#define FORETRACE_PREDEFINED(Kind, Handle)                                    \
  void set_predefined(Handle handle, Kind* object) {                          \
    abi::set_predefined(bits_of(handle), *reinterpret_cast<Object*>(object)); \
  }

FORETRACE_HANDLES(Comm, comm, MPI_Comm, MPI_COMM_NULL)
FORETRACE_HANDLES(Group, group, MPI_Group, MPI_GROUP_NULL)
FORETRACE_HANDLES(Datatype, datatype, MPI_Datatype, MPI_DATATYPE_NULL)
FORETRACE_HANDLES(Op, op, MPI_Op, MPI_OP_NULL)
FORETRACE_HANDLES(Request, request, MPI_Request, MPI_REQUEST_NULL)
FORETRACE_HANDLES(Errhandler, errhandler, MPI_Errhandler, MPI_ERRHANDLER_NULL)
FORETRACE_HANDLES(Info, info, MPI_Info, MPI_INFO_NULL)
FORETRACE_HANDLES(Win, win, MPI_Win, MPI_WIN_NULL)
FORETRACE_HANDLES(File, file, MPI_File, MPI_FILE_NULL)
FORETRACE_HANDLES(Message, message, MPI_Message, MPI_MESSAGE_NULL)
#if MPI_VERSION >= 4
FORETRACE_HANDLES(Session, session, MPI_Session, MPI_SESSION_NULL)
#endif

FORETRACE_PREDEFINED(Comm, MPI_Comm)
FORETRACE_PREDEFINED(Group, MPI_Group)
FORETRACE_PREDEFINED(Datatype, MPI_Datatype)
FORETRACE_PREDEFINED(Op, MPI_Op)
FORETRACE_PREDEFINED(Errhandler, MPI_Errhandler)
FORETRACE_PREDEFINED(Info, MPI_Info)
FORETRACE_PREDEFINED(Message, MPI_Message)

}  // namespace foretrace::mpi
