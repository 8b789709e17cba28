// Contexts of communicators that only their own members make, and their end.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/comm/comm.hpp"

namespace foretrace::mpi {

// A new context for `members` (world ranks), of which one alone asks; it must tell the others by a
// message.
ContextId define_context(const std::vector<int>& members);

// A parent for those that have none.
inline constexpr ContextId kNoParent = UINT32_MAX;

// The context of a communicator that each of its members asks for by itself, equally often for the
// same parent, tag and `members` (world ranks, in one order): so none has to tell the others. `tag`
// tells those apart that are made at once in `parent`.
ContextId join_context(ContextId parent, int tag, const std::vector<int>& members);

// Gives a context back, which every member does; it is not used any more.
void free_context(ContextId context);

}  // namespace foretrace::mpi
