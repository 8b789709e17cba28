// ProfileComms: the program's communicators as a profile counts them.
//
// Nobody is asked over the network: a communicator is known by its members and
// by how many with the same members were made before it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "capture/handlers/comm_table.hpp"
#include "capture/host/shared_table.hpp"
#include "mpi_api/sizes.hpp"

namespace foretrace::capture {

struct ProfiledComm {
  std::uint16_t number = 0;  // SizeRecord::comm
  mpi_api::CommShape shape;
  std::vector<int> peers;  // world ranks of those that messages go to; MPI_UNDEFINED: in no world
};

class ProfileComms {
 public:
  // False: there is no memory for it.
  bool start(trace::CountersWriter& writer);
  // A communicator that was made just now, or that is met for the first time.
  void adopt(MPI_Comm comm);
  // One whose making is not over: it will have the members of `parent`.
  void adopt_like(MPI_Comm comm, MPI_Comm parent);
  void forget(MPI_Comm comm);
  void name(MPI_Comm comm, const char* name);
  // nullptr: the null communicator.
  const ProfiledComm* find(MPI_Comm comm) {
    if (comm == last_handle_) return last_;
    return look_up(comm);
  }

  // One that was met before; nullptr: it was not, or is freed.
  const ProfiledComm* known(MPI_Comm comm) const {
    const auto found = by_handle_.find(handle_bits(comm));
    return found == by_handle_.end() ? nullptr : found->second.get();
  }

 private:
  const ProfiledComm* look_up(MPI_Comm comm);
  void add(MPI_Comm comm, MPI_Comm like);

  SharedTable<trace::CommRecord> records_;
  std::unordered_map<std::uint64_t, std::unique_ptr<ProfiledComm>> by_handle_;
  std::unordered_map<std::uint64_t, std::uint32_t> made_;  // by members: how many
  std::uint32_t next_ = 0;
  MPI_Comm last_handle_ = MPI_COMM_NULL;
  const ProfiledComm* last_ = nullptr;
};

}  // namespace foretrace::capture
