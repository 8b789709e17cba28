// Files: who waits for whom. Their synchronising calls are barriers of their members,
// which have a communicator of their own in the trace.
#include <unordered_map>

#include "capture/handlers/posting.hpp"
#include "mpi_api/groups.hpp"

namespace foretrace::capture {
namespace {

// By handle.
std::unordered_map<std::uint64_t, CommInfo*> files;

CommInfo* find(MPI_File file) {
  const auto found = files.find(handle_bits(file));
  return found == files.end() ? nullptr : found->second;
}

int file_barrier(Fn fn, CommInfo& info, Real real, Bytes bytes = Bytes(0)) {
  return run_collective(fn, Cost::barrier, info, MPI_COMM_NULL, -1, bytes, real);
}

}  // namespace

int file_open(Fn fn, MPI_Comm comm, const MPI_File* file, Real real) {
  Inside inside;
  CommInfo* info = inside ? session.comms.find(comm) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  const int result = file_barrier(fn, *info, real);
  const AfterEvent after;
  if (result == MPI_SUCCESS) files[handle_bits(*file)] = &session.comms.adopt_members(*info, comm);
  return result;
}

int file_close(Fn fn, const MPI_File* file, Real real) {
  Inside inside;
  CommInfo* info = inside && file ? find(*file) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  const std::uint64_t handle = handle_bits(*file);
  const int result = file_barrier(fn, *info, real);
  if (result != MPI_SUCCESS) return result;
  // What has the handle by now may be another one.
  const auto found = files.find(handle);
  if (found != files.end() && found->second == info) files.erase(found);
  return result;
}

int file_access(Fn fn, MPI_File file, Bytes bytes, Real real) {
  Inside inside;
  if (!inside) return real();
  trace::Event& event = session.open(trace::EventKind::call, fn);
  const int result = wait_in(real);
  CommInfo* info = find(file);
  if (!info || result != MPI_SUCCESS || bytes.count == 0) {
    session.close_as_call();
    return result;
  }
  event.comm = session.comm_id(*info);
  event.bytes = bytes;
  static const mpi_api::Group* const fetch = mpi_api::find_group("fetches");
  if (info->size > 1 && mpi_api::is_in(*fetch, name_of(fn))) note_fetch(fn, info->world(0), false);
  if (session.predicting())
    session.close_at(event.enter + session.call_cost(fn, bytes), Time());
  else
    session.close();
  return result;
}

int file_collective(Fn fn, MPI_File file, int meetings, Bytes bytes, Real real) {
  Inside inside;
  CommInfo* info = inside ? find(file) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  for (int i = 1; i < meetings; ++i) file_barrier(fn, *info, [] { return MPI_SUCCESS; });
  return file_barrier(fn, *info, real, bytes);
}

}  // namespace foretrace::capture
