// What the ways to make communicators share: agreeing on a context among members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/comm/comm.hpp"

namespace foretrace::mpi {

// Tags of the library's own messages that make communicators, from here on;
// the program's tag tells simultaneous ones apart.
inline constexpr int kCreateTag = 0x60000000;
inline int creation_tag(int tag) {
  return kCreateTag | (tag & 0x0fffffff);
}

// World ranks of all in the order of Comm::place.
std::vector<int> members_together(const Comm& comm);

// A duplicate without attributes that has this context, topology included.
Comm* duplicate(const Comm& comm, ContextId context);
// Copies the attributes; on failure releases `copy` and raises.
int finish_duplicate(Comm& comm, Comm* copy, MPI_Comm* newcomm);

// Among the members of a group alone, all of which call it: what the root told. By silent messages
// of `parent`, whose partners must include the group: meet_in() must follow.
std::vector<std::byte> tell_group(Comm& parent, const Group& group, int root, int tag,
                                  std::vector<std::byte> told);
// The making of a communicator is a collective of its members, whatever they told each
// other before. Returns it.
Comm* meet_in(Comm* made);

}  // namespace foretrace::mpi
