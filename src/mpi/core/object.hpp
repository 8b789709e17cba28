// Object: what every MPI handle stands for, and how handles become objects.
//
// All sources below src/mpi are compiled once for each ABI, against that
// MPI's own mpi.h: constants, types and the layout of MPI_Status are the
// header's. Only the files in abi/ know how a handle is made.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace foretrace::mpi {

enum class ObjectKind : std::uint8_t {
  comm = 1,
  group,
  datatype,
  op,
  request,
  errhandler,
  info,
  win,
  file,
  message,
  session,
};

// The base of all objects; their first member in memory. Open MPI's handles
// point at it.
struct Object {
  explicit Object(ObjectKind object_kind) : kind(object_kind) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  ObjectKind kind;
  bool predefined = false;  // lives as long as the process
  // How many handles and uses there are; at 0 the object is deleted.
  int references = 1;
  // Both are set by abi/ when the object gets its handle.
  std::intptr_t handle = 0;
  int fortran = -1;
};

struct Comm;
struct Group;
struct Datatype;
struct Op;
struct Request;
struct Errhandler;
struct Info;
struct Win;
struct File;
struct Message;
struct Session;

// --- implemented in abi/ ---------------------------------------------------

// The object behind a handle; nullptr for MPI_X_NULL and for what is no handle
// of this kind (freed, garbage). Handles are plain integers under MPICH's ABI,
// so that it is the result's type that says which kind is meant: write
// `Comm* c = get(comm)`, or `get<Comm>(comm)` where there is no such type
// (auto, get<Comm>(comm)->rank).
template <class Kind, class Handle>
Kind* get(Handle handle);

template <class Handle>
struct Found {
  Handle handle;
  template <class Kind>
  operator Kind*() const {
    return get<Kind>(handle);
  }
};
template <class Handle>
Found<Handle> get(Handle handle) {
  return {handle};
}

// The handle of an object, made at the first call. Of nullptr: MPI_X_NULL.
MPI_Comm handle_of(Comm* object);
MPI_Group handle_of(Group* object);
MPI_Datatype handle_of(Datatype* object);
MPI_Op handle_of(Op* object);
MPI_Request handle_of(Request* object);
MPI_Errhandler handle_of(Errhandler* object);
MPI_Info handle_of(Info* object);
MPI_Win handle_of(Win* object);
MPI_File handle_of(File* object);
MPI_Message handle_of(Message* object);
#if MPI_VERSION >= 4
MPI_Session handle_of(Session* object);
#endif

// Makes `object` the one behind a predefined handle (MPI_COMM_WORLD, MPI_INT).
void set_predefined(MPI_Comm handle, Comm* object);
void set_predefined(MPI_Group handle, Group* object);
void set_predefined(MPI_Datatype handle, Datatype* object);
void set_predefined(MPI_Op handle, Op* object);
void set_predefined(MPI_Errhandler handle, Errhandler* object);
void set_predefined(MPI_Info handle, Info* object);
void set_predefined(MPI_Message handle, Message* object);

// Gives an object's handle back; called by release() before it deletes.
void forget_handle(Object& object);

// What the header hides: the fields of a status that have no public name.
void set_status_bytes(MPI_Status& status, std::uint64_t bytes, bool cancelled);
std::uint64_t status_bytes(const MPI_Status& status);
bool status_cancelled(const MPI_Status& status);
inline bool is_ignored(const MPI_Status* status) {
  return status == MPI_STATUS_IGNORE || status == MPI_STATUSES_IGNORE;
}

// --- references (object.cpp) -------------------------------------------------

template <class Kind>
Kind* retain(Kind* object) {
  if (object) ++object->references;
  return object;
}
// Deletes the object with the last reference. Predefined ones stay.
void release(Object* object);

}  // namespace foretrace::mpi
