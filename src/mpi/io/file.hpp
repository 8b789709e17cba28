// Files of MPI-IO.
//
// What the rest of the library sees of a file: its error handler. Views and
// positions: state.hpp.
#pragma once

#include <memory>

#include "mpi/comm/comm.hpp"
#include "mpi/core/error.hpp"
#include "mpi/core/info.hpp"
#include "mpi/core/object.hpp"

namespace foretrace::mpi {

struct FileState;

struct File : Object {
  File();
  ~File() override;

  // The file's own communicator: the opening group, a context that no other has. Owned.
  Comm* comm = nullptr;
  Errhandler* errhandler = nullptr;  // owned
  Info* info = nullptr;              // hints in use, owned
  std::unique_ptr<FileState> state;
};

}  // namespace foretrace::mpi
