// The message size d of a collective call, in bytes, as the data sheets count
// it: the size that the call names (Howell's thesis appendix B). Calls with a count
// for each rank take the mean. One rule per line of src/mpi_api/functions.txt.
#pragma once

#include <mpi.h>

#include "base/ids.hpp"
#include "capture/comm_table.hpp"

namespace foretrace::capture {

inline std::uint64_t type_bytes(MPI_Datatype type) {
  MPI_Count size = 0;
  if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS) return 0;
  return size > 0 ? static_cast<std::uint64_t>(size) : 0;
}

template <class Count>
Bytes message_bytes(Count count, MPI_Datatype type) {
  return Bytes(count > 0 ? static_cast<std::uint64_t>(count) * type_bytes(type) : 0);
}

template <class Count>
std::uint64_t sum(const CommInfo& comm, const Count* counts) {
  std::uint64_t total = 0;
  for (int i = 0; i < comm.size; ++i)
    if (counts[i] > 0) total += static_cast<std::uint64_t>(counts[i]);
  return total;
}

inline Bytes size_none(const CommInfo&) {
  return Bytes(0);
}

template <class Count>
Bytes size_one(const CommInfo&, Count count, MPI_Datatype type) {
  return message_bytes(count, type);
}

// What this rank contributes.
template <class Count>
Bytes size_gather(const CommInfo&, const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
                  Count recvcount, MPI_Datatype recvtype) {
  return sendbuf == MPI_IN_PLACE ? message_bytes(recvcount, recvtype)
                                 : message_bytes(sendcount, sendtype);
}

// What this rank gets; only the root's send arguments mean anything.
template <class Count>
Bytes size_scatter(const CommInfo& comm, Count sendcount, MPI_Datatype sendtype,
                   const void* recvbuf, Count recvcount, MPI_Datatype recvtype, int root) {
  if (comm.rank.value == root || recvbuf == MPI_IN_PLACE) return message_bytes(sendcount, sendtype);
  return message_bytes(recvcount, recvtype);
}

template <class Count>
Bytes size_mean(const CommInfo& comm, const Count* counts, MPI_Datatype type) {
  return Bytes(sum(comm, counts) * type_bytes(type) / static_cast<std::uint64_t>(comm.size));
}

template <class Count>
Bytes size_total(const CommInfo& comm, const Count* counts, MPI_Datatype type) {
  return Bytes(sum(comm, counts) * type_bytes(type));
}

template <class Count>
Bytes size_block(const CommInfo& comm, Count count, MPI_Datatype type) {
  return Bytes(message_bytes(count, type).count * static_cast<std::uint64_t>(comm.size));
}

template <class Count>
Bytes size_gatherv(const CommInfo& comm, Count sendcount, MPI_Datatype sendtype,
                   const Count* recvcounts, MPI_Datatype recvtype, int root) {
  if (comm.rank.value == root) return size_mean(comm, recvcounts, recvtype);
  return message_bytes(sendcount, sendtype);
}

template <class Count>
Bytes size_scatterv(const CommInfo& comm, const Count* sendcounts, MPI_Datatype sendtype,
                    Count recvcount, MPI_Datatype recvtype, int root) {
  if (comm.rank.value == root) return size_mean(comm, sendcounts, sendtype);
  return message_bytes(recvcount, recvtype);
}

// The larger of what goes out and what comes in.
template <class Count>
Bytes size_alltoallv(const CommInfo& comm, const void* sendbuf, const Count* sendcounts,
                     MPI_Datatype sendtype, const Count* recvcounts, MPI_Datatype recvtype) {
  const Bytes in = size_mean(comm, recvcounts, recvtype);
  if (sendbuf == MPI_IN_PLACE) return in;
  return std::max(in, size_mean(comm, sendcounts, sendtype));
}

template <class Count>
Bytes size_alltoallw(const CommInfo& comm, const Count* recvcounts, const MPI_Datatype* recvtypes) {
  std::uint64_t total = 0;
  for (int i = 0; i < comm.size; ++i) total += message_bytes(recvcounts[i], recvtypes[i]).count;
  return Bytes(total / static_cast<std::uint64_t>(comm.size));
}

}  // namespace foretrace::capture
