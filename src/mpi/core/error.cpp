#include "mpi/core/error.hpp"

#include <string>

#ifdef OPEN_MPI
#include "mpi/abi/openmpi/exceptions.hpp"
#endif
#include "live_impl.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/core/function.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/io/file.hpp"
#include "mpi/onesided/win.hpp"

namespace foretrace::mpi {

Errhandler* errors_are_fatal = nullptr;
Errhandler* errors_return = nullptr;
Errhandler* errors_as_exceptions = nullptr;

namespace {

Errhandler* file_null_errhandler = nullptr;

[[noreturn]] void end_with(int code, const std::string& what) {
  // A status of 0 would be taken for success.
  const int status = (code & 0xff) != 0 ? code & 0xff : 1;
  std::string message = name_of(current_function());
  message += ": " + error_class_name(code);
  if (!what.empty()) message += ": " + what;
  end_run(status, message);
}

// Calls a function of the program with its handle and the code, which it may change.
template <class Function, class Handle>
void call(Function* function, const Errhandler& handler, Handle handle, int fortran, int& code) {
  if (handler.is_fortran) {
    reinterpret_cast<void (*)(MPI_Fint*, MPI_Fint*, ...)>(function)(&fortran, &code);
  } else {
    function(&handle, &code);
  }
}

// Whether the handler leaves it to the caller to call the program's function.
bool is_function(const Errhandler* handler, int code, const std::string& what) {
  // After MPI_Finalize, or before MPI_Init, nobody is there to handle anything.
  if (!handler) end_with(code, what);
  switch (handler->what) {
    case Errhandler::What::fatal:
    case Errhandler::What::abort:
      end_with(code, what);
    case Errhandler::What::returns:
      return false;
    case Errhandler::What::function:
      return true;
  }
  return false;
}

}  // namespace

int raise(Comm* comm, int error_class, const std::string& what) {
  if (!comm) comm = world_comm;
  Errhandler* handler = comm ? (comm->errhandler ? comm->errhandler : errors_are_fatal) : nullptr;
  if (is_function(handler, error_class, what)) {
    const MPI_Comm handle = handle_of(comm);
    call(handler->on_comm, *handler, handle, comm->fortran, error_class);
  }
  return error_class;
}

int raise(int error_class, const std::string& what) {
  return raise(static_cast<Comm*>(nullptr), error_class, what);
}

int raise(Win* win, int error_class, const std::string& what) {
  if (!win) return raise(world_comm, error_class, what);
  Errhandler* handler = win->errhandler ? win->errhandler : errors_are_fatal;
  if (is_function(handler, error_class, what)) {
    const MPI_Win handle = handle_of(win);
    call(handler->on_win, *handler, handle, win->fortran, error_class);
  }
  return error_class;
}

int raise(File* file, int error_class, const std::string& what) {
  Errhandler* handler = file ? file->errhandler : nullptr;
  if (!handler) handler = default_file_errhandler();
  if (is_function(handler, error_class, what)) {
    const MPI_File handle = handle_of(file);
    call(handler->on_file, *handler, handle, file ? file->fortran : 0, error_class);
  }
  return error_class;
}

void missing(const char* function, const char* what) {
  constexpr int kMissingStatus = 3;
  std::string message = std::string(function) + ": not simulated";
  if (*what) message += std::string(": ") + what;
  end_run(kMissingStatus, message);
}

Errhandler* default_file_errhandler() {
  return file_null_errhandler ? file_null_errhandler : errors_return;
}

void create_predefined_errhandlers() {
  const auto make = [](Errhandler::What what) {
    auto* handler = new Errhandler;
    handler->what = what;
    handler->predefined = true;
    return handler;
  };
  errors_are_fatal = make(Errhandler::What::fatal);
  set_predefined(MPI_ERRORS_ARE_FATAL, errors_are_fatal);
  errors_return = make(Errhandler::What::returns);
  set_predefined(MPI_ERRORS_RETURN, errors_return);
  // The C++ bindings look at the code that a call returns, and throw it.
  errors_as_exceptions = make(Errhandler::What::returns);
#ifdef OPEN_MPI
  // Those of Open MPI have the handler throw it.
  abi::make_throwing(*errors_as_exceptions);
#endif
#ifdef MPIR_ERRORS_THROW_EXCEPTIONS
  set_predefined(MPIR_ERRORS_THROW_EXCEPTIONS, errors_as_exceptions);
#endif
#ifdef MPI_ERRORS_ABORT
  set_predefined(MPI_ERRORS_ABORT, make(Errhandler::What::abort));
#endif
}

namespace {

int raise_no_errhandler() {
  return raise(world_comm, MPI_ERR_ARG, "null or freed error handler");
}

// Puts a handler into an object's place; it must be predefined or for that kind.
int set_handler(Errhandler*& place, MPI_Errhandler handle, ObjectKind kind) {
  Errhandler* handler = get(handle);
  if (!handler) return raise_no_errhandler();
  if (handler->what == Errhandler::What::function && handler->takes != kind) {
    return raise(world_comm, MPI_ERR_ARG, "an error handler for another kind of object");
  }
  retain(handler);
  release(place);
  place = handler;
  return MPI_SUCCESS;
}

int hand_out(Errhandler* handler, MPI_Errhandler* handle) {
  *handle = handle_of(retain(handler));
  return MPI_SUCCESS;
}

Errhandler* new_handler(ObjectKind kind) {
  auto* handler = new Errhandler;
  handler->what = Errhandler::What::function;
  handler->takes = kind;
  return handler;
}

}  // namespace

namespace impl {

int Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
  if (!function || !errhandler) return raise(world_comm, MPI_ERR_ARG, "null pointer");
  Errhandler* handler = new_handler(ObjectKind::comm);
  handler->on_comm = function;
  *errhandler = handle_of(handler);
  return MPI_SUCCESS;
}

int Win_create_errhandler(MPI_Win_errhandler_function* function, MPI_Errhandler* errhandler) {
  if (!function || !errhandler) return raise(world_comm, MPI_ERR_ARG, "null pointer");
  Errhandler* handler = new_handler(ObjectKind::win);
  handler->on_win = function;
  *errhandler = handle_of(handler);
  return MPI_SUCCESS;
}

int File_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* errhandler) {
  if (!function || !errhandler) return raise(world_comm, MPI_ERR_ARG, "null pointer");
  Errhandler* handler = new_handler(ObjectKind::file);
  handler->on_file = function;
  *errhandler = handle_of(handler);
  return MPI_SUCCESS;
}

