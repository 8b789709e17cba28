#include "capture/handlers/comm_table.hpp"

#include <algorithm>
#include <numeric>

#include "capture/session/session.hpp"

namespace foretrace::capture {

void CommTable::start() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &world_size_);
  PMPI_Comm_group(MPI_COMM_WORLD, &world_group_);
  world_rank_ = WorldRank(rank);
  add(MPI_COMM_WORLD, 0);
  add(MPI_COMM_SELF, static_cast<std::uint64_t>(rank) << 32 | UINT32_MAX);
}

std::vector<WorldRank> CommTable::world_ranks(MPI_Group group) const {
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> local(static_cast<std::size_t>(size));
  std::vector<int> world(local.size());
  std::iota(local.begin(), local.end(), 0);
  PMPI_Group_translate_ranks(group, size, local.data(), world_group_, world.data());
  std::vector<WorldRank> members;
  members.reserve(world.size());
  for (const int member : world)
    members.push_back(member == MPI_UNDEFINED ? WorldRank() : WorldRank(member));
  return members;
}

CommInfo CommTable::describe(MPI_Group group) const {
  CommInfo info;
  int rank = 0;
  PMPI_Group_rank(group, &rank);
  info.rank = LocalRank(rank == MPI_UNDEFINED ? -1 : rank);
  info.members = world_ranks(group);
  info.size = static_cast<int>(info.members.size());
  return info;
}

CommInfo& CommTable::add(MPI_Comm comm, std::uint64_t key) {
  MPI_Group group;
  PMPI_Comm_group(comm, &group);
  auto info = std::make_unique<CommInfo>(describe(group));
  PMPI_Group_free(&group);
  info->key = key;
  CommInfo& result = *info;
  by_handle_[handle_bits(comm)] = info.get();
  all_.push_back(std::move(info));
  last_handle_ = MPI_COMM_NULL;
  last_ = nullptr;
  return result;
}

std::uint64_t CommTable::choose_key() {
  return static_cast<std::uint64_t>(world_rank_.value) << 32 | ++chosen_keys_;
}

// The first member names the communicator; its own count makes it unique.
std::uint64_t CommTable::agree_on_key(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  std::uint64_t key = rank == 0 ? choose_key() : 0;
  wait_in([&] { return PMPI_Bcast(&key, 1, MPI_UINT64_T, 0, comm); });
  return key;
}

void CommTable::adopt(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return;
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  if (inter)
    adopt_inter(comm);
  else
    add(comm, agree_on_key(comm));
}

void CommTable::adopt(MPI_Comm comm, std::uint64_t key) {
  add(comm, key);
}

void CommTable::adopt_inter(MPI_Comm comm) {
  MPI_Group local;
  MPI_Group remote;
  PMPI_Comm_group(comm, &local);
  PMPI_Comm_remote_group(comm, &remote);
  const std::vector<WorldRank> here = world_ranks(local);
  const std::vector<WorldRank> there = world_ranks(remote);
  PMPI_Group_free(&local);
  PMPI_Group_free(&remote);
  MPI_Comm together = MPI_COMM_NULL;
  // Processes that are not of this run are not followed; both sides see it.
  const auto is_known = [](WorldRank rank) { return rank.valid(); };
  if (!std::ranges::all_of(there, is_known) || !std::ranges::all_of(here, is_known)) return;
  const bool high = there.front().value < here.front().value;
  if (wait_in([&] { return PMPI_Intercomm_merge(comm, high ? 1 : 0, &together); }) != MPI_SUCCESS)
    return;
  CommInfo& info = add(together, agree_on_key(together));
  by_handle_.erase(handle_bits(together));
  by_handle_[handle_bits(comm)] = &info;
  info.remote = there;
  info.together = together;
}

CommInfo& CommTable::adopt_members(const CommInfo& info, MPI_Comm comm) {
  auto copy = std::make_unique<CommInfo>();
  copy->key = agree_on_key(comm);
  copy->size = info.size;
  copy->rank = info.rank;
  copy->members = info.members;
  all_.push_back(std::move(copy));
  return *all_.back();
}

CommInfo& CommTable::hidden(CommInfo& comm) {
  constexpr std::uint64_t kHiddenKey = std::uint64_t{1} << 63;
  if (!comm.hidden) {
    comm.hidden = std::make_unique<CommInfo>();
    comm.hidden->key = comm.key | kHiddenKey;
    comm.hidden->size = comm.size;
    comm.hidden->rank = comm.rank;
    comm.hidden->members = comm.members;
    comm.hidden->remote = comm.remote;
  }
  return *comm.hidden;
}

const CommInfo* CommTable::known(MPI_Comm comm) const {
  const auto found = by_handle_.find(handle_bits(comm));
  return found == by_handle_.end() ? nullptr : found->second;
}

void CommTable::forget(MPI_Comm comm, const CommInfo* freed) {
  const auto found = by_handle_.find(handle_bits(comm));
  if (found == by_handle_.end() || found->second != freed) return;
  CommInfo& info = *found->second;
  by_handle_.erase(found);
  last_handle_ = MPI_COMM_NULL;
  last_ = nullptr;
  // The inter-communicator's ranks may still be asked for; the union is needed no more.
  if (info.together != MPI_COMM_NULL) PMPI_Comm_free(&info.together);
}

CommInfo* CommTable::look_up(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return nullptr;
  const auto found = by_handle_.find(handle_bits(comm));
  if (found == by_handle_.end()) return nullptr;
  last_handle_ = comm;
  last_ = found->second;
  return last_;
}

}  // namespace foretrace::capture
