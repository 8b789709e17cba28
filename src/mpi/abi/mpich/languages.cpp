// What MPICH's libraries for Fortran and C++ call in its C library: attributes in
// the types of those languages, and functions of the user that C cannot call.
#include <cstdint>

#include "mpi/abi/generalized.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/core/error.hpp"
#include "mpi/core/function.hpp"
#include "mpi/core/keyvals.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/io/file.hpp"
#include "mpi/onesided/win.hpp"

#define FORETRACE_EXPORT __attribute__((visibility("default")))

namespace foretrace::mpi {

namespace {
using By = AttributeSet::Value::By;

// How an attribute's value is given or wanted.
enum AttributeType : int { kPointer = 0, kAint = 1, kFint = 3 };

By by_of(int type) {
  return type == kFint ? By::fint : type == kAint ? By::aint : By::pointer;
}

int type_of(By by) {
  return by == By::fint ? kFint : by == By::aint ? kAint : kPointer;
}

using CopyProxy = int(void (*function)(), int handle, int keyval, void* extra_state, int type,
                      void* value, void** new_value, int* flag);
using DeleteProxy = int(void (*function)(), int handle, int keyval, int type, void* value,
                        void* extra_state);
using ErrorProxy = void(int kind, void* handle, int* code, void (*function)());
using OpProxy = void(const void* in, void* inout, int count, MPI_Datatype type,
                     MPI_User_function* function);

// One for the whole C++ library; the functions that it calls are the handlers'.
ErrorProxy* error_proxy = nullptr;
enum ErrorProxyKind : int { kOnComm = 0, kOnFile = 1, kOnWin = 2 };

// The bindings hand a code that a call returns to MPI_Comm_call_errhandler (or
// MPI_Win_..., MPI_File_...). MPICH itself returns none once a handler of C++ has been
// called; here the call returns it, and the handler is not called a second time.
struct Handled {
  std::intptr_t object = 0;
  int code = MPI_SUCCESS;
};
Handled handled_already;

bool hands_code_over() {
  const Fn function = current_function();
  return function == Fn::MPI_Comm_call_errhandler || function == Fn::MPI_Win_call_errhandler ||
         function == Fn::MPI_File_call_errhandler;
}

bool is_second_time(const Object& object, int code) {
  const Handled last = handled_already;
  handled_already = {};
  if (hands_code_over()) return last.object == object.handle && last.code == code;
  handled_already = {object.handle, code};
  return false;
}

// Stand in for handlers' functions; those are C++'s, kept aside.
template <class Kind, class Handle, int kProxyKind>
void call_error_proxy(Handle* handle, int* code, ...) {
  Kind* const object = get(*handle);
  Errhandler* handler = object ? object->errhandler : nullptr;
  if constexpr (kProxyKind == kOnFile) {
    if (!handler) handler = default_file_errhandler();
  }
  if (object && is_second_time(*object, *code)) return;
  if (handler) error_proxy(kProxyKind, handle, code, handler->foreign);
}

template <class Function>
void make_foreign(Errhandler& handler, Function*& function, Function* proxy) {
  handler.foreign = reinterpret_cast<void (*)()>(function);
  function = proxy;
}

template <class Kind, class Handle>
int set_attribute_of(Handle handle, int keyval, void* value, int type) {
  Kind* const object = get(handle);
  if (!object) return raise(static_cast<Comm*>(nullptr), MPI_ERR_ARG, "null or freed handle");
  return set_attribute(*object, keyval, {reinterpret_cast<std::intptr_t>(value), by_of(type)});
}

template <class Kind, class Handle>
int get_attribute_of(Handle handle, int keyval, void* value, int* flag, int type) {
  Kind* const object = get(handle);
  if (!object) return raise(static_cast<Comm*>(nullptr), MPI_ERR_ARG, "null or freed handle");
  const auto attribute = get_attribute(*object, keyval);
  *flag = attribute ? 1 : 0;
  if (!attribute) return MPI_SUCCESS;
  // An INTEGER is fetched into something as wide as a pointer, too.
  if (type == kPointer) {
    *static_cast<void**>(value) = attribute->in_c;
  } else {
    *static_cast<MPI_Aint*>(value) = attribute->in_fortran;
  }
  return MPI_SUCCESS;
}

Keyval copied_by(Keyval made, CopyProxy* proxy) {
  made.copy = nullptr;
  if (!made.users_copy) return made;
  made.copy = [proxy, function = made.users_copy, extra = made.extra_state](
                  Object& object, int keyval, AttributeSet::Value& from, AttributeSet::Value& to,
                  bool& wanted) {
    void* value = nullptr;
    int flag = 0;
    const int error = proxy(function, static_cast<int>(object.handle), keyval, extra,
                            type_of(from.by), reinterpret_cast<void*>(from.bits), &value, &flag);
    wanted = flag != 0;
    to.bits = reinterpret_cast<std::intptr_t>(value);
    to.by = from.by;
    return error;
  };
  return made;
}

Keyval removed_by(Keyval made, DeleteProxy* proxy) {
  made.remove = nullptr;
  if (!made.users_remove) return made;
  made.remove = [proxy, function = made.users_remove, extra = made.extra_state](
                    Object& object, int keyval, AttributeSet::Value& value) {
    return proxy(function, static_cast<int>(object.handle), keyval, type_of(value.by),
                 reinterpret_cast<void*>(value.bits), extra);
  };
  return made;
}
}  // namespace

}  // namespace foretrace::mpi

