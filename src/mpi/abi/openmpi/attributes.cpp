// Attributes of Open MPI's libraries for Fortran and C++, and operations of C++.
// What they take for the set of an object's attributes is the object (layout.hpp).
#include <cstdint>
#include <optional>

#include "mpi/abi/cells.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/core/error.hpp"
#include "mpi/core/function.hpp"
#include "mpi/core/keyvals.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/onesided/win.hpp"

#define FORETRACE_EXPORT __attribute__((visibility("default")))

namespace foretrace::mpi {

namespace {
using By = AttributeSet::Value::By;

enum AttributeType : int { kOfComm = 1, kOfType = 2, kOfWin = 3 };

ObjectKind kind_of(int type) {
  return type == kOfType  ? ObjectKind::datatype
         : type == kOfWin ? ObjectKind::win
                          : ObjectKind::comm;
}

Fn setter_of(int type) {
  return type == kOfType  ? Fn::MPI_Type_set_attr
         : type == kOfWin ? Fn::MPI_Win_set_attr
                          : Fn::MPI_Comm_set_attr;
}

Fn getter_of(const Object* object) {
  if (object && object->kind == ObjectKind::datatype) return Fn::MPI_Type_get_attr;
  if (object && object->kind == ObjectKind::win) return Fn::MPI_Win_get_attr;
  return Fn::MPI_Comm_get_attr;
}

int no_object() {
  return raise(static_cast<Comm*>(nullptr), MPI_ERR_ARG, "null or freed handle");
}

int set(int type, Object* object, int keyval, AttributeSet::Value value) {
  const Entry entry(setter_of(type));
  if (!object || object->kind != kind_of(type)) return no_object();
  if (type == kOfType) return set_attribute(static_cast<Datatype&>(*object), keyval, value);
  if (type == kOfWin) return set_attribute(static_cast<Win&>(*object), keyval, value);
  return set_attribute(static_cast<Comm&>(*object), keyval, value);
}

std::optional<Attribute> get_from(Object& object, int keyval) {
  if (object.kind == ObjectKind::datatype) {
    return get_attribute(static_cast<Datatype&>(object), keyval);
  }
  if (object.kind == ObjectKind::win) return get_attribute(static_cast<Win&>(object), keyval);
  return get_attribute(static_cast<Comm&>(object), keyval);
}

template <class Integer>
int get_integer(Object* object, int keyval, Integer* value, int* flag) {
  const Entry entry(getter_of(object));
  if (!object) return no_object();
  const auto attribute = get_from(*object, keyval);
  *flag = attribute ? 1 : 0;
  if (attribute) *value = static_cast<Integer>(attribute->in_fortran);
  return MPI_SUCCESS;
}

Object* object_of(void* handle, int type) {
  abi::Cell* const cell = abi::cell_at(kind_of(type), reinterpret_cast<std::intptr_t>(handle));
  return cell ? cell->object : nullptr;
}

void* handle_in(const Object& object) {
  return reinterpret_cast<void*>(object.handle);
}

// C++'s copy functions take the new object's handle as well, and make no use of it.
using CxxCopy = int(void* handle, int keyval, void* extra_state, void* value, void* new_value,
                    int* flag, void* new_handle);
using CxxDelete = int(void* handle, int keyval, void* value, void* extra_state);

void* in_c(AttributeSet::Value& value) {
  return value.by == By::pointer ? reinterpret_cast<void*>(value.bits) : &value.bits;
}
}  // namespace

}  // namespace foretrace::mpi

using namespace foretrace::mpi;

extern "C" {

FORETRACE_EXPORT int ompi_attr_create_keyval_fint(int type, void (*copy)(), void (*remove)(),
                                                  int* keyval, MPI_Fint extra_state, int, void*) {
  const Entry entry(Fn::MPI_Comm_create_keyval);
  *keyval = create_fortran_keyval(kind_of(type), copy, remove, extra_state, By::fint);
  return MPI_SUCCESS;
}

FORETRACE_EXPORT int ompi_attr_create_keyval_aint(int type, void (*copy)(), void (*remove)(),
                                                  int* keyval, MPI_Aint extra_state, int, void*) {
  const Entry entry(Fn::MPI_Comm_create_keyval);
  *keyval = create_fortran_keyval(kind_of(type), copy, remove, extra_state, By::aint);
  return MPI_SUCCESS;
}

FORETRACE_EXPORT int ompi_attr_create_keyval(int type, CxxCopy* copy, CxxDelete* remove,
                                             int* keyval, void* extra_state, int, void*) {
  const Entry entry(Fn::MPI_Comm_create_keyval);
  Keyval made;
  made.kind = kind_of(type);
  made.copy = [copy, extra_state](Object& object, int number, AttributeSet::Value& from,
                                  AttributeSet::Value& to, bool& wanted) {
    void* value = nullptr;
    int flag = 0;
    const int error =
        copy(handle_in(object), number, extra_state, in_c(from), &value, &flag, handle_in(object));
    wanted = flag != 0;
    to.bits = reinterpret_cast<std::intptr_t>(value);
    return error;
  };
  made.remove = [remove, extra_state](Object& object, int number, AttributeSet::Value& value) {
    return remove(handle_in(object), number, in_c(value), extra_state);
  };
  *keyval = add_keyval(made);
  return MPI_SUCCESS;
}

FORETRACE_EXPORT int ompi_attr_set_fint(int type, void* handle, void*, int keyval, MPI_Fint value,
                                        bool) {
  return set(type, object_of(handle, type), keyval, {value, By::fint});
}

FORETRACE_EXPORT int ompi_attr_set_aint(int type, void* handle, void*, int keyval, MPI_Aint value,
                                        bool) {
  return set(type, object_of(handle, type), keyval, {value, By::aint});
}

FORETRACE_EXPORT int ompi_attr_get_fint(Object* object, int keyval, MPI_Fint* value, int* flag) {
  return get_integer(object, keyval, value, flag);
}

FORETRACE_EXPORT int ompi_attr_get_aint(Object* object, int keyval, MPI_Aint* value, int* flag) {
  return get_integer(object, keyval, value, flag);
}

// MPI_Op_create got the C++ library's function, which calls the user's.
FORETRACE_EXPORT void ompi_op_set_cxx_callback(MPI_Op op, MPI_User_function* users) {
  const Entry entry(Fn::MPI_Op_create);
  Op* const object = get(op);
  if (!object) return;
  using Intercept = void(const void* in, void* inout, int* count, MPI_Datatype* type,
                         MPI_User_function* function);
  object->foreign = [intercept =
                         reinterpret_cast<Intercept*>(reinterpret_cast<void*>(object->function)),
                     users](const void* in, void* inout, int count, MPI_Datatype type) {
    intercept(in, inout, &count, &type, users);
  };
}
}
