// Collectives: one description of a call serves its blocking, its non-blocking
// and its persistent form.
//
// A function of MPI checks its arguments and makes a Plan: what this rank
// contributes, and where it puts what the others did. run(), post() and
// prepare() carry a plan out in the three forms. Nearly all collectives are one
// operation of the simulator's, which gathers contributions (gathered.hpp);
// neighbourhoods, and collectives of inter-communicators with a root, are messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "mpi/collective/gathered.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/core/block.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/p2p/request.hpp"
#include "mpi_api/neighbours.hpp"

namespace foretrace::mpi {

using ByteSpan = std::span<const std::byte>;

// For mpi_api/sizes.hpp.
inline std::uint64_t type_bytes(const Datatype* type) {
  return type && type->size > 0 ? static_cast<std::uint64_t>(type->size) : 0;
}

// What came of moving the data.
struct Outcome {
  int error = MPI_SUCCESS;  // class
  std::string what;
};

// `count` elements at `data`.
struct Piece {
  std::byte* data = nullptr;
  MPI_Count count = 0;
  const Datatype* type = nullptr;  // nullptr: nothing

  std::uint64_t bytes() const { return type ? packed_bytes(count, *type) : 0; }
};

struct Plan {
  // A message to or from a neighbour; partner and tag as in MPI's calls.
  struct Outgoing {
    int partner;
    int tag;
    std::function<Block()> contribute;
  };
  struct Incoming {
    int partner;
    int tag;
    std::uint64_t capacity;
    std::function<void(ByteSpan)> arrived;
  };

  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan();
  // Holds a reference as long as the plan lives; `object` may be nullptr.
  void hold(Object* object);

  Comm* comm = nullptr;
  CollectiveCall call;
  // What this rank sends, and where it receives, if that is one piece each.
  Piece sent;
  Piece room;
  // Packs what the buffers hold now; none: contributes nothing.
  std::function<Block()> contribute;
  // Takes what the others contributed; none: nothing to take.
  std::function<Outcome(Gathered&)> finish;

  // Messages take the place of `call`.
  bool by_messages = false;
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  std::function<Outcome()> finish_messages;  // when all have arrived

  std::vector<Object*> held;
  Request* current = nullptr;  // the request that is being completed
};

// A plan, or why there is none.
struct Planned {
  int error = MPI_SUCCESS;  // as raise() returned it
  std::shared_ptr<Plan> plan;
};

// MPI_X, MPI_IX and MPI_X_init.
int run(const Planned& planned);
int post(const Planned& planned, MPI_Request* request);
int prepare(const Planned& planned, MPI_Request* request);

// Of the messages that plans consist of, on hidden contexts.
using mpi_api::kCollectiveTag;

// --- arguments ------------------------------------------------------------------

// Checks the arguments of a call and begins its plan. Remembers the first thing
// that is wrong; checks that follow do nothing.
class Arguments {
 public:
  explicit Arguments(MPI_Comm handle);

  explicit operator bool() const { return plan_ && error_ == MPI_SUCCESS; }
  // Raises the error.
  Planned refuse() const;
  void fail(int error_class, std::string what);

  // Valid after a successful check of the communicator only.
  Comm* comm() const { return plan_->comm; }
  bool inter() const { return plan_ && plan_->comm->is_inter(); }
  bool is_root(int root) const { return root == (inter() ? MPI_ROOT : comm()->rank); }
  // Members whose data a call deals with: the other group's, on inter-communicators.
  int partners() const { return plan_ ? plan_->comm->partners().size() : 0; }
  int members() const { return plan_ ? plan_->comm->size() : 0; }
  Plan& plan() const { return *plan_; }
  Planned planned() const { return {MPI_SUCCESS, plan_}; }

  void intra_only();
  void root(int root);
  void count(MPI_Count count, const char* what);
  void counts(const int* counts, int members, const char* what);
  // A committed datatype, held by the plan; nullptr if there is anything wrong.
  Datatype* type(MPI_Datatype handle, const char* what);
  // Of each member that has a count; nullptr for the others.
  std::vector<Datatype*> types(const MPI_Datatype* handles, const int* counts, int members,
                               const char* what);
  // An operation that is defined for the type, held by the plan.
  Op* op(MPI_Op handle, const Datatype* type);
  // Where there is data, there must be a buffer.
  void buffer(const void* buffer, MPI_Count count, const Datatype* type, const char* what);
  void not_in_place(const void* buffer, const char* what);
  // Two buffers of one call that may not be the same.
  void distinct(const void* send, const void* receive, MPI_Count count);

 private:
  std::shared_ptr<Plan> plan_;
  int error_ = MPI_SUCCESS;
  std::string what_;
};

// The place in the communicator's `together` of a member of the group that
// calls deal with (Arguments::partners).
int place_of_partner(const Comm& comm, int partner);

}  // namespace foretrace::mpi
