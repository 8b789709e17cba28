#include "capture/profile/comms.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "capture/handlers/comm_table.hpp"

namespace foretrace::capture {
namespace {

constexpr std::uint32_t kMostComms = 4096;

std::vector<int> world_ranks(MPI_Group group) {
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> own(static_cast<std::size_t>(size));
  std::vector<int> world(own.size());
  std::iota(own.begin(), own.end(), 0);
  MPI_Group all;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  PMPI_Group_translate_ranks(group, size, own.data(), all, world.data());
  PMPI_Group_free(&all);
  PMPI_Group_free(&group);
  return world;
}

std::uint64_t hash_of(const std::vector<int>& ranks) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const int rank : ranks) hash = (hash ^ static_cast<std::uint32_t>(rank)) * 0x100000001b3u;
  return hash;
}

}  // namespace

bool ProfileComms::start(trace::CountersWriter& writer) {
  if (!records_.start(writer, trace::ChunkKind::comms, 32, kMostComms)) return false;
  adopt(MPI_COMM_WORLD);
  name(MPI_COMM_WORLD, "MPI_COMM_WORLD");
  adopt(MPI_COMM_SELF);
  name(MPI_COMM_SELF, "MPI_COMM_SELF");
  return true;
}

void ProfileComms::adopt(MPI_Comm comm) {
  if (comm != MPI_COMM_NULL) add(comm, comm);
}

void ProfileComms::adopt_like(MPI_Comm comm, MPI_Comm parent) {
  if (comm != MPI_COMM_NULL) add(comm, parent);
}

void ProfileComms::add(MPI_Comm comm, MPI_Comm like) {
  auto profiled = std::make_unique<ProfiledComm>();
  int inter = 0;
  PMPI_Comm_test_inter(like, &inter);
  PMPI_Comm_size(like, &profiled->shape.size);
  PMPI_Comm_rank(like, &profiled->shape.rank);
  MPI_Group group;
  PMPI_Comm_group(like, &group);
  profiled->peers = world_ranks(group);
  std::uint64_t members = hash_of(profiled->peers);
  std::size_t size = profiled->peers.size();
  if (inter) {
    profiled->shape.between = true;
    profiled->shape.own = profiled->shape.size;
    PMPI_Comm_remote_size(like, &profiled->shape.size);
    PMPI_Comm_remote_group(like, &group);
    profiled->peers = world_ranks(group);
    // The same from both sides.
    members += hash_of(profiled->peers);
    size += profiled->peers.size();
  }
  const std::uint32_t ordinal = made_[members]++;
  // Numbered one after the other: places in the table, which others refer to.
  const auto by_number = [next = 0u](const trace::CommRecord&) mutable { return next++; };
  if (trace::CommRecord* record = records_.add(next_, by_number)) {
    profiled->number = static_cast<std::uint16_t>(++next_);
    record->inter = inter ? 1 : 0;
    record->members = members;
    record->ordinal = ordinal;
    record->size = static_cast<std::uint32_t>(size);
  }
  by_handle_[handle_bits(comm)] = std::move(profiled);
  last_handle_ = MPI_COMM_NULL;
  last_ = nullptr;
}

void ProfileComms::forget(MPI_Comm comm) {
  by_handle_.erase(handle_bits(comm));
  last_handle_ = MPI_COMM_NULL;
  last_ = nullptr;
}

void ProfileComms::name(MPI_Comm comm, const char* name) {
  const ProfiledComm* known = find(comm);
  if (!known || known->number == 0) return;
  std::array<char, 64>& room = records_[known->number - 1u].name;
  room.fill(0);
  std::memcpy(room.data(), name, std::min(std::strlen(name), room.size() - 1));
}

const ProfiledComm* ProfileComms::look_up(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return nullptr;
  auto found = by_handle_.find(handle_bits(comm));
  if (found == by_handle_.end()) {
    adopt(comm);
    found = by_handle_.find(handle_bits(comm));
  }
  last_handle_ = comm;
  last_ = found->second.get();
  return last_;
}

}  // namespace foretrace::capture
