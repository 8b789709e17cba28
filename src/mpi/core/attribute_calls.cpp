// MPI_Comm_set_attr and the like, of communicators, datatypes and windows; from C.
#include <string>
#include <type_traits>

#include "live_impl.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/core/error.hpp"
#include "mpi/core/keyvals.hpp"
#include "mpi/core/predefined_copies.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/onesided/win.hpp"

namespace foretrace::mpi {
namespace {

using Value = AttributeSet::Value;

// What differs between the kinds of objects.
template <class Kind_>
struct Calls;
template <>
struct Calls<Comm> {
  using Handle = MPI_Comm;
  static constexpr ObjectKind kKind = ObjectKind::comm;
  static int no_object() { return raise(world_comm, MPI_ERR_COMM, "null or freed communicator"); }
};
template <>
struct Calls<Datatype> {
  using Handle = MPI_Datatype;
  static constexpr ObjectKind kKind = ObjectKind::datatype;
  static int no_object() { return raise(world_comm, MPI_ERR_TYPE, "null or freed datatype"); }
};
template <>
struct Calls<Win> {
  using Handle = MPI_Win;
  static constexpr ObjectKind kKind = ObjectKind::win;
  static int no_object() { return raise(world_comm, MPI_ERR_WIN, "null or freed window"); }
};

// As C shows a value.
void* shown(Value& value) {
  return value.by == Value::By::pointer ? reinterpret_cast<void*>(value.bits) : &value.bits;
}

template <class Kind, class Copy, class Delete>
int create_keyval(Copy* copy, Delete* remove, int* keyval, void* extra_state) {
  if (!keyval) return raise(world_comm, MPI_ERR_ARG, "null pointer");
  using Handle = typename Calls<Kind>::Handle;
  Keyval made;
  made.kind = Calls<Kind>::kKind;
  made.users_copy = reinterpret_cast<void (*)()>(copy);
  made.users_remove = reinterpret_cast<void (*)()>(remove);
  made.extra_state = extra_state;
  if (copy && is_dup_function(reinterpret_cast<void (*)()>(copy))) {
    made.copy = [](Object&, int, Value& from, Value& to, bool& wanted) {
      to = from;
      wanted = true;
      return MPI_SUCCESS;
    };
  } else if (copy) {
    made.copy = [=](Object& object, int number, Value& from, Value& to, bool& wanted) {
      const Handle handle = handle_of(static_cast<Kind*>(&object));
      void* out = nullptr;
      int flag = 0;
      const int error = copy(handle, number, extra_state, shown(from), &out, &flag);
      wanted = flag != 0;
      to.bits = reinterpret_cast<std::intptr_t>(out);
      return error;
    };
  }
  if (remove) {
    made.remove = [=](Object& object, int number, Value& value) {
      return remove(handle_of(static_cast<Kind*>(&object)), number, shown(value), extra_state);
    };
  }
  *keyval = add_keyval(std::move(made));
  return MPI_SUCCESS;
}

template <class Kind>
int set_attr(typename Calls<Kind>::Handle handle, int keyval, void* value) {
  Kind* object = get<Kind>(handle);
  if (!object) return Calls<Kind>::no_object();
  Value set;
  set.bits = reinterpret_cast<std::intptr_t>(value);
  return set_attribute(*object, keyval, set);
}

template <class Kind>
int get_attr(typename Calls<Kind>::Handle handle, int keyval, void* value, int* flag) {
  Kind* object = get<Kind>(handle);
  if (!object) return Calls<Kind>::no_object();
  if (!is_keyval(Calls<Kind>::kKind, keyval)) {
    const std::string what = std::to_string(keyval) + " is no keyval for this call";
    if constexpr (std::is_same_v<Kind, Datatype>)
      return raise(world_comm, MPI_ERR_KEYVAL, what);
    else
      return raise(object, MPI_ERR_KEYVAL, what);
  }
  const std::optional<Attribute> found = get_attribute(*object, keyval);
  *flag = found ? 1 : 0;
  if (found) *static_cast<void**>(value) = found->in_c;
  return MPI_SUCCESS;
}

template <class Kind>
int delete_attr(typename Calls<Kind>::Handle handle, int keyval) {
  Kind* object = get<Kind>(handle);
  if (!object) return Calls<Kind>::no_object();
  return delete_attribute(*object, keyval);
}

}  // namespace

namespace impl {

int Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove,
                       int* keyval, void* extra_state) {
  return create_keyval<Comm>(copy, remove, keyval, extra_state);
}
int Comm_free_keyval(int* keyval) {
  return free_keyval(ObjectKind::comm, keyval);
}
int Comm_set_attr(MPI_Comm comm, int keyval, void* value) {
  return set_attr<Comm>(comm, keyval, value);
}
int Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag) {
  return get_attr<Comm>(comm, keyval, value, flag);
}
int Comm_delete_attr(MPI_Comm comm, int keyval) {
  return delete_attr<Comm>(comm, keyval);
}

int Type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* remove,
                       int* keyval, void* extra_state) {
  return create_keyval<Datatype>(copy, remove, keyval, extra_state);
}
int Type_free_keyval(int* keyval) {
  return free_keyval(ObjectKind::datatype, keyval);
}
int Type_set_attr(MPI_Datatype type, int keyval, void* value) {
  return set_attr<Datatype>(type, keyval, value);
}
int Type_get_attr(MPI_Datatype type, int keyval, void* value, int* flag) {
  return get_attr<Datatype>(type, keyval, value, flag);
}
int Type_delete_attr(MPI_Datatype type, int keyval) {
  return delete_attr<Datatype>(type, keyval);
}

int Win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* remove,
                      int* keyval, void* extra_state) {
  return create_keyval<Win>(copy, remove, keyval, extra_state);
}
int Win_free_keyval(int* keyval) {
  return free_keyval(ObjectKind::win, keyval);
}
int Win_set_attr(MPI_Win win, int keyval, void* value) {
  return set_attr<Win>(win, keyval, value);
}
int Win_get_attr(MPI_Win win, int keyval, void* value, int* flag) {
  return get_attr<Win>(win, keyval, value, flag);
}
int Win_delete_attr(MPI_Win win, int keyval) {
  return delete_attr<Win>(win, keyval);
}

// MPI-1's names.
int Keyval_create(MPI_Copy_function* copy, MPI_Delete_function* remove, int* keyval,
                  void* extra_state) {
  return create_keyval<Comm>(copy, remove, keyval, extra_state);
}
int Keyval_free(int* keyval) {
  return free_keyval(ObjectKind::comm, keyval);
}
int Attr_put(MPI_Comm comm, int keyval, void* value) {
  return set_attr<Comm>(comm, keyval, value);
}
int Attr_get(MPI_Comm comm, int keyval, void* value, int* flag) {
  return get_attr<Comm>(comm, keyval, value, flag);
}
int Attr_delete(MPI_Comm comm, int keyval) {
  return delete_attr<Comm>(comm, keyval);
}

}  // namespace impl
}  // namespace foretrace::mpi
