// Error handlers of Open MPI's libraries for Fortran and C++.
#include <cstdint>
#include <string>

#include "mpi/abi/cells.hpp"
#include "mpi/abi/handles.hpp"
#include "mpi/abi/openmpi/exceptions.hpp"
#include "mpi/abi/openmpi/layout.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/core/error.hpp"
#include "mpi/core/function.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/io/file.hpp"
#include "mpi/onesided/win.hpp"

#define FORETRACE_EXPORT __attribute__((visibility("default")))

extern "C" struct ompi_predefined_errhandler_t ompi_mpi_errors_throw_exceptions;

namespace foretrace::mpi {

namespace {
enum ObjectType : int { kOnComm = 1, kOnWin = 2, kOnFile = 3 };
enum Language : int { kCxx = 1, kFortran = 2 };

using Dispatch = void(void* handle, int* code, const char* message, void (*function)());
template <class Handle>
using ErrorFunction = void(Handle* handle, int* code, ...);

// Stands in for a handler's function, which is C++'s: the C++ library has left in
// the handler's cell the function, and what calls it.
template <class Kind, class Handle, std::size_t kFunction>
void call_cxx(Handle* handle, int* code, ...) {
  Kind* const object = get(*handle);
  Errhandler* const handler =
      object && object->errhandler ? object->errhandler : default_file_errhandler();
  abi::Cell* const cell = abi::cell_at(ObjectKind::errhandler, handler->handle);
  if (!cell) return;
  auto* const dispatch = abi::field_of<Dispatch*>(*cell, abi::kErrhandlerDispatch);
  auto* const function = abi::field_of<void (*)()>(*cell, kFunction);
  if (dispatch && function) {
    dispatch(handle, code, "", function);
  } else if (function) {
    reinterpret_cast<ErrorFunction<Handle>*>(reinterpret_cast<void*>(function))(handle, code);
  }
}
constexpr auto kCallOnComm = call_cxx<Comm, MPI_Comm, abi::kErrhandlerOnComm>;
constexpr auto kCallOnWin = call_cxx<Win, MPI_Win, abi::kErrhandlerOnWin>;
constexpr auto kCallOnFile = call_cxx<File, MPI_File, abi::kErrhandlerOnFile>;

template <class Function>
Function* cast(void (*function)()) {
  return reinterpret_cast<Function*>(reinterpret_cast<void*>(function));
}

void set_function(Errhandler& handler, int type, void (*function)()) {
  if (type == kOnComm) {
    handler.takes = ObjectKind::comm;
    handler.on_comm = cast<MPI_Comm_errhandler_function>(function);
  } else if (type == kOnWin) {
    handler.takes = ObjectKind::win;
    handler.on_win = cast<MPI_Win_errhandler_function>(function);
  } else {
    handler.takes = ObjectKind::file;
    handler.on_file = cast<MPI_File_errhandler_function>(function);
  }
}

void set_cxx_function(Errhandler& handler, int type, void (*function)()) {
  abi::Cell& cell = *reinterpret_cast<abi::Cell*>(handler.handle);
  handler.foreign = function;
  if (type == kOnComm) {
    handler.on_comm = kCallOnComm;
    abi::field_of<void (*)()>(cell, abi::kErrhandlerOnComm) = function;
  } else if (type == kOnWin) {
    handler.on_win = kCallOnWin;
    abi::field_of<void (*)()>(cell, abi::kErrhandlerOnWin) = function;
  } else {
    handler.on_file = kCallOnFile;
    abi::field_of<void (*)()>(cell, abi::kErrhandlerOnFile) = function;
  }
}

int raise_on(void* object, int code, const std::string& what) {
  const auto handle = reinterpret_cast<std::intptr_t>(object);
  if (abi::cell_at(ObjectKind::win, handle)) {
    return raise(get<Win>(static_cast<MPI_Win>(object)), code, what);
  }
  if (abi::cell_at(ObjectKind::file, handle)) {
    return raise(get<File>(static_cast<MPI_File>(object)), code, what);
  }
  return raise(get<Comm>(static_cast<MPI_Comm>(object)), code, what);
}
}  // namespace

namespace abi {

void make_throwing(Errhandler& handler) {
  set_predefined(reinterpret_cast<std::intptr_t>(&ompi_mpi_errors_throw_exceptions), handler);
  handler.what = Errhandler::What::function;
  // It is for all kinds; `takes` is what MPI_Comm_set_errhandler compares.
  handler.takes = ObjectKind::comm;
  handler.on_comm = kCallOnComm;
  handler.on_win = kCallOnWin;
  handler.on_file = kCallOnFile;
}

}  // namespace abi

}  // namespace foretrace::mpi

using namespace foretrace::mpi;

extern "C" {

FORETRACE_EXPORT MPI_Errhandler ompi_errhandler_create(int type, void (*function)(), int language) {
  Entry entry(Fn::MPI_Comm_create_errhandler);
  auto* const handler = new Errhandler;
  handler->what = Errhandler::What::function;
  handler->is_fortran = language == kFortran;
  set_function(*handler, type, function);
  const MPI_Errhandler handle = handle_of(handler);
  if (language == kCxx) set_cxx_function(*handler, type, function);
  return handle;
}

// The first and the third argument are read from the object, where nothing is.
FORETRACE_EXPORT int ompi_errhandler_invoke(void*, void* object, int, int code,
                                            const char* message) {
  Entry entry(Fn::MPI_Comm_call_errhandler);
  return raise_on(object, code, message ? message : "");
}

FORETRACE_EXPORT void ompi_mpi_errors_are_fatal_comm_handler(MPI_Comm*, int* code,
                                                             const char* function, ...) {
  Entry entry(Fn::MPI_Comm_call_errhandler);
  end_run(1, std::string(function ? function : "MPI") + ": error " +
                 std::to_string(code ? *code : MPI_ERR_OTHER));
}
}
