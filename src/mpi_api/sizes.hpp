// The message size d of a collective call, in bytes, as the data sheets count
// it: the size that the call names (Howell's thesis appendix B). Calls with a count
// for each rank take the mean. And the counts themselves. One rule per line of
// src/mpi_api/functions.txt.
//
// `Type` is MPI_Datatype, or what the including side has for a datatype: then
// that side declares type_bytes() for it in its own namespace.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/ids.hpp"

namespace foretrace::mpi_api {

// Of the communicator that the call is on.
struct CommShape {
  int size = 0;
  int rank = 0;          // of this process
  bool between = false;  // two groups, an inter-communicator: `size` is the other's
  int own = 0;           // then the size of this process's group
};

inline std::uint64_t type_bytes(MPI_Datatype type) {
  MPI_Count size = 0;
  if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS) return 0;
  return size > 0 ? static_cast<std::uint64_t>(size) : 0;
}

template <class Count, class Type>
Bytes message_bytes(Count count, Type type) {
  return Bytes(count > 0 ? static_cast<std::uint64_t>(count) * type_bytes(type) : 0);
}

template <class Count>
std::uint64_t sum(int size, const Count* counts) {
  std::uint64_t total = 0;
  for (int i = 0; i < size; ++i)
    if (counts[i] > 0) total += static_cast<std::uint64_t>(counts[i]);
  return total;
}

inline Bytes size_none(const CommShape&) {
  return Bytes(0);
}

template <class Count, class Type>
Bytes size_one(const CommShape&, Count count, Type type) {
  return message_bytes(count, type);
}

// What this rank contributes; two groups agree on the larger of the two directions.
template <class Count, class Type>
Bytes size_gather(const CommShape& comm, const void* sendbuf, Count sendcount, Type sendtype,
                  Count recvcount, Type recvtype) {
  if (comm.between)
    return std::max(message_bytes(sendcount, sendtype), message_bytes(recvcount, recvtype));
  return sendbuf == MPI_IN_PLACE ? message_bytes(recvcount, recvtype)
                                 : message_bytes(sendcount, sendtype);
}

// What this rank gets; only the root's send arguments mean anything.
template <class Count, class Type>
Bytes size_scatter(const CommShape& comm, Count sendcount, Type sendtype, const void* recvbuf,
                   Count recvcount, Type recvtype, int root) {
  if (comm.rank == root || recvbuf == MPI_IN_PLACE) return message_bytes(sendcount, sendtype);
  return message_bytes(recvcount, recvtype);
}

// Whether the counts for all ranks are this rank's to give. Between two groups
// the others may pass none, whatever their rank in their own group.
inline bool is_root(const CommShape& comm, int root) {
  return comm.between ? root == MPI_ROOT : comm.rank == root;
}

template <class Count, class Type>
Bytes size_mean(const CommShape& comm, const Count* counts, Type type) {
  return Bytes(sum(comm.size, counts) * type_bytes(type) / static_cast<std::uint64_t>(comm.size));
}

// A group scatters what the other one reduces: the counts are of its own ranks.
inline int scattered_over(const CommShape& comm) {
  return comm.between ? comm.own : comm.size;
}

template <class Count, class Type>
Bytes size_total(const CommShape& comm, const Count* counts, Type type) {
  return Bytes(sum(scattered_over(comm), counts) * type_bytes(type));
}

template <class Count, class Type>
Bytes size_block(const CommShape& comm, Count count, Type type) {
  return Bytes(message_bytes(count, type).count * static_cast<std::uint64_t>(scattered_over(comm)));
}

template <class Count, class Type>
Bytes size_gatherv(const CommShape& comm, Count sendcount, Type sendtype, const Count* recvcounts,
                   Type recvtype, int root) {
  if (is_root(comm, root)) return size_mean(comm, recvcounts, recvtype);
  return message_bytes(sendcount, sendtype);
}

template <class Count, class Type>
Bytes size_scatterv(const CommShape& comm, const Count* sendcounts, Type sendtype, Count recvcount,
                    Type recvtype, int root) {
  if (is_root(comm, root)) return size_mean(comm, sendcounts, sendtype);
  return message_bytes(recvcount, recvtype);
}

