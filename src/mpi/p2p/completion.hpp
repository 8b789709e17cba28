// Completing requests: what the engine says of them, and what follows.
#pragma once

#include <optional>
#include <span>

#include "mpi/core/block.hpp"
#include "mpi/core/few.hpp"
#include "mpi/core/simulator.hpp"
#include "mpi/p2p/request.hpp"
#include "shared/horizon.hpp"
#include "shared/shared_memory.hpp"
#include "sim/operation.hpp"

namespace foretrace::mpi {

// Completes requests as the MPI call of the same name; some may be nullptr or
// inactive. Returns the indices of those that are complete now, in order: any
// has at most one, all has all; empty for a test that failed. Data is where it
// belongs, `status` and `error` are set; nothing is released.
using Indices = Few<int>;
Indices complete(sim::Completing how, std::span<Request* const> requests);

// Receives whose requests the program freed while they were under way: they are
// filled when their message is there (MPI 3.1, 3.7.3).
void keep_freed_receive(Request* request);
void note_freed_send();
// Requests that the program freed and that the simulator has still open.
std::uint64_t freed_and_open();
void settle_freed_receives();

// Parts of a generalized request.
struct Request::Generalized {
  MPI_Grequest_query_function* query = nullptr;
  MPI_Grequest_free_function* free = nullptr;
  MPI_Grequest_cancel_function* cancel = nullptr;
  void* state = nullptr;
  bool complete = false;
  bool free_when_complete = false;  // the program gave its handle back before
};
// False for a generalized request that the program has not completed.
bool is_complete(const Request& request);

// The source and the tag of a receive or a probe, as MPI has them.
void set_source(Record& record, const Comm& comm, int source, int tag);
// Local rank (as in point-to-point calls) of a world rank.
int partner_of(const Comm& comm, int world_rank);
// Requests that the simulator has open: a send that was posted, a collective for which all others
// have come when horizon::entries() are `entries`.
void note_open_send(const Request& request);
void note_open_collective(Request& request);
// The status of a message.
void set_status(MPI_Status& status, const Comm& comm, const Result& message);
// That of a receive from MPI_PROC_NULL; and the empty status.
void set_null_status(MPI_Status& status);
void set_empty_status(MPI_Status& status);
// Posts a send or a receive that is filled in, under a new number.
void post_again(Request& request, Block data);

// When that is there for which a look looks, as far as this rank knows: the ends of requests'
// transfers, or a message that a probe can see.
class Ends {
 public:
  Ends(sim::Completing how, std::span<Request* const> requests) : how_(how), requests_(requests) {}
  explicit Ends(const Record& probe);
  // Looks which messages have come meanwhile, for a look that begins at `enter` and goes on until
  // `until`.
  std::span<const End> look(Time enter, Time until);
  std::span<const End> known() const { return {ends_.data(), ends_.size()}; }
  // The message that a probe sees.
  const Envelope& seen() const { return *seen_; }
  // Before so many more messages have come, no more can be known; 0: they alone would tell nothing.
  std::uint32_t missing() const;
  // What tells what comes of the look, besides messages, and what the rank promises that sleeps in
  // it. If it finds nothing, it leaves at `leaves` at the soonest.
  horizon::Wish wish(Time leaves) const;

 private:
  void look_at_request(Request& request);
  void look_for_message();
  bool waits() const { return until_ > enter_; }
  bool knows_end() const;
  horizon::Rest rest(Time leaves) const;

  sim::Completing how_ = sim::Completing::test_any;
  std::span<Request* const> requests_;
  std::optional<Envelope> probed_;  // what a probe looks for
  const Envelope* seen_ = nullptr;
  Few<End> ends_;
  bool by_horizon_ = false;  // something depends on which messages others will send first
  bool blind_ = false;       // of something it is not known at all when it may end
  Time enter_;
  Time until_;
  // Of horizon::all_entries(), if it looks for collectives: those that it knows of.
  std::optional<std::uint64_t> entries_;
  Time ahead_;  // of the horizon, what depends on it ends so much later at the soonest
};

}  // namespace foretrace::mpi
