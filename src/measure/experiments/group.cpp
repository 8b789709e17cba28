#include "measure/experiments/group.hpp"

#include <sched.h>

namespace foretrace::measure {

Group group_of(MPI_Comm comm) {
  Group group{comm, 0, 0};
  MPI_Comm_rank(comm, &group.rank);
  MPI_Comm_size(comm, &group.size);
  return group;
}

bool share_a_node(const Group& group) {
  MPI_Comm node;
  MPI_Comm_split_type(group.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int size = 0;
  MPI_Comm_size(node, &size);
  MPI_Comm_free(&node);
  return size == group.size;
}

bool is_oversubscribed(MPI_Comm world) {
  MPI_Comm host;
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int ranks = 0;
  MPI_Comm_size(host, &ranks);
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  CPU_ZERO(&all);
  int more = 0;
  const bool known = sched_getaffinity(0, sizeof mine, &mine) == 0;
  MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, host);
  if (known) more = ranks > CPU_COUNT(&all);
  MPI_Comm_free(&host);
  MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_LOR, world);
  return more != 0;
}

}  // namespace foretrace::measure
