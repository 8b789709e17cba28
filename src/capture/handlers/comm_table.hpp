// CommTable: what the library knows of the program's communicators.
//
// A communicator is tracked from the call that made it; its members agree on a
// key. An inter-communicator is known as the union of its two groups, the one
// with the lower first member first. Communicators made by calls that are not
// treated yet are not tracked: calls on them are states without partners.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/ids.hpp"
#include "mpi_api/sizes.hpp"
#include "trace/event.hpp"

namespace foretrace::capture {

struct PostedRecv;

struct CommInfo {
  std::uint64_t key = 0;
  int size = 0;
  LocalRank rank;                  // of this process, in `members`
  std::vector<WorldRank> members;  // by local rank
  trace::CommId id = UINT32_MAX;   // in the trace; UINT32_MAX: not defined yet
  std::uint32_t posted = 0;        // collectives, under predict
  // Inter-communicators: the group that ranks in calls refer to, by rank, and
  // the union as a communicator of our own.
  std::vector<WorldRank> remote;
  MPI_Comm together = MPI_COMM_NULL;
  // Messages that a collective consists of, beside those of the program.
  std::unique_ptr<CommInfo> hidden;
  // Of a hidden one: how many partitioned requests were made, by {send, partner, tag}.
  std::map<std::tuple<bool, int, int>, int> partitioned;
  // Receives whose message is not settled by (source, tag), in posting order:
  // wildcards, and all that were posted behind one.
  std::vector<PostedRecv*> unsettled;

  bool is_inter() const { return !remote.empty(); }
  // Of a partner's rank in a call.
  WorldRank world(int partner) const {
    const auto& partners = is_inter() ? remote : members;
    return partner >= 0 && partner < static_cast<int>(partners.size())
               ? partners[static_cast<std::size_t>(partner)]
               : WorldRank();
  }
  // For the size of a collective.
  mpi_api::CommShape shape() const {
    if (!is_inter()) return {size, rank.value};
    const int there = static_cast<int>(remote.size());
    return {there, -1, true, size - there};
  }
  WorldRank member(int place) const { return members[static_cast<std::size_t>(place)]; }
};

class CommTable {
 public:
  // Learns MPI_COMM_WORLD and MPI_COMM_SELF.
  void start();
  // Tracks a new communicator; collective over its members. Null handles are
  // ignored.
  void adopt(MPI_Comm comm);
  // The same under a key that its members know already.
  void adopt(MPI_Comm comm, std::uint64_t key);
  // A key for a communicator whose first member this process is.
  std::uint64_t choose_key();
  // What stands for the same members under a key of its own: a window, a file.
  // Collective over `comm`, which is not inter.
  CommInfo& adopt_members(const CommInfo& info, MPI_Comm comm);
  // `comm` has been freed; another one that has its handle by now stays.
  void forget(MPI_Comm comm, const CommInfo* freed);
  // What is known under the handle; nullptr: nothing.
  const CommInfo* known(MPI_Comm comm) const;
  // For the messages that collectives on `comm` consist of.
  CommInfo& hidden(CommInfo& comm);
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
  std::uint64_t agree_on_key(MPI_Comm comm);
  void adopt_inter(MPI_Comm comm);
  std::vector<WorldRank> world_ranks(MPI_Group group) const;

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