// The larger of what goes out and what comes in.
template <class Count, class Type>
Bytes size_alltoallv(const CommShape& comm, const void* sendbuf, const Count* sendcounts,
                     Type sendtype, const Count* recvcounts, Type recvtype) {
  const Bytes in = size_mean(comm, recvcounts, recvtype);
  if (sendbuf == MPI_IN_PLACE) return in;
  return std::max(in, size_mean(comm, sendcounts, sendtype));
}

template <class Count, class Type>
Bytes size_mixed_mean(const CommShape& comm, const Count* counts, const Type* types) {
  std::uint64_t total = 0;
  for (int i = 0; i < comm.size; ++i)
    if (counts[i] > 0) total += message_bytes(counts[i], types[i]).count;
  return Bytes(total / static_cast<std::uint64_t>(comm.size));
}

template <class Count, class Type>
Bytes size_alltoallw(const CommShape& comm, const void* sendbuf, const Count* sendcounts,
                     const Type* sendtypes, const Count* recvcounts, const Type* recvtypes) {
  const Bytes in = size_mixed_mean(comm, recvcounts, recvtypes);
  if (sendbuf == MPI_IN_PLACE) return in;
  return std::max(in, size_mixed_mean(comm, sendcounts, sendtypes));
}

// --- the part of each member (trace/counts.hpp), where a function has a count for each

using Parts = std::vector<Bytes>;

template <class Count, class Type>
void counts_each(Parts& parts, int size, const Count* counts, Type type) {
  const std::uint64_t bytes = type_bytes(type);
  for (int i = 0; i < size; ++i)
    parts.push_back(Bytes(counts[i] > 0 ? static_cast<std::uint64_t>(counts[i]) * bytes : 0));
}

template <class Count, class Type>
void counts_mixed(Parts& parts, int size, const Count* counts, const Type* types) {
  for (int i = 0; i < size; ++i)
    parts.push_back(counts[i] > 0 ? message_bytes(counts[i], types[i]) : Bytes());
}

inline void counts_none(Parts&, const CommShape&) {}

template <class Count, class Type>
void counts_all(Parts& parts, const CommShape& comm, const Count* counts, Type type) {
  counts_each(parts, comm.size, counts, type);
}

// Elsewhere than at the root `own` alone.
template <class Count, class Type>
void counts_rooted(Parts& parts, const CommShape& comm, const Count* counts, Type type, int root,
                   Count own, Type own_type) {
  if (is_root(comm, root)) return counts_each(parts, comm.size, counts, type);
  parts.push_back(message_bytes(own, own_type));
}

// What goes out, and what comes in.
template <class Count, class Type>
void counts_two(Parts& parts, const CommShape& comm, const void* sendbuf, const Count* sendcounts,
                Type sendtype, const Count* recvcounts, Type recvtype) {
  const bool in_place = sendbuf == MPI_IN_PLACE;
  counts_each(parts, comm.size, in_place ? recvcounts : sendcounts, in_place ? recvtype : sendtype);
  counts_each(parts, comm.size, recvcounts, recvtype);
}

template <class Count, class Type>
void counts_two_mixed(Parts& parts, const CommShape& comm, const void* sendbuf,
                      const Count* sendcounts, const Type* sendtypes, const Count* recvcounts,
                      const Type* recvtypes) {
  const bool in_place = sendbuf == MPI_IN_PLACE;
  counts_mixed(parts, comm.size, in_place ? recvcounts : sendcounts,
               in_place ? recvtypes : sendtypes);
  counts_mixed(parts, comm.size, recvcounts, recvtypes);
}

// --- the message to or from the i-th partner

inline Bytes piece_none(int) {
  return Bytes();
}

template <class Count, class Type>
Bytes piece_one(int, Count count, Type type) {
  return message_bytes(count, type);
}

template <class Count, class Type>
Bytes piece_each(int i, const Count* counts, Type type) {
  return message_bytes(counts[i], type);
}

template <class Count, class Type>
Bytes piece_mixed(int i, const Count* counts, const Type* types) {
  return counts[i] > 0 ? message_bytes(counts[i], types[i]) : Bytes();
}

}  // namespace foretrace::mpi_api
