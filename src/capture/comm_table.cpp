#include "capture/comm_table.hpp"

#include <numeric>

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

CommInfo CommTable::describe(MPI_Group group) const {
  CommInfo info;
  int rank = 0;
  PMPI_Group_size(group, &info.size);
  PMPI_Group_rank(group, &rank);
  info.rank = LocalRank(rank == MPI_UNDEFINED ? -1 : rank);
  std::vector<int> local(static_cast<std::size_t>(info.size));
  std::vector<int> world(local.size());
  std::iota(local.begin(), local.end(), 0);
  PMPI_Group_translate_ranks(group, info.size, local.data(), world_group_, world.data());
  info.members.reserve(world.size());
  for (const int member : world) info.members.push_back(WorldRank(member));
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
  return result;
}

void CommTable::adopt(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return;
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  if (inter) return;
  // The first member names the communicator; its own count makes it unique.
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  std::uint64_t key = 0;
  if (rank == 0) key = static_cast<std::uint64_t>(world_rank_.value) << 32 | ++chosen_keys_;
  PMPI_Bcast(&key, 1, MPI_UINT64_T, 0, comm);
  add(comm, key);
}

void CommTable::forget(MPI_Comm comm) {
  const auto found = by_handle_.find(handle_bits(comm));
  if (found == by_handle_.end()) return;
  by_handle_.erase(found);
  last_handle_ = MPI_COMM_NULL;
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
