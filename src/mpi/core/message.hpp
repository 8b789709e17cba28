// A message that a matched probe has taken.
#pragma once

#include <cstdint>

#include "mpi/comm/comm.hpp"
#include "mpi/p2p/checks.hpp"

namespace foretrace::mpi {

struct Message : Object {
  Message() : Object(ObjectKind::message) {}
  ~Message() override;
  Comm* comm = nullptr;      // one reference
  std::uint64_t number = 0;  // under which the engine holds it
  int source = 0;
  int tag = 0;
};

// A request for a receive, to be posted.
Request* describe_recv(const Checked& checked, void* buf, int count, int source, int tag);
// A blocking receive; of the message held under `taken`, if that is not 0.
int receive_now(const Checked& checked, void* buf, int count, int source, int tag,
                std::uint64_t taken, MPI_Status* status);

}  // namespace foretrace::mpi
