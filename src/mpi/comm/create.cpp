// Communicators from communicators: duplicates, parts by colour and by group.
#include "mpi/comm/create.hpp"

#include <unistd.h>

#include <climits>
#include <cstring>
#include <memory>
#include <string>

#include "live_impl.hpp"
#include "mpi/collective/gathered.hpp"
#include "mpi/comm/contexts.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/info.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/p2p/own_messages.hpp"
#include "mpi/p2p/request.hpp"

namespace foretrace::mpi {

std::vector<int> members_together(const Comm& comm) {
  if (!comm.is_inter()) return comm.group->members;
  const Group& low = comm.first ? *comm.group : *comm.remote;
  const Group& high = comm.first ? *comm.remote : *comm.group;
  std::vector<int> members = low.members;
  members.insert(members.end(), high.members.begin(), high.members.end());
  return members;
}

Comm* duplicate(const Comm& comm, ContextId context) {
  Comm* copy = make_comm(&comm, context, retain(comm.group), retain(comm.remote), comm.first);
  if (comm.cartesian) copy->cartesian = std::make_unique<Cartesian>(*comm.cartesian);
  if (comm.graph) copy->graph = std::make_unique<Graph>(*comm.graph);
  if (comm.neighbours) copy->neighbours = std::make_unique<Neighbours>(*comm.neighbours);
  return copy;
}

int finish_duplicate(Comm& comm, Comm* copy, MPI_Comm* newcomm) {
  if (const int error = copy_attributes(comm, *copy)) {
    release(copy);
    *newcomm = MPI_COMM_NULL;
    return raise(&comm, error, "from an attribute's copy function");
  }
  *newcomm = handle_of(copy);
  return MPI_SUCCESS;
}

namespace {

int partner_of(const Comm& parent, const Group& group, int member) {
  return parent.partners().index_of(group.members[static_cast<std::size_t>(member)]);
}

}  // namespace

// Along a binomial tree, from the root.
std::vector<std::byte> tell_group(Comm& parent, const Group& group, int root, int tag,
                                  std::vector<std::byte> told) {
  const int size = group.size();
  const int me = (group.rank - root + size) % size;
  const auto partner = [&](int place) { return partner_of(parent, group, (place + root) % size); };
  int step = 1;
  while (step < size && !(me & step)) step <<= 1;
  if (me != 0) told = receive_bytes(parent, partner(me - step), tag, true);
  for (step >>= 1; step > 0; step >>= 1) {
    if (me + step < size)
      send_bytes(parent, partner(me + step), tag, told.data(), told.size(), true);
  }
  return told;
}

Comm* meet_in(Comm* made) {
  collective({.comm = made, .cost = machine::Cost::comm_create}, {});
  return made;
}

namespace {

constexpr int kNone = -1;  // a colour: in no new communicator

int hand_out(Comm* comm, MPI_Comm* newcomm) {
  *newcomm = handle_of(comm);
  return MPI_SUCCESS;
}

int dup_with(Comm& comm, const Info* hints, MPI_Comm* newcomm) {
  const Split made = split({.comm = &comm, .cost = machine::Cost::comm_dup}, 0, comm.place());
  Comm* copy = duplicate(comm, made.context);
  copy->info = copy_of(hints);
  return finish_duplicate(comm, copy, newcomm);
}

// Communicator of the caller's colour from a collective over all of `comm`.
// On an inter-communicator `key` must have the lower group first.
Comm* split_off(Comm& comm, machine::Cost cost, int colour, int key) {
  const Split made = split({.comm = &comm, .cost = cost}, colour, key);
  if (colour < 0) return nullptr;
  if (!comm.is_inter()) return make_comm(&comm, made.context, make_group(made.members));
  const MemberTable local(*comm.group);
  std::vector<int> here, there;
  for (const int member : made.members) (local.has(member) ? here : there).push_back(member);
  // A colour that only one side has makes no inter-communicator.
  if (here.empty() || there.empty()) {
    free_context(made.context);
    return nullptr;
  }
  return make_comm(&comm, made.context, make_group(std::move(here)), make_group(std::move(there)),
                   comm.first);
}

// On an inter-communicator: the key that sorts the lower group before the
// other and each by the program's keys. Costs a collective of its own, since
// those keys take all values.
int key_in_union(Comm& comm, machine::Cost cost, int key) {
  Block mine(sizeof key);
  std::memcpy(mine.data(), &key, sizeof key);
  const Gathered keys = collective({.comm = &comm, .cost = cost}, std::move(mine));
  const int begin = comm.place() - comm.rank;
  int before = 0;
  for (int rank = 0; rank < comm.size(); ++rank) {
    int other = 0;
    std::memcpy(&other, keys.of(begin + rank).data(), sizeof other);
    if (other < key || (other == key && rank < comm.rank)) ++before;
  }
  return begin + before;
}

int split_by(Comm& comm, int colour, int key, MPI_Comm* newcomm) {
  constexpr machine::Cost kCost = machine::Cost::comm_split;
  if (comm.is_inter()) key = key_in_union(comm, kCost, key);
  return hand_out(split_off(comm, kCost, colour, key), newcomm);
}

// The node that this rank is on: several where the simulation has a topology.
int this_node() {
  return node_of(world_rank());
}

// Colour of those with which this process shares what `split_type` names; kNone
// where it names nothing that is known.
int colour_of_type(int split_type, const Info* hints) {
#ifdef MPICH
  // All processes run here, and see the same files.
  if (split_type == MPIX_COMM_TYPE_NEIGHBORHOOD) {
    const std::string* directory = hints ? hints->find("nbhd_common_dirname") : nullptr;
    return directory && ::access(directory->c_str(), X_OK) == 0 ? 0 : kNone;
  }
#endif
#ifndef OPEN_MPI
  if (split_type == MPI_COMM_TYPE_HW_GUIDED) {
    const std::string* resource = hints ? hints->find("mpi_hw_resource_type") : nullptr;
    return resource && *resource == "mpi_shared_memory" ? this_node() : kNone;
  }
#else
  static_cast<void>(hints);
  // A process has a core and its caches alone.
  if (split_type >= OMPI_COMM_TYPE_HWTHREAD && split_type <= OMPI_COMM_TYPE_L2CACHE) {
    return world_rank();
  }
  if (split_type >= OMPI_COMM_TYPE_L3CACHE && split_type <= OMPI_COMM_TYPE_HOST) {
    return this_node();
  }
  if (split_type == OMPI_COMM_TYPE_CU || split_type == OMPI_COMM_TYPE_CLUSTER) return 0;
#endif
  return split_type == MPI_COMM_TYPE_SHARED ? this_node() : kNone;
}

bool is_split_type(int split_type) {
#ifdef MPICH
  return split_type >= MPI_COMM_TYPE_SHARED && split_type <= MPIX_COMM_TYPE_NEIGHBORHOOD;
#elif defined OPEN_MPI
  return split_type >= MPI_COMM_TYPE_SHARED && split_type <= OMPI_COMM_TYPE_CLUSTER;
#else
  return split_type >= MPI_COMM_TYPE_SHARED && split_type <= MPI_COMM_TYPE_RESOURCE_GUIDED;
#endif
}

}  // namespace

namespace impl {

int Comm_dup(MPI_Comm handle, MPI_Comm* newcomm) {
  Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  return dup_with(*comm, comm->info, newcomm);
}

int Comm_dup_with_info(MPI_Comm handle, MPI_Info info, MPI_Comm* newcomm) {
  Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  const Info* hints = get(info);
  if (!hints && info != MPI_INFO_NULL) return raise(comm, MPI_ERR_INFO, "freed info object");
  return dup_with(*comm, hints, newcomm);
}

int Comm_split(MPI_Comm handle, int color, int key, MPI_Comm* newcomm) {
  Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  if (color < 0 && color != MPI_UNDEFINED) {
    return raise(comm, MPI_ERR_ARG,
                 "colour " + std::to_string(color) + ", expected 0 or more, or MPI_UNDEFINED");
  }
  return split_by(*comm, color < 0 ? kNone : color, key, newcomm);
}

int Comm_split_type(MPI_Comm handle, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  if (split_type != MPI_UNDEFINED && !is_split_type(split_type)) {
    return raise(comm, MPI_ERR_ARG, "split type " + std::to_string(split_type));
  }
  const int colour = split_type == MPI_UNDEFINED ? kNone : colour_of_type(split_type, get(info));
  return split_by(*comm, colour, key, newcomm);
}

int Comm_create(MPI_Comm handle, MPI_Group group_handle, MPI_Comm* newcomm) {
  Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  const Group* group = get(group_handle);
  if (!group) return raise(comm, MPI_ERR_GROUP, "null or freed group");
  const MemberTable table(*comm->group);
  for (const int member : group->members) {
    if (!table.has(member)) {
      return raise(comm, MPI_ERR_GROUP,
                   "world rank " + std::to_string(member) + " is not in the communicator");
    }
  }
  int colour = kNone, key = 0;
  if (group->rank != MPI_UNDEFINED) {
    // Different groups may be made at once where they have no member in common.
    colour = comm->is_inter() ? 0 : group->members.front();
    key = group->rank + (comm->first ? 0 : INT_MAX / 2);
  }
  Comm* made = split_off(*comm, machine::Cost::comm_create, colour, key);
  if (made && made->group->members != group->members) {
    release(made);
    return raise(comm, MPI_ERR_GROUP, "the members' groups differ");
  }
  return hand_out(made, newcomm);
}

int Comm_create_group(MPI_Comm handle, MPI_Group group_handle, int tag, MPI_Comm* newcomm) {
  Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  if (comm->is_inter()) return raise(comm, MPI_ERR_COMM, "an inter-communicator");
  Group* group = get(group_handle);
  if (!group) return raise(comm, MPI_ERR_GROUP, "null or freed group");
  if (tag < 0) return raise(comm, MPI_ERR_TAG, "tag " + std::to_string(tag));
  const MemberTable table(*comm->group);
  for (const int member : group->members) {
    if (!table.has(member)) {
      return raise(comm, MPI_ERR_GROUP,
                   "world rank " + std::to_string(member) + " is not in the communicator");
    }
  }
  *newcomm = MPI_COMM_NULL;
  if (group->rank == MPI_UNDEFINED) return MPI_SUCCESS;
  const ContextId context = join_context(comm->context, tag, group->members);
  return hand_out(meet_in(make_comm(comm, context, retain(group))), newcomm);
}

}  // namespace impl
}  // namespace foretrace::mpi
