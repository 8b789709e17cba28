// Windows and files: who waits for whom. Their synchronising calls are barriers
// of their members, which have a communicator of their own in the trace.
#include <unordered_map>

#include "capture/handlers/posting.hpp"

namespace foretrace::capture {
namespace {

// Windows or files, by handle.
template <class Handle>
class Known {
 public:
  void add(Handle handle, CommInfo& info) { members_[handle_bits(handle)] = &info; }
  CommInfo* find(Handle handle) const {
    const auto found = members_.find(handle_bits(handle));
    return found == members_.end() ? nullptr : found->second;
  }
  // What has the handle by now may be another one.
  void remove(std::uint64_t handle, const CommInfo* info) {
    const auto found = members_.find(handle);
    if (found != members_.end() && found->second == info) members_.erase(found);
  }

 private:
  std::unordered_map<std::uint64_t, CommInfo*> members_;
};

Known<MPI_Win> windows;
Known<MPI_File> files;

int move(Fn fn, CommInfo* info, int target, Bytes bytes, Real real) {
  trace::Event& event = session.open(trace::EventKind::call, fn);
  const int result = wait_in(real);
  if (!info || result != MPI_SUCCESS || bytes.count == 0) {
    session.close_as_call();
    return result;
  }
  event.comm = session.comm_id(*info);
  event.bytes = bytes;
  event.send.peer = info->world(target);
  if (session.predicting())
    session.close_at(event.enter + session.call_cost(fn, bytes), Time());
  else
    session.close();
  return result;
}

int barrier(Fn fn, CommInfo& info, Real real, Bytes bytes = Bytes(0)) {
  return run_collective(fn, Cost::barrier, info, MPI_COMM_NULL, -1, bytes, real);
}

template <class Handle>
int make(Fn fn, MPI_Comm comm, const Handle* handle, Known<Handle>& known, Real real) {
  Inside inside;
  CommInfo* info = inside ? session.comms.find(comm) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  const int result = barrier(fn, *info, real);
  if (result == MPI_SUCCESS) known.add(*handle, session.comms.adopt_members(*info, comm));
  return result;
}

template <class Handle>
int end(Fn fn, const Handle* variable, Known<Handle>& known, Real real) {
  Inside inside;
  CommInfo* info = inside && variable ? known.find(*variable) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  const Handle handle = *variable;
  const int result = barrier(fn, *info, real);
  if (result == MPI_SUCCESS) known.remove(handle_bits(handle), info);
  return result;
}

}  // namespace

int win_create(Fn fn, MPI_Comm comm, const MPI_Win* win, Real real) {
  return make(fn, comm, win, windows, real);
}

int win_free(Fn fn, const MPI_Win* win, Real real) {
  return end(fn, win, windows, real);
}

int win_fence(Fn fn, MPI_Win win, Real real) {
  Inside inside;
  CommInfo* info = inside ? windows.find(win) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  return barrier(fn, *info, real);
}

int file_open(Fn fn, MPI_Comm comm, const MPI_File* file, Real real) {
  return make(fn, comm, file, files, real);
}

int file_close(Fn fn, const MPI_File* file, Real real) {
  return end(fn, file, files, real);
}

int moves_to(Fn fn, MPI_Win win, int target, Bytes bytes, Real real) {
  Inside inside;
  if (!inside) return real();
  return move(fn, target == MPI_PROC_NULL ? nullptr : windows.find(win), target, bytes, real);
}

int moves_in(Fn fn, MPI_File file, Bytes bytes, Real real) {
  Inside inside;
  if (!inside) return real();
  return move(fn, files.find(file), -1, bytes, real);
}

int file_collective(Fn fn, MPI_File file, int meetings, Bytes bytes, Real real) {
  Inside inside;
  CommInfo* info = inside ? files.find(file) : nullptr;
  if (!info) return inside ? plain_call(fn, real) : real();
  for (int i = 1; i < meetings; ++i) barrier(fn, *info, [] { return MPI_SUCCESS; });
  return barrier(fn, *info, real, bytes);
}

}  // namespace foretrace::capture
