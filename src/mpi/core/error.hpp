// Errors of the program: raised on the object that the call is about.
#pragma once

#include <mpi.h>

#include <string>

#include "mpi/core/object.hpp"

namespace foretrace::mpi {

struct Errhandler : Object {
  Errhandler() : Object(ObjectKind::errhandler) {}
  enum class What { fatal, abort, returns, function } what = What::fatal;
  // The user's function, one of the three by `takes`.
  ObjectKind takes = ObjectKind::comm;
  MPI_Comm_errhandler_function* on_comm = nullptr;
  MPI_Win_errhandler_function* on_win = nullptr;
  MPI_File_errhandler_function* on_file = nullptr;
#if MPI_VERSION >= 4
  MPI_Session_errhandler_function* on_session = nullptr;
#endif
  bool is_fortran = false;  // the function takes Fortran handles
  // Another language's function; then on_* is what knows how to call it.
  void (*foreign)() = nullptr;
};

// Calls the error handler of the object (of MPI_COMM_WORLD, or MPI_COMM_SELF
// after MPI 4's rule, where nullptr is given) with an error of this class
// (MPI_ERR_RANK, ...); as for nullptr where none is given. `what` says what is wrong: "destination
// 7, expected 0 to 3". Returns the error code that the MPI call has to return; does not return if
// the handler is fatal (the run ends with a message that names the rank, the call,
// the class and `what`).
int raise(Comm* comm, int error_class, const std::string& what);
int raise(int error_class, const std::string& what);
int raise(Win* win, int error_class, const std::string& what);
int raise(File* file, int error_class, const std::string& what);

// Ends the whole run: a function of MPI that Foretrace does not simulate. Exit
// status 3.
[[noreturn]] void missing(const char* function, const char* what = "");

// Makes the predefined handlers and registers them.
void create_predefined_errhandlers();
extern Errhandler* errors_are_fatal;
extern Errhandler* errors_return;
extern Errhandler* errors_as_exceptions;  // of the C++ bindings
// What MPI_FILE_NULL has, and new files get.
Errhandler* default_file_errhandler();

// "MPI_ERR_RANK"; of a class that the program added, its string.
std::string error_class_name(int error_class);
// MPI_LASTUSEDCODE's value, where it stands for good.
const int& last_used_error_code();

}  // namespace foretrace::mpi