using namespace foretrace::mpi;

extern "C" {

FORETRACE_EXPORT int MPII_Comm_set_attr(MPI_Comm comm, int keyval, void* value, int type) {
  Entry entry(Fn::MPI_Comm_set_attr);
  return set_attribute_of<Comm>(comm, keyval, value, type);
}

FORETRACE_EXPORT int MPII_Type_set_attr(MPI_Datatype datatype, int keyval, void* value, int type) {
  Entry entry(Fn::MPI_Type_set_attr);
  return set_attribute_of<Datatype>(datatype, keyval, value, type);
}

FORETRACE_EXPORT int MPII_Win_set_attr(MPI_Win win, int keyval, void* value, int type) {
  Entry entry(Fn::MPI_Win_set_attr);
  return set_attribute_of<Win>(win, keyval, value, type);
}

FORETRACE_EXPORT int MPII_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag,
                                        int type) {
  Entry entry(Fn::MPI_Comm_get_attr);
  return get_attribute_of<Comm>(comm, keyval, value, flag, type);
}

FORETRACE_EXPORT int MPII_Type_get_attr(MPI_Datatype datatype, int keyval, void* value, int* flag,
                                        int type) {
  Entry entry(Fn::MPI_Type_get_attr);
  return get_attribute_of<Datatype>(datatype, keyval, value, flag, type);
}

FORETRACE_EXPORT int MPII_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag, int type) {
  Entry entry(Fn::MPI_Win_get_attr);
  return get_attribute_of<Win>(win, keyval, value, flag, type);
}

// The keyval's functions are of the language that the proxies know how to call.
FORETRACE_EXPORT void MPII_Keyval_set_proxy(int keyval, CopyProxy* copy, DeleteProxy* remove) {
  Entry entry(Fn::MPI_Comm_create_keyval);
  Keyval* const known = find_keyval(keyval);
  if (known) *known = removed_by(copied_by(*known, copy), remove);
}

FORETRACE_EXPORT void MPII_Grequest_set_lang_f77(MPI_Request request) {
  Entry entry(Fn::MPI_Grequest_start);
  Request* const object = get(request);
  if (object && object->what == Request::What::generalized) abi::make_fortran(*object);
}

FORETRACE_EXPORT void MPII_Op_set_cxx(MPI_Op op, void (*proxy)()) {
  Entry entry(Fn::MPI_Op_create);
  Op* const object = get(op);
  if (!object) return;
  object->foreign = [call = reinterpret_cast<OpProxy*>(proxy), function = object->function](
                        const void* in, void* inout, int count, MPI_Datatype type) {
    call(in, inout, count, type, function);
  };
}

FORETRACE_EXPORT void MPII_Errhandler_set_cxx(MPI_Errhandler errhandler, void (*proxy)()) {
  Entry entry(Fn::MPI_Comm_create_errhandler);
  Errhandler* const handler = get(errhandler);
  if (!handler) return;
  error_proxy = reinterpret_cast<ErrorProxy*>(proxy);
  if (handler->takes == ObjectKind::comm) {
    make_foreign(*handler, handler->on_comm, call_error_proxy<Comm, MPI_Comm, kOnComm>);
  } else if (handler->takes == ObjectKind::win) {
    make_foreign(*handler, handler->on_win, call_error_proxy<Win, MPI_Win, kOnWin>);
  } else if (handler->takes == ObjectKind::file) {
    make_foreign(*handler, handler->on_file, call_error_proxy<File, MPI_File, kOnFile>);
  }
}
}
