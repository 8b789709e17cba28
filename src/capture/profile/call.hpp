// Measured: the extent of a wrapper in mode profile. What the generated
// wrappers say of a call beside its time: what it moved, and what it did to
// communicators and persistent requests.
#pragma once

#include <mpi.h>

#include "capture/handlers/handlers.hpp"
#include "capture/profile/profiler.hpp"

namespace foretrace::capture {

// Looks before the call is measured.
inline Sender awaited(int count, const MPI_Request* requests) {
  return wrapper_depth == 0 ? profiler.awaited(count, requests) : Sender();
}

class Measured {
 public:
  Measured(Fn fn, const void* address, const void* cfa) : ours_(wrapper_depth == 0) {
    if (!ours_) return;
    ++wrapper_depth;
    profiler.begin(call_, fn, {address, cfa});
  }
  // What follows is about the call, no part of it.
  void stop() {
    if (call_.site) profiler.end(call_);
  }
  ~Measured() { wrapper_depth -= ours_; }
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

  void on(MPI_Comm comm) { moved(trace::Direction::none, 0, comm); }
  void sent(MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm) {
    if (call_.site) profiler.message(call_, message_bytes(count, type).count, dest, comm);
  }
  void received(const MPI_Status& status, int source, MPI_Comm comm) {
    if (!call_.site || source == MPI_PROC_NULL) return;
    if (comm == MPI_COMM_NULL) return moved(trace::Direction::received, bytes_of(status), comm);
    profiler.received(call_, bytes_of(status), status.MPI_SOURCE, comm);
  }
  void probed(const MPI_Status& status, int source, MPI_Comm comm) {
    if (call_.site && source != MPI_PROC_NULL) profiler.probed(call_, status.MPI_SOURCE, comm);
  }
  void waited(const Sender& sender, const MPI_Status* status) {
    if (call_.site && sender)
      profiler.waited(call_, sender, status ? status->MPI_SOURCE : MPI_UNDEFINED);
  }
  // By a receive that is posted, as much as its buffer holds.
  void expected(MPI_Count count, MPI_Datatype type, int source, MPI_Comm comm) {
    if (source == MPI_PROC_NULL) return on(comm);
    moved(trace::Direction::received, count, type, comm);
  }
  // A transfer of known size without a partner in some communicator.
  void moved(trace::Direction direction, MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
    if (call_.site) moved(direction, message_bytes(count, type).count, comm);
  }
  template <class BytesOf>
  void collective(MPI_Comm comm, BytesOf bytes_of) {
    if (call_.site) moved(trace::Direction::collective, bytes_of(profiler.shape(comm)).count, comm);
  }

  void prepared(int result, const MPI_Request* request, MPI_Count count, MPI_Datatype type,
                int dest, MPI_Comm comm) {
    if (ours_ && result == MPI_SUCCESS)
      profiler.prepare(*request, message_bytes(count, type).count, dest, comm);
  }
  void started(int count, const MPI_Request* requests) {
    for (int i = 0; call_.site && requests && i < count; ++i) profiler.started(call_, requests[i]);
  }
  void posted(int result, const MPI_Request* request, int source, MPI_Comm comm) {
    if (ours_ && result == MPI_SUCCESS) profiler.receives(*request, source, comm);
  }
  void posted_other(int result, const MPI_Request* request) {
    if (ours_ && result == MPI_SUCCESS) profiler.receives_nothing(*request);
  }
  void freeing_request(const MPI_Request* request) {
    if (ours_ && request) profiler.forget_request(*request);
  }

  void created(int result, const MPI_Comm* comm) {
    if (ours_ && result == MPI_SUCCESS) profiler.adopt(*comm);
  }
  void created_like(int result, const MPI_Comm* comm, MPI_Comm parent) {
    if (ours_ && result == MPI_SUCCESS) profiler.adopt_like(*comm, parent);
  }
  void freeing_comm(const MPI_Comm* comm) {
    if (ours_ && comm) profiler.forget_comm(*comm);
  }
  void named(MPI_Comm comm, const char* name) {
    if (ours_) profiler.name(comm, name);
  }
  void control(int level) {
    if (ours_) profiler.control(level);
  }

 private:
  static std::uint64_t bytes_of(const MPI_Status& status) {
    int bytes = 0;
    if (PMPI_Get_count(&status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes != MPI_UNDEFINED)
      return static_cast<std::uint64_t>(bytes);
    return received_bytes(status).count;
  }
  void moved(trace::Direction direction, std::uint64_t bytes, MPI_Comm comm) {
    if (call_.site) profiler.moved(call_, direction, bytes, comm);
  }

  bool ours_;
  OpenCall call_;
};

}  // namespace foretrace::capture
