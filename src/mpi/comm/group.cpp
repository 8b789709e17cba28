#include "mpi/comm/group.hpp"

#include <algorithm>
#include <string>

#include "live_impl.hpp"
#include "mpi/core/rank.hpp"

namespace foretrace::mpi {

Group* empty_group = nullptr;

int Group::index_of(int world_rank) const {
  // Where a group is the world's beginning, as most are, nothing need be searched.
  const auto guess = static_cast<std::size_t>(world_rank);
  if (guess < members.size() && members[guess] == world_rank) return world_rank;
  const auto found = std::find(members.begin(), members.end(), world_rank);
  return found == members.end() ? MPI_UNDEFINED : static_cast<int>(found - members.begin());
}

Group* make_group(std::vector<int> members) {
  if (members.empty() && empty_group) return retain(empty_group);
  auto* group = new Group;
  group->members = std::move(members);
  group->rank = group->index_of(world_rank());
  return group;
}

MemberTable::MemberTable(const Group& group) {
  for (int i = 0; i < group.size(); ++i) {
    const auto member = static_cast<std::size_t>(group.members[static_cast<std::size_t>(i)]);
    if (member >= index_.size()) index_.resize(member + 1, MPI_UNDEFINED);
    index_[member] = i;
  }
}

int compare_groups(const Group& a, const Group& b) {
  if (a.members == b.members) return MPI_IDENT;
  if (a.size() != b.size()) return MPI_UNEQUAL;
  const MemberTable table(b);
  const bool same = std::all_of(a.members.begin(), a.members.end(),
                                [&](int member) { return table.has(member); });
  return same ? MPI_SIMILAR : MPI_UNEQUAL;
}

int raise_no_group() {
  return raise(world_comm, MPI_ERR_GROUP, "null or freed group");
}

namespace impl {

int Group_size(MPI_Group handle, int* size) {
  const Group* group = get(handle);
  if (!group) return raise_no_group();
  *size = group->size();
  return MPI_SUCCESS;
}

int Group_rank(MPI_Group handle, int* rank) {
  const Group* group = get(handle);
  if (!group) return raise_no_group();
  *rank = group->rank;
  return MPI_SUCCESS;
}

int Group_translate_ranks(MPI_Group from_handle, int n, const int ranks1[], MPI_Group to_handle,
                          int ranks2[]) {
  const Group* from = get(from_handle);
  const Group* to = get(to_handle);
  if (!from || !to) return raise_no_group();
  if (n < 0) return raise(world_comm, MPI_ERR_ARG, "number of ranks " + std::to_string(n));
  if (n > 0 && (!ranks1 || !ranks2)) return raise(world_comm, MPI_ERR_ARG, "null pointer");
  for (int i = 0; i < n; ++i) {
    if (ranks1[i] != MPI_PROC_NULL && (ranks1[i] < 0 || ranks1[i] >= from->size())) {
      return raise(world_comm, MPI_ERR_RANK,
                   "rank " + std::to_string(ranks1[i]) + ", expected 0 to " +
                       std::to_string(from->size() - 1) + " or MPI_PROC_NULL");
    }
  }
  const auto member = [&](int i) { return from->members[static_cast<std::size_t>(ranks1[i])]; };
  constexpr int kFew = 4;
  if (n <= kFew) {
    for (int i = 0; i < n; ++i) {
      ranks2[i] = ranks1[i] == MPI_PROC_NULL ? MPI_PROC_NULL : to->index_of(member(i));
    }
    return MPI_SUCCESS;
  }
  const MemberTable table(*to);
  for (int i = 0; i < n; ++i) {
    ranks2[i] = ranks1[i] == MPI_PROC_NULL ? MPI_PROC_NULL : table.index_of(member(i));
  }
  return MPI_SUCCESS;
}

int Group_compare(MPI_Group a, MPI_Group b, int* result) {
  const Group* first = get(a);
  const Group* second = get(b);
  if (!first || !second) return raise_no_group();
  *result = compare_groups(*first, *second);
  return MPI_SUCCESS;
}

int Group_free(MPI_Group* handle) {
  Group* group = handle ? get<Group>(*handle) : nullptr;
  if (!group) return raise_no_group();
  release(group);
  *handle = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

}  // namespace impl
}  // namespace foretrace::mpi
