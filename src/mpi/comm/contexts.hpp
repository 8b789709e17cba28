// Contexts of communicators that only their own members make, and their end.
#pragma once

#include <vector>

#include "mpi/comm/comm.hpp"

namespace foretrace::mpi {

// The same without the other members of a parent: for communicators that only
// their own members make. The caller (one of the members, and only one) gets a
// new context for `members`; it must tell the others by a message.
ContextId define_context(const std::vector<int>& members);
// The same where every member knows all `members`, in one order: each of them asks, and none has to
// tell the others. `tag` tells those apart that are made at once in `parent`.
ContextId join_context(const Comm& parent, int tag, const std::vector<int>& members);
// Gives a context back, which every member does; it is not used any more.
void free_context(ContextId context);

}  // namespace foretrace::mpi
