// Groups and communicators.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "mpi/core/error.hpp"
#include "mpi/core/keyvals.hpp"
#include "mpi/core/object.hpp"
#include "mpi/core/simulator.hpp"
#include "shared/context.hpp"

namespace foretrace::mpi {

struct Group : Object {
  Group() : Object(ObjectKind::group) {}
  std::vector<int> members;  // world ranks
  int rank = MPI_UNDEFINED;  // of this process

  int size() const { return static_cast<int>(members.size()); }
  // Index of a world rank; MPI_UNDEFINED if it is no member.
  int index_of(int world_rank) const;
};

// A virtual topology, as the program described it.
struct Cartesian {
  std::vector<int> dims;
  std::vector<int> periods;
  std::vector<int> coords;  // of this process
};
struct Graph {
  std::vector<int> index;
  std::vector<int> edges;
};
struct Neighbours {  // distributed graph
  std::vector<int> sources, destinations;
  std::vector<int> source_weights, destination_weights;
  bool weighted = false;
};

struct Comm : Object {
  Comm();
  ~Comm() override;

  ContextId context = 0;    // messages
  ContextId together = 0;   // collectives: context; of an inter-communicator the two
                            // groups' union, lower group (see `first`) first
  Group* group = nullptr;   // local; owned (one reference)
  Group* remote = nullptr;  // inter-communicators: owned; else nullptr
  bool first = true;        // inter-communicators: whether the local group comes first in the union
  int rank = 0;             // in the local group
  std::string name;
  std::uint64_t made_at = 0;         // where the program made it, as Record::site
  Errhandler* errhandler = nullptr;  // owned
  AttributeSet attributes;
  Info* info = nullptr;  // hints, owned; nullptr: none
  std::unique_ptr<Cartesian> cartesian;
  std::unique_ptr<Graph> graph;
  std::unique_ptr<Neighbours> neighbours;
  std::uint64_t collectives = 0;  // that this process has entered
  // Whether all members are on this rank's node, of several; nothing: not asked yet.
  std::optional<bool> on_one_node;
  // How many partitioned requests were made: {send, partner, tag}.
  std::map<std::tuple<bool, int, int>, int> partitioned;
  // Local, for MPI's argument checks.
  bool is_inter() const { return remote != nullptr; }
  int size() const { return group->size(); }
  // The group that ranks in point-to-point calls refer to.
  const Group& partners() const { return remote ? *remote : *group; }
  // World rank of a rank in a point-to-point call, which must be in range.
  int world(int partner) const { return partners().members[static_cast<std::size_t>(partner)]; }
  // This process's place in `together`, and how many there are in it.
  int place() const { return rank + (remote && !first ? remote->size() : 0); }
  int places() const { return group->size() + (remote ? remote->size() : 0); }
};

extern Comm* world_comm;  // MPI_COMM_WORLD; nullptr before MPI_Init
extern Comm* self_comm;

// Makes MPI_COMM_WORLD, MPI_COMM_SELF, the groups' and handlers' predefined
// objects; called by MPI_Init.
void create_predefined_comms();

// The program's communicators that are still there, in the order in which they
// were made.
std::vector<const Comm*> open_comms();

// Raises MPI_ERR_COMM for a handle that stands for nothing.
int raise_no_comm();
// A new communicator, one reference. It takes the references to the groups over
// and has its error handler from `parent` (nullptr: MPI_ERRORS_ARE_FATAL).
Comm* make_comm(const Comm* parent, ContextId context, Group* group, Group* remote = nullptr,
                bool first = true);

}  // namespace foretrace::mpi
