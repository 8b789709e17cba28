// Pair: the calls of one rank in a message between two, for the experiments that
// are made of them.
#pragma once

#include <mpi.h>

#include "measure/experiments/experiments.hpp"

namespace foretrace::measure {

struct Pair {
  MPI_Comm comm;
  bool sender;
  int peer;
  int count;
  Buffers& buffers;
  bool both_send = false;
  bool one_buffer = false;

  static constexpr int kTag = 1;
  static constexpr int kReady = 2;

  char* out() const { return buffers.send(); }
  char* in() const { return one_buffer ? buffers.send() : buffers.recv(); }

  // Only what is sent is written: the rest stays as the last message left it.
  void next() const {
    const auto bytes = static_cast<std::uint64_t>(count);
    buffers.next(sender || both_send ? bytes : 0, bytes);
  }
  void send() const { MPI_Send(out(), count, MPI_CHAR, peer, kTag, comm); }
  void recv() const { MPI_Recv(in(), count, MPI_CHAR, peer, kTag, comm, MPI_STATUS_IGNORE); }
  MPI_Request post() const {
    MPI_Request request;
    if (sender)
      MPI_Isend(out(), count, MPI_CHAR, peer, kTag, comm, &request);
    else
      MPI_Irecv(in(), count, MPI_CHAR, peer, kTag, comm, &request);
    return request;
  }
  // Notes a call's two parts, the sender's in the first two of `spans`, the receiver's in the next.
  void note(Span* spans, std::int64_t entry, std::int64_t middle, std::int64_t done) const {
    const int first = sender ? 0 : 2;
    spans[first] = {entry, middle};
    spans[first + 1] = {middle, done};
  }
  // Called by both: afterwards the sender knows that what the receiver has posted
  // is there.
  void announce() const {
    if (sender)
      MPI_Recv(nullptr, 0, MPI_CHAR, peer, kReady, comm, MPI_STATUS_IGNORE);
    else
      MPI_Send(nullptr, 0, MPI_CHAR, peer, kReady, comm);
  }
};

inline Pair pair_of(const Group& group, std::uint64_t bytes, Buffers& buffers) {
  return {group.comm, group.rank == 0, 1 - group.rank, static_cast<int>(bytes), buffers};
}

}  // namespace foretrace::measure
