// What the ways to make inter-communicators share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mpi/comm/comm.hpp"
#include "mpi/core/block.hpp"

namespace foretrace::mpi {

extern Comm* parent_comm;       // with those that started this process; nullptr: nobody did
extern int application_number;  // among those that were started together

// What one leader knows after it spoke with the other, and its group needs.
struct Agreement {
  ContextId context = 0;
  std::uint32_t first = 0;  // whether the group comes first in the union
  std::vector<int> remote;  // world ranks; none: there is no other group
  std::string refusal{};    // why there is none, where that is known
};
Block to_block(const Agreement& agreement);
Agreement from_bytes(std::span<const std::byte> bytes);

// With the leader of the other group, which does the same: by silent messages of `peer` to
// `remote_leader`, so that both must meet afterwards. No remote group if the groups have members in
// common.
Agreement agree_with_peer(const Group& local, Comm& peer, int remote_leader, int tag);

// For calls by which the group of `comm` finds another one: raises an error, and
// returns what came of that, if it is no intra-communicator with such a root.
int check_group(Comm* comm, int root);

// What comes of an agreement; nullptr if that has no remote group.
Comm* make_inter(Comm& comm, const Agreement& agreement);
// The same after a collective over `comm`, whose member `leader` tells its agreement. `refusal`
// becomes that of the agreement.
Comm* make_inter(Comm& comm, int leader, Block told, std::string& refusal);

}  // namespace foretrace::mpi
