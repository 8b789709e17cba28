// What Open MPI's libraries for Fortran and C++ read and write in the objects that
// handles point to, as offsets into a cell.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/abi/cells.hpp"

namespace foretrace::mpi::abi {

// Communicators: what kind of communicator it is, as bits.
inline constexpr std::size_t kCommFlags = 0xe8;
inline constexpr std::uint32_t kCommInter = 0x1;
inline constexpr std::uint32_t kCommCartesian = 0x100;
inline constexpr std::uint32_t kCommGraph = 0x200;
// The local and the remote group, of which the Fortran library reads the number of
// members (MPI_ALLTOALLW). They stand for themselves at the end of the cell.
inline constexpr std::size_t kCommGroup = 0xf8;
inline constexpr std::size_t kCommRemoteGroup = 0x100;
inline constexpr std::size_t kCommGroupImage = 0x120;
inline constexpr std::size_t kCommRemoteGroupImage = 0x140;
inline constexpr std::size_t kGroupSize = 0x10;
// The set of attributes, a pointer that comes back as it was: the object's address.
inline constexpr std::size_t kCommAttributes = 0x110;
inline constexpr std::size_t kTypeAttributes = 0xd0;
inline constexpr std::size_t kWinAttributes = 0xf0;
// Groups: their Fortran number, which the Fortran library reads of those that MPI_GROUP_INCL and
// its kin make.
static_assert(offsetof(Cell, fortran) == 0x18);
// Operations: bits, of which the Fortran library sets this for its functions.
inline constexpr std::size_t kOpFlags = 0x54;
inline constexpr std::uint32_t kOpIsFortran = 0x2;
// Requests: their Fortran number; a byte that is 0 for MPI_GREQUEST_START's.
inline constexpr std::size_t kRequestNumber = 0x68;
inline constexpr std::size_t kRequestIsC = 0xc0;
// Error handlers: the user's functions, and what calls them for C++.
inline constexpr std::size_t kErrhandlerOnComm = 0x58;
inline constexpr std::size_t kErrhandlerOnFile = 0x60;
inline constexpr std::size_t kErrhandlerOnWin = 0x68;
inline constexpr std::size_t kErrhandlerDispatch = 0x78;

template <class Field>
Field& field_of(Cell& cell, std::size_t offset) {
  return *reinterpret_cast<Field*>(reinterpret_cast<std::byte*>(&cell) + offset);
}

}  // namespace foretrace::mpi::abi
