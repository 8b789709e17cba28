// CommTable: what the library knows of the program's communicators.
//
// A communicator is tracked from the call that made it; its members agree on a
// key. Inter-communicators and those made by calls that are not treated yet
// are not tracked: calls on them are states without partners.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/ids.hpp"
#include "trace/event.hpp"

namespace foretrace::capture {

struct PostedRecv;

struct CommInfo {
  std::uint64_t key = 0;
  int size = 0;
  LocalRank rank;                  // of this process
  std::vector<WorldRank> members;  // by local rank
  trace::CommId id = UINT32_MAX;   // in the trace; UINT32_MAX: not defined yet
  // Receives whose message is not settled by (source, tag), in posting order:
  // wildcards, and all that were posted behind one.
  std::vector<PostedRecv*> unsettled;

  WorldRank world(int local) const {
    return local >= 0 && local < size ? members[static_cast<std::size_t>(local)] : WorldRank();
  }
};

class CommTable {
 public:
  // Learns MPI_COMM_WORLD and MPI_COMM_SELF.
  void start();
  // Tracks a new communicator; collective over its members. Null handles and
  // inter-communicators are ignored.
  void adopt(MPI_Comm comm);
  void forget(MPI_Comm comm);
  // The members of a group that this process belongs to (rank invalid if it
  // does not), without key.
  CommInfo describe(MPI_Group group) const;
  // nullptr: not tracked.
  CommInfo* find(MPI_Comm comm) {
    if (comm == last_handle_) return last_;
    return look_up(comm);
  }
  int world_size() const { return world_size_; }
  WorldRank world_rank() const { return world_rank_; }

 private:
  CommInfo* look_up(MPI_Comm comm);
  CommInfo& add(MPI_Comm comm, std::uint64_t key);

  // Freed communicators stay, for receives still posted on them.
  std::vector<std::unique_ptr<CommInfo>> all_;
  std::unordered_map<std::uint64_t, CommInfo*> by_handle_;
  MPI_Comm last_handle_ = MPI_COMM_NULL;
  CommInfo* last_ = nullptr;
  MPI_Group world_group_ = MPI_GROUP_NULL;
  int world_size_ = 0;
  WorldRank world_rank_;
  std::uint64_t chosen_keys_ = 0;
};

// MPI handles as integers, whatever the MPI makes them of.
template <class Handle>
std::uint64_t handle_bits(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<std::uint64_t>(handle);
  else
    return static_cast<std::uint32_t>(handle);
}

}  // namespace foretrace::capture
