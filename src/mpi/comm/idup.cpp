// Duplicates that are made while the program goes on.
#include <cstring>
#include <string>

#include "live_impl.hpp"
#include "mpi/collective/gathered.hpp"
#include "mpi/comm/contexts.hpp"
#include "mpi/comm/create.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/info.hpp"
#include "mpi/p2p/request.hpp"

namespace foretrace::mpi {
namespace {

// Member 0 makes the context and lays it down for the others; nobody waits before
// the request's completion, only then the new communicator may be used.
int idup_with(Comm& comm, const Info* hints, MPI_Comm* newcomm, MPI_Request* request) {
  Comm* copy = duplicate(comm, 0);
  copy->info = copy_of(hints);
  if (const int error = finish_duplicate(comm, copy, newcomm)) return error;

  Block mine;
  if (comm.place() == 0) {
    const ContextId context = define_context(members_together(comm));
    mine = Block(sizeof context);
    std::memcpy(mine.data(), &context, sizeof context);
  }
  const auto finish = [copy](Gathered& gathered) {
    std::memcpy(&copy->context, gathered.of(0).data(), sizeof copy->context);
    copy->together = copy->context;
  };
  Request* posted = post_collective({.comm = &comm, .cost = machine::Cost::comm_dup},
                                    std::move(mine), finish, {copy});
  *request = handle_of(posted);
  return MPI_SUCCESS;
}

}  // namespace

namespace impl {

int Comm_idup(MPI_Comm handle, MPI_Comm* newcomm, MPI_Request* request) {
  Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  return idup_with(*comm, comm->info, newcomm, request);
}

#if MPI_VERSION >= 4
int Comm_idup_with_info(MPI_Comm handle, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  const Info* hints = get(info);
  if (!hints && info != MPI_INFO_NULL) return raise(comm, MPI_ERR_INFO, "freed info object");
  return idup_with(*comm, hints, newcomm, request);
}
#endif

}  // namespace impl
}  // namespace foretrace::mpi
