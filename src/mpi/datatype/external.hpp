// The data representation "external32" (MPI 3.1, 13.5.2): big-endian IEEE numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/datatype/layout.hpp"

namespace foretrace::mpi {

// Bytes of `count` elements in external32.
std::uint64_t external_bytes(MPI_Count count, const Datatype& type);
// external_bytes() bytes at `out`, in the order of the type map.
void pack_external(const void* buffer, MPI_Count count, const Datatype& type, std::byte* out);
// The first `bytes` of them back to their places.
void unpack_external(const std::byte* in, std::uint64_t bytes, void* buffer, MPI_Count count,
                     const Datatype& type);

}  // namespace foretrace::mpi