int Comm_set_errhandler(MPI_Comm handle, MPI_Errhandler errhandler) {
  Comm* comm = get(handle);
  if (!comm) return raise(world_comm, MPI_ERR_COMM, "null or freed communicator");
  return set_handler(comm->errhandler, errhandler, ObjectKind::comm);
}

int Comm_get_errhandler(MPI_Comm handle, MPI_Errhandler* errhandler) {
  Comm* comm = get(handle);
  if (!comm) return raise(world_comm, MPI_ERR_COMM, "null or freed communicator");
  return hand_out(comm->errhandler ? comm->errhandler : errors_are_fatal, errhandler);
}

int Win_set_errhandler(MPI_Win handle, MPI_Errhandler errhandler) {
  Win* win = get(handle);
  if (!win) return raise(world_comm, MPI_ERR_WIN, "null or freed window");
  return set_handler(win->errhandler, errhandler, ObjectKind::win);
}

int Win_get_errhandler(MPI_Win handle, MPI_Errhandler* errhandler) {
  Win* win = get(handle);
  if (!win) return raise(world_comm, MPI_ERR_WIN, "null or freed window");
  return hand_out(win->errhandler ? win->errhandler : errors_are_fatal, errhandler);
}

int File_set_errhandler(MPI_File handle, MPI_Errhandler errhandler) {
  if (handle == MPI_FILE_NULL) {
    return set_handler(file_null_errhandler, errhandler, ObjectKind::file);
  }
  File* file = get(handle);
  if (!file) return raise(static_cast<File*>(nullptr), MPI_ERR_FILE, "closed file");
  return set_handler(file->errhandler, errhandler, ObjectKind::file);
}

int File_get_errhandler(MPI_File handle, MPI_Errhandler* errhandler) {
  if (handle == MPI_FILE_NULL) return hand_out(default_file_errhandler(), errhandler);
  File* file = get(handle);
  if (!file) return raise(static_cast<File*>(nullptr), MPI_ERR_FILE, "closed file");
  return hand_out(file->errhandler ? file->errhandler : default_file_errhandler(), errhandler);
}

int Comm_call_errhandler(MPI_Comm handle, int errorcode) {
  Comm* comm = get(handle);
  if (!comm) return raise(world_comm, MPI_ERR_COMM, "null or freed communicator");
  raise(comm, errorcode, "called by the program");
  return MPI_SUCCESS;
}

int Win_call_errhandler(MPI_Win handle, int errorcode) {
  Win* win = get(handle);
  if (!win) return raise(world_comm, MPI_ERR_WIN, "null or freed window");
  raise(win, errorcode, "called by the program");
  return MPI_SUCCESS;
}

int File_call_errhandler(MPI_File handle, int errorcode) {
  File* file = get(handle);
  if (!file && handle != MPI_FILE_NULL) return raise(file, MPI_ERR_FILE, "closed file");
  raise(file, errorcode, "called by the program");
  return MPI_SUCCESS;
}

int Errhandler_free(MPI_Errhandler* errhandler) {
  Errhandler* handler = errhandler ? get<Errhandler>(*errhandler) : nullptr;
  if (!handler) return raise_no_errhandler();
  release(handler);
  *errhandler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

// MPI-1's names.
int Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
  return Comm_create_errhandler(function, errhandler);
}
int Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
  return Comm_set_errhandler(comm, errhandler);
}
int Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
  return Comm_get_errhandler(comm, errhandler);
}

}  // namespace impl
}  // namespace foretrace::mpi
