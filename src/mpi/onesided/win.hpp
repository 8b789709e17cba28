// Windows: memory that other ranks put to, get from and accumulate into.
//
// What the rest of the library sees of a window: its attributes, its error
// handler. How its memory is reached and which epochs are open: state.hpp.
#pragma once

#include <memory>
#include <string>

#include "mpi/comm/comm.hpp"
#include "mpi/core/error.hpp"
#include "mpi/core/info.hpp"
#include "mpi/core/keyvals.hpp"
#include "mpi/core/object.hpp"

namespace foretrace::mpi {

struct WinState;

struct Win : Object {
  Win();
  ~Win() override;

  // The window's own communicator: its group, a context that no other has. Owned.
  Comm* comm = nullptr;
  // The predefined attributes, as MPI_Win_get_attr points at them.
  void* base = nullptr;
  MPI_Aint bytes = 0;
  int disp_unit = 1;
  int flavor = MPI_WIN_FLAVOR_CREATE;
  int model = MPI_WIN_UNIFIED;

  std::string name;
  Errhandler* errhandler = nullptr;  // owned
  AttributeSet attributes;
  Info* info = nullptr;  // hints in use, owned
  std::unique_ptr<WinState> state;
};

}  // namespace foretrace::mpi
