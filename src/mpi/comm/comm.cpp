// Communicators as objects: what they are asked for, how they begin and end.
#include "mpi/comm/comm.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>
#include <string>

#include "live_impl.hpp"
#include "mpi/comm/contexts.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/info.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/rank.hpp"
#include "mpi/core/simulator.hpp"
#include "shared/birth.hpp"

namespace foretrace::mpi {

Comm* world_comm = nullptr;
Comm* self_comm = nullptr;
Comm* parent_comm = nullptr;
int application_number = 0;

namespace {

// Never destroyed: programs free communicators until their very end.
std::vector<const Comm*>& all_comms() {
  static auto* const comms = new std::vector<const Comm*>;
  return *comms;
}

}  // namespace

Comm::Comm() : Object(ObjectKind::comm), made_at(line.site()) {
  all_comms().push_back(this);
}

Comm::~Comm() {
  all_comms().erase(std::ranges::find(all_comms(), this));
  if (parent_comm == this) parent_comm = nullptr;
  // The first contexts are those of MPI_COMM_WORLD and all MPI_COMM_SELF.
  if (line.is_open() && context > static_cast<ContextId>(line.size())) free_context(context);
  release(group);
  release(remote);
  release(errhandler);
  release(info);
}

std::vector<const Comm*> open_comms() {
  std::vector<const Comm*> open;
  std::ranges::copy_if(all_comms(), std::back_inserter(open), [](const Comm* comm) {
    return comm->handle != 0 && !comm->predefined && comm != parent_comm;
  });
  return open;
}

int raise_no_comm() {
  return raise(world_comm, MPI_ERR_COMM,
               world_comm ? "null or freed communicator" : "MPI is not initialised");
}

Comm* make_comm(const Comm* parent, ContextId context, Group* group, Group* remote, bool first) {
  auto* comm = new Comm;
  comm->context = context;
  comm->together = context;
  comm->group = group;
  comm->remote = remote;
  comm->first = first;
  comm->rank = group->rank;
  comm->errhandler = retain(parent && parent->errhandler ? parent->errhandler : errors_are_fatal);
  return comm;
}

namespace {

// Of a process that another rank started: its world, and the parents.
Comm* make_born_world(std::uint64_t place) {
  Birth& birth = *SharedMemory::at<Birth>(place);
  const auto count = static_cast<std::size_t>(birth.children);
  const std::vector<int> all(birth.ranks(), birth.ranks() + count);
  Comm* world = make_comm(nullptr, birth.world, make_group(all));
  application_number = birth.applications()[world->rank];
  const int* parents = birth.parent_ranks();
  parent_comm = make_comm(nullptr, birth.together, make_group(all),
                          make_group({parents, parents + birth.parents}), false);
  parent_comm->name = "MPI_COMM_PARENT";
  if (birth.readers.fetch_sub(1) == 1) free_shared(place);
  return world;
}

Comm* make_world() {
  if (const std::uint64_t place = SharedMemory::slot(world_rank()).birth)
    return make_born_world(place);
  std::vector<int> all(static_cast<std::size_t>(SharedMemory::header().world));
  std::iota(all.begin(), all.end(), 0);
  return make_comm(nullptr, 0, make_group(std::move(all)));
}

}  // namespace

void create_predefined_comms() {
  if (world_comm) return;
  create_predefined_errhandlers();
  create_predefined_info();
  empty_group = new Group;
  empty_group->predefined = true;
  set_predefined(MPI_GROUP_EMPTY, empty_group);

  const ContextId self_context = 1 + static_cast<ContextId>(world_rank());
  self_comm = make_comm(nullptr, self_context, make_group({world_rank()}));
  self_comm->predefined = true;
  self_comm->name = "MPI_COMM_SELF";
  set_predefined(MPI_COMM_SELF, self_comm);
  world_comm = make_world();
  world_comm->predefined = true;
  world_comm->name = "MPI_COMM_WORLD";
  set_predefined(MPI_COMM_WORLD, world_comm);
}

namespace {

int hand_out(Group* group, MPI_Group* handle) {
  *handle = handle_of(retain(group));
  return MPI_SUCCESS;
}

int raise_intra(Comm* comm) {
  return raise(comm, MPI_ERR_COMM, "an intra-communicator, expected an inter-communicator");
}

int free_comm(MPI_Comm* handle) {
  Comm* comm = handle ? get<Comm>(*handle) : nullptr;
  if (!comm) return raise_no_comm();
  if (comm->predefined) return raise(comm, MPI_ERR_COMM, comm->name + " cannot be freed");
  if (const int error = delete_attributes(*comm)) {
    return raise(comm, error, "from an attribute's delete function");
  }
  release(comm);
  *handle = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

}  // namespace

namespace impl {

int Comm_size(MPI_Comm handle, int* size) {
  const Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  *size = comm->size();
  return MPI_SUCCESS;
}

int Comm_rank(MPI_Comm handle, int* rank) {
  const Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  *rank = comm->rank;
  return MPI_SUCCESS;
}

int Comm_group(MPI_Comm handle, MPI_Group* group) {
  const Comm* comm = get(handle);
  return comm ? hand_out(comm->group, group) : raise_no_comm();
}

int Comm_test_inter(MPI_Comm handle, int* flag) {
  const Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  *flag = comm->is_inter() ? 1 : 0;
  return MPI_SUCCESS;
}

int Comm_remote_size(MPI_Comm handle, int* size) {
  Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  if (!comm->is_inter()) return raise_intra(comm);
  *size = comm->remote->size();
  return MPI_SUCCESS;
}

int Comm_remote_group(MPI_Comm handle, MPI_Group* group) {
  Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  if (!comm->is_inter()) return raise_intra(comm);
  return hand_out(comm->remote, group);
}

int Comm_compare(MPI_Comm a, MPI_Comm b, int* result) {
  const Comm* first = get(a);
  const Comm* second = get(b);
  if (!first || !second) return raise_no_comm();
  if (first == second) {
    *result = MPI_IDENT;
  } else if (first->is_inter() != second->is_inter()) {
    *result = MPI_UNEQUAL;
  } else {
    int groups = compare_groups(*first->group, *second->group);
    // The comparisons' values rise with the difference.
    static_assert(MPI_IDENT < MPI_SIMILAR && MPI_SIMILAR < MPI_UNEQUAL);
    if (first->is_inter()) {
      groups = std::max(groups, compare_groups(*first->remote, *second->remote));
    }
    *result = groups == MPI_IDENT ? MPI_CONGRUENT : groups;
  }
  return MPI_SUCCESS;
}

int Comm_free(MPI_Comm* comm) {
  return free_comm(comm);
}
// All of the communicator's messages are the program's to complete: what is left
// holds references of its own.
int Comm_disconnect(MPI_Comm* comm) {
  return free_comm(comm);
}

int Comm_set_name(MPI_Comm handle, const char* name) {
  Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  if (!name) return raise(comm, MPI_ERR_ARG, "null pointer");
  comm->name.assign(name, strnlen(name, MPI_MAX_OBJECT_NAME - 1));
  return MPI_SUCCESS;
}

int Comm_get_name(MPI_Comm handle, char* name, int* resultlen) {
  const Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  std::memcpy(name, comm->name.c_str(), comm->name.size() + 1);
  *resultlen = static_cast<int>(comm->name.size());
  return MPI_SUCCESS;
}

int Comm_set_info(MPI_Comm handle, MPI_Info info) {
  Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  const Info* hints = get(info);
  if (!hints) return raise(comm, MPI_ERR_INFO, "null or freed info object");
  if (!comm->info) comm->info = new Info;
  for (const auto& [key, value] : hints->entries) {
    if (const std::string* old = comm->info->find(key)) {
      *const_cast<std::string*>(old) = value;
    } else {
      comm->info->entries.emplace_back(key, value);
    }
  }
  return MPI_SUCCESS;
}

int Comm_get_info(MPI_Comm handle, MPI_Info* info) {
  const Comm* comm = get(handle);
  if (!comm) return raise_no_comm();
  // Hints that nobody knows are none.
  Info* known = new Info;
  if (comm->info) {
    std::ranges::copy_if(comm->info->entries, std::back_inserter(known->entries),
                         [](const auto& entry) { return entry.first.starts_with("mpi_"); });
  }
  *info = handle_of(known);
  return MPI_SUCCESS;
}

int Comm_get_parent(MPI_Comm* parent) {
  *parent = handle_of(parent_comm);
  return MPI_SUCCESS;
}

}  // namespace impl
}  // namespace foretrace::mpi
