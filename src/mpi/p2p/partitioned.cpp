// Partitioned communication: a message travels when all its parts are ready,
// and arrives as a whole.
#include <string>

#include "live_impl.hpp"
#include "mpi/core/block.hpp"
#include "mpi/p2p/checks.hpp"
#include "mpi/p2p/completion.hpp"
#include "mpi_api/partitioned.hpp"

#if MPI_VERSION >= 4
namespace foretrace::mpi {
namespace {

// The tag of a partitioned request's messages, on the library's own context.
int channel(Comm& comm, bool sends, int partner, int tag) {
  return mpi_api::partitioned_tag(tag, comm.partitioned[{sends, partner, tag}]++);
}

void start_send(Request& request, int partitions) {
  Request::More& more = request.more();
  more.unready = partitions;
  for (Request* part : more.parts) release(part);
  more.parts.clear();
  more.finished = false;
}

void make_ready(Request& request, int partitions) {
  request.more().unready -= partitions;
  if (request.more().unready > 0) return;
  Block data(request.capacity);
  if (data.bytes() > 0) pack(request.buffer, request.count, *request.type, data.data());
  request.more().parts.push_back(post_send(*request.comm, request.peer, request.more().channel,
                                           true, machine::SendMode::standard, std::move(data)));
}

Request* make_partitioned(const Checked& checked, bool sends, void* buf, int partitions,
                          MPI_Count count, int partner, int tag) {
  Request* request = persistent_request(*checked.comm, {}, {});
  request->what = Request::What::several;
  request->type = retain(checked.type);
  request->buffer = buf;
  request->count = count * partitions;
  request->peer = partner;
  request->tag = tag;
  request->more().channel = channel(*checked.comm, sends, partner, tag);
  request->capacity = packed_bytes(request->count, *checked.type);
  return request;
}

int ready(MPI_Request handle, int partitions) {
  Request* request = get(handle);
  if (!request || !request->active || request->more().unready < partitions)
    return raise(static_cast<Comm*>(nullptr), MPI_ERR_REQUEST,
                 "expected a partitioned send that is active and lacks the partition");
  make_ready(*request, partitions);
  return MPI_SUCCESS;
}

}  // namespace

namespace impl {

int Psend_init(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest,
               int tag, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  const Checked checked = check_send(buf, partitions, datatype, dest, tag, comm);
  if (!checked) return checked.error;
  Request* made =
      make_partitioned(checked, true, const_cast<void*>(buf), partitions, count, dest, tag);
  made->more().start = [partitions](Request& self) { start_send(self, partitions); };
  *request = handle_of(made);
  return MPI_SUCCESS;
}

int Precv_init(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source,
               int tag, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  const Checked checked = check_recv(buf, partitions, datatype, source, tag, comm);
  if (!checked) return checked.error;
  Request* made = make_partitioned(checked, false, buf, partitions, count, source, tag);
  made->more().start = [](Request& self) {
    start_send(self, 0);
    self.more().parts.push_back(
        post_receive(*self.comm, self.peer, self.more().channel, true, self.capacity,
                     [&self](std::span<const std::byte> message) {
                       unpack(message.data(), message.size(), self.buffer, self.count, *self.type);
                     }));
    self.more().finish_parts = [&self] {
      self.status = self.parts().front()->status;
      if (self.peer != MPI_PROC_NULL && self.tag != MPI_ANY_TAG) self.status.MPI_TAG = self.tag;
    };
  };
  *request = handle_of(made);
  return MPI_SUCCESS;
}

int Pready(int, MPI_Request request) {
  return ready(request, 1);
}

int Pready_range(int partition_low, int partition_high, MPI_Request request) {
  return ready(request, partition_high - partition_low + 1);
}

// MPI 4.1 made the list constant.
#ifdef FORETRACE_STANDARD_ABI
using Partitions = const int;
#else
using Partitions = int;
#endif

int Pready_list(int length, Partitions[], MPI_Request request) {
  return ready(request, length);
}

int Parrived(MPI_Request handle, int, int* flag) {
  *flag = 1;
  Request* request = get(handle);
  if (!request || !request->active || request->settled()) return MPI_SUCCESS;
  *flag = complete(sim::Completing::test_all, {&request, 1}).empty() ? 0 : 1;
  return MPI_SUCCESS;
}

}  // namespace impl
}  // namespace foretrace::mpi
#endif
