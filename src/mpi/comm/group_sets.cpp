// Groups out of groups: by set operations and by lists of ranks.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "live_impl.hpp"
#include "mpi/comm/group.hpp"

namespace foretrace::mpi {
namespace {

int hand_out(std::vector<int> members, MPI_Group* handle) {
  *handle = handle_of(make_group(std::move(members)));
  return MPI_SUCCESS;
}

// Of the members of `a` those that are (or are not) in `b`, in the order of `a`.
std::vector<int> members_by(const Group& a, const Group& b, bool in_b) {
  const MemberTable table(b);
  std::vector<int> members;
  for (const int member : a.members) {
    if (table.has(member) == in_b) members.push_back(member);
  }
  return members;
}

// Checks a list of ranks in a group: in range, each at most once. MPI_SUCCESS or
// the raised error.
int check_ranks(const Group& group, const std::vector<int>& ranks) {
  std::vector<bool> seen(group.members.size());
  for (const int rank : ranks) {
    if (rank < 0 || rank >= group.size()) {
      return raise(
          world_comm, MPI_ERR_RANK,
          "rank " + std::to_string(rank) + " in a group of " + std::to_string(group.size()));
    }
    if (seen[static_cast<std::size_t>(rank)]) {
      return raise(world_comm, MPI_ERR_RANK, "rank " + std::to_string(rank) + " stands twice");
    }
    seen[static_cast<std::size_t>(rank)] = true;
  }
  return MPI_SUCCESS;
}

// The ranks of (first, last, stride) triplets, in order.
int expand(const Group& group, int n, int ranges[][3], std::vector<int>& ranks) {
  for (int i = 0; i < n; ++i) {
    const int first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];
    const std::string where = "range " + std::to_string(first) + " to " + std::to_string(last) +
                              " by " + std::to_string(stride);
    if (stride == 0) return raise(world_comm, MPI_ERR_ARG, where);
    if (first < 0 || first >= group.size() || last < 0 || last >= group.size()) {
      return raise(world_comm, MPI_ERR_RANK,
                   where + " in a group of " + std::to_string(group.size()));
    }
    if ((last - first) * static_cast<std::int64_t>(stride) < 0) {
      return raise(world_comm, MPI_ERR_ARG, where);
    }
    for (std::int64_t rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride) {
      ranks.push_back(static_cast<int>(rank));
    }
  }
  return check_ranks(group, ranks);
}

int include(const Group& group, const std::vector<int>& ranks, MPI_Group* newgroup) {
  std::vector<int> members;
  members.reserve(ranks.size());
  for (const int rank : ranks) members.push_back(group.members[static_cast<std::size_t>(rank)]);
  return hand_out(std::move(members), newgroup);
}

int exclude(const Group& group, const std::vector<int>& ranks, MPI_Group* newgroup) {
  std::vector<bool> out(group.members.size());
  for (const int rank : ranks) out[static_cast<std::size_t>(rank)] = true;
  std::vector<int> members;
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    if (!out[i]) members.push_back(group.members[i]);
  }
  return hand_out(std::move(members), newgroup);
}

// `n` ranks or ranges in a list.
int check_number(int n, const void* list) {
  if (n < 0)
    return raise(world_comm, MPI_ERR_ARG, "number of ranks or ranges " + std::to_string(n));
  return n == 0 || list ? MPI_SUCCESS : raise(world_comm, MPI_ERR_ARG, "null pointer");
}

}  // namespace

namespace impl {

int Group_union(MPI_Group a, MPI_Group b, MPI_Group* newgroup) {
  const Group* first = get(a);
  const Group* second = get(b);
  if (!first || !second) return raise_no_group();
  std::vector<int> members = first->members;
  const std::vector<int> added = members_by(*second, *first, false);
  members.insert(members.end(), added.begin(), added.end());
  return hand_out(std::move(members), newgroup);
}

int Group_intersection(MPI_Group a, MPI_Group b, MPI_Group* newgroup) {
  const Group* first = get(a);
  const Group* second = get(b);
  if (!first || !second) return raise_no_group();
  return hand_out(members_by(*first, *second, true), newgroup);
}

int Group_difference(MPI_Group a, MPI_Group b, MPI_Group* newgroup) {
  const Group* first = get(a);
  const Group* second = get(b);
  if (!first || !second) return raise_no_group();
  return hand_out(members_by(*first, *second, false), newgroup);
}

int Group_incl(MPI_Group handle, int n, const int ranks[], MPI_Group* newgroup) {
  const Group* group = get(handle);
  if (!group) return raise_no_group();
  if (const int error = check_number(n, ranks)) return error;
  const std::vector<int> list(ranks, ranks + n);
  if (const int error = check_ranks(*group, list)) return error;
  return include(*group, list, newgroup);
}

int Group_excl(MPI_Group handle, int n, const int ranks[], MPI_Group* newgroup) {
  const Group* group = get(handle);
  if (!group) return raise_no_group();
  if (const int error = check_number(n, ranks)) return error;
  const std::vector<int> list(ranks, ranks + n);
  if (const int error = check_ranks(*group, list)) return error;
  return exclude(*group, list, newgroup);
}

int Group_range_incl(MPI_Group handle, int n, int ranges[][3], MPI_Group* newgroup) {
  const Group* group = get(handle);
  if (!group) return raise_no_group();
  if (const int error = check_number(n, ranges)) return error;
  std::vector<int> ranks;
  if (const int error = expand(*group, n, ranges, ranks)) return error;
  return include(*group, ranks, newgroup);
}

int Group_range_excl(MPI_Group handle, int n, int ranges[][3], MPI_Group* newgroup) {
  const Group* group = get(handle);
  if (!group) return raise_no_group();
  if (const int error = check_number(n, ranges)) return error;
  std::vector<int> ranks;
  if (const int error = expand(*group, n, ranges, ranks)) return error;
  return exclude(*group, ranks, newgroup);
}

}  // namespace impl
}  // namespace foretrace::mpi
