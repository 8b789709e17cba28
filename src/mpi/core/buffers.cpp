#include "mpi/core/buffers.hpp"

#include <map>
#include <optional>

#include "live_impl.hpp"
#include "mpi/core/error.hpp"

namespace foretrace::mpi {

namespace {
struct Buffer {
  void* place;
  int bytes;

  bool has_room_for(std::uint64_t message) const {
#ifdef MPI_BUFFER_AUTOMATIC
    if (place == MPI_BUFFER_AUTOMATIC) return true;
#endif
    return message + MPI_BSEND_OVERHEAD <= static_cast<std::uint64_t>(bytes);
  }
};

// Never destroyed: programs call MPI until their very end.
struct Buffers {
  std::optional<Buffer> of_process;
  std::map<ContextId, Buffer> of_comms;
  std::map<const Session*, Buffer> of_sessions;
};
Buffers& buffers() {
  static auto& all = *new Buffers;
  return all;
}

int attached_already(Comm* comm) {
  return raise(comm, MPI_ERR_BUFFER, "a buffer is attached already");
}

void hand_out(const std::optional<Buffer>& buffer, void* address, int* size) {
  *static_cast<void**>(address) = buffer ? buffer->place : nullptr;
  *size = buffer ? buffer->bytes : 0;
}
}  // namespace

bool fits_buffer(const Comm& comm, std::uint64_t bytes) {
  const auto own = buffers().of_comms.find(comm.context);
  if (own != buffers().of_comms.end()) return own->second.has_room_for(bytes);
  for (const auto& [session, buffer] : buffers().of_sessions)
    if (buffer.has_room_for(bytes)) return true;
  return buffers().of_process && buffers().of_process->has_room_for(bytes);
}

void forget_buffer(const Session* session) {
  buffers().of_sessions.erase(session);
}

namespace impl {

int Buffer_attach(void* buffer, int size) {
  if (buffers().of_process) return attached_already(nullptr);
  if (buffer) buffers().of_process = Buffer{buffer, size};
  return MPI_SUCCESS;
}

int Buffer_detach(void* buffer_addr, int* size) {
  hand_out(buffers().of_process, buffer_addr, size);
  buffers().of_process.reset();
  return MPI_SUCCESS;
}

#ifdef FORETRACE_STANDARD_ABI
namespace {
template <class Key>
void take_out(std::map<Key, Buffer>& from, const Key& key, void* address, int* size) {
  const auto found = from.find(key);
  if (found == from.end()) return hand_out(std::nullopt, address, size);
  hand_out(found->second, address, size);
  from.erase(found);
}

int no_session() {
  return raise(static_cast<Comm*>(nullptr), MPI_ERR_SESSION, "null or finalized session");
}

// Nothing waits in a buffer; so the request is one that is done, a send to nobody.
int flushed(MPI_Request* request) {
  return Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}
}  // namespace

int Buffer_flush() {
  return MPI_SUCCESS;
}

int Buffer_iflush(MPI_Request* request) {
  return flushed(request);
}

int Comm_attach_buffer(MPI_Comm comm, void* buffer, int size) {
  Comm* const object = get(comm);
  if (!object) return raise_no_comm();
  if (!buffers().of_comms.try_emplace(object->context, Buffer{buffer, size}).second)
    return attached_already(object);
  return MPI_SUCCESS;
}

int Comm_detach_buffer(MPI_Comm comm, void* buffer_addr, int* size) {
  Comm* const object = get(comm);
  if (!object) return raise_no_comm();
  take_out(buffers().of_comms, object->context, buffer_addr, size);
  return MPI_SUCCESS;
}

int Comm_flush_buffer(MPI_Comm comm) {
  return get<Comm>(comm) ? MPI_SUCCESS : raise_no_comm();
}

int Comm_iflush_buffer(MPI_Comm comm, MPI_Request* request) {
  return get<Comm>(comm) ? flushed(request) : raise_no_comm();
}

int Session_attach_buffer(MPI_Session session, void* buffer, int size) {
  const Session* const object = get<Session>(session);
  if (!object) return no_session();
  if (!buffers().of_sessions.try_emplace(object, Buffer{buffer, size}).second)
    return attached_already(nullptr);
  return MPI_SUCCESS;
}

int Session_detach_buffer(MPI_Session session, void* buffer_addr, int* size) {
  const Session* const object = get<Session>(session);
  if (!object) return no_session();
  take_out(buffers().of_sessions, object, buffer_addr, size);
  return MPI_SUCCESS;
}

int Session_flush_buffer(MPI_Session session) {
  return get<Session>(session) ? MPI_SUCCESS : no_session();
}

int Session_iflush_buffer(MPI_Session session, MPI_Request* request) {
  return get<Session>(session) ? flushed(request) : no_session();
}
#endif

}  // namespace impl

}  // namespace foretrace::mpi
