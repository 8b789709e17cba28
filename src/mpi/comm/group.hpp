// Groups: making them and finding members.
//
// A group is the list of its members' world ranks. All functions are local.
#pragma once

#include <vector>

#include "mpi/comm/comm.hpp"

namespace foretrace::mpi {

extern Group* empty_group;  // MPI_GROUP_EMPTY; nullptr before MPI_Init

// A new group of these world ranks (one reference); MPI_GROUP_EMPTY's for none.
Group* make_group(std::vector<int> members);

// Looks many world ranks up in one group.
class MemberTable {
 public:
  explicit MemberTable(const Group& group);
  // Index in the group; MPI_UNDEFINED if it is no member.
  int index_of(int world_rank) const {
    const auto place = static_cast<std::size_t>(world_rank);
    return place < index_.size() ? index_[place] : MPI_UNDEFINED;
  }
  bool has(int world_rank) const { return index_of(world_rank) != MPI_UNDEFINED; }

 private:
  std::vector<int> index_;  // by world rank
};

// MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
int compare_groups(const Group& a, const Group& b);

// Raises MPI_ERR_GROUP for a handle that stands for nothing.
int raise_no_group();

}  // namespace foretrace::mpi
