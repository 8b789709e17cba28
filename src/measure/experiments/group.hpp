// Group: the processes that take part in an experiment, and whether they have
// cores of their own.
#pragma once

#include <mpi.h>

namespace foretrace::measure {

struct Group {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 0;
};
Group group_of(MPI_Comm comm);

// Whether all of its members share a memory. Collective.
bool share_a_node(const Group& group);

// Whether some host of `world` has more ranks than cores for them. Collective.
bool is_oversubscribed(MPI_Comm world);

}  // namespace foretrace::measure
