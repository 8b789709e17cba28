// Collectives: who may leave a collective call when.
//
// The n-th collective call of each member on a communicator belongs to the
// communicator's n-th instance. Members wait only for whom MPI's semantics
// make them wait (machine::Dependence); what the call then costs is the
// engine's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/timing.hpp"
#include "sim/operation.hpp"
#include "sim/source.hpp"

namespace foretrace::sim {

// A member that need not wait any more.
struct Release {
  WorldRank rank;
  Time latest;                // the latest start that it had to wait for, its own included
  Bytes largest;              // the largest size of any member's, where all wait for all
  bool untouched = false;     // all data that it waits for is (trace::Endpoint)
  std::uint64_t request = 0;  // of its posted collective; 0: it is in the call
};

class Collectives {
 public:
  Collectives(const Source& source, const machine::Timing& timing)
      : source_(&source), timing_(&timing) {}

  // A rank's part in a collective.
  struct Place {
    int local = 0;             // rank
    std::uint64_t number = 0;  // of the collective on its communicator
  };

  // `rank` enters the collective `operation` at `start`. `request`: what it waits for
  // instead of waiting in the call; 0: it waits in the call. `expanded`: it takes place as
  // messages. Adds to `released` everybody who may leave now, itself included if it may.
  // Throws Error when the rank is no member, or its call is not the one of the other members.
  Place enter(const Operation& operation, WorldRank rank, Time start, std::uint64_t request,
              bool expanded, std::vector<Release>& released);

  // The same for a collective that takes place as messages: checks only that all
  // members make the same call. Returns the rank's local rank.
  int agree(const Operation& operation, WorldRank rank);

  // How many instances the communicator has that not all members have entered.
  std::size_t open_instances(trace::CommId comm) const;

  // The members that `rank` waits for, blocked in a collective on `comm` or (not
  // 0) in the completion of `request`.
  std::vector<WorldRank> missing(trace::CommId comm, WorldRank rank, std::uint64_t request) const;
  // "MPI_Ibcast (root 2)": the posted collective behind a request that is not done.
  std::string describe_posted(trace::CommId comm, WorldRank rank, std::uint64_t request) const;

  // Nobody has a use for the communicator any more.
  void forget(trace::CommId comm);

  // Members of the communicator.
  int size_of(trace::CommId comm) { return static_cast<int>(state(comm).comm->members.size()); }

  std::size_t memory() const;

 private:
  struct Instance {
    // The first call that came, which the others must agree with.
    machine::Cost collective = machine::Cost::kCount;
    trace::NameId name = 0;
    LocalRank root;
    WorldRank first;
    trace::SiteId site = 0;
    bool posted = false;    // not blocking: what the first member made of it
    bool expanded = false;  // into messages

    std::uint32_t entered = 0;
    Time latest;            // of the starts known; prefix: of ranks below `prefix`
    Bytes largest;          // of the sizes known
    bool untouched = true;  // the data that is known
    bool root_entered = false;
    std::uint32_t prefix = 0;             // ranks 0..prefix-1 have all entered
    std::vector<Time> starts;             // prefix: by local rank
    std::vector<bool> here;               // by local rank
    std::vector<std::uint32_t> waiting;   // all_for_root: blocked members
    std::vector<std::uint64_t> requests;  // posted: by local rank
  };

  struct CommState {
    const trace::Communicator* comm = nullptr;
    bool identity = true;                                        // local rank = world rank
    std::vector<std::pair<std::int32_t, std::uint32_t>> locals;  // by world rank, if not identity
    std::vector<std::uint64_t> next;  // per member: the instance it enters next
    std::uint64_t base = 0;           // the oldest open instance
    std::uint64_t end = 0;            // one past the newest
    std::vector<Instance> ring;       // open instances by number; a power of two
  };

  CommState& state(trace::CommId comm);
  static std::int64_t local_rank(const CommState& state, WorldRank rank);
  static Instance& instance(CommState& state, std::uint64_t number);
  // The open instance in which the local rank is blocked, or posted `request`.
  static const Instance& entered(const CommState& state, std::size_t local, std::uint64_t request);
  // The local rank of `rank` in the operation's communicator. Throws Error if it
  // is no member.
  int rank_in(const Operation& operation, WorldRank rank);
  Instance& join(CommState& comm, int local, const Operation& operation, WorldRank rank,
                 bool expanded);
  static void close_complete(CommState& comm);
  void open(CommState& state, const Operation& operation, WorldRank rank);
  void check_same_call(const CommState& state, const Instance& instance, const Operation& operation,
                       WorldRank rank, bool expanded) const;
  static void release(const CommState& state, Instance& instance, machine::Dependence dependence,
                      std::uint32_t local, Time start, bool untouched,
                      std::vector<Release>& released);

  const Source* source_;
  const machine::Timing* timing_;
  std::vector<CommState> comms_;
};

// "MPI_Bcast (root 2)": a collective call for messages.
std::string describe_collective(const Source& source, trace::NameId name, machine::Cost collective,
                                LocalRank root);
// "MPI_COMM_WORLD" or "communicator 3.1 (8 ranks: 0, 2, 4, 6, ...)".
std::string describe_comm(const trace::Communicator& comm);

}  // namespace foretrace::sim
