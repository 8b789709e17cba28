// Collectives as the simulator sees them: every member lays bytes down, and reads those of others
// once it may leave. What the bytes are is the affair of the calls (collective.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "machine/timing.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/object.hpp"
#include "trace/counts.hpp"

namespace foretrace::mpi {

struct Request;

// What the members of a communicator laid down for a collective. Readable until
// the object goes; blocks are freed when all members have let go.
class Gathered {
 public:
  Gathered() = default;
  explicit Gathered(std::uint64_t place);
  Gathered(Gathered&& other) noexcept;
  Gathered& operator=(Gathered&& other) noexcept;
  ~Gathered();

  // What the member at `place` (Comm::place; its local rank, except on
  // inter-communicators) laid down; empty if it was nothing. May be asked only
  // of members that this one waits for: all in an all-for-all collective, the
  // root in bcast and scatter, all for the root of gather and reduce, those
  // before in a scan; and of oneself.
  std::span<const std::byte> of(int place) const;
  // Something that every member would compute from the blocks to the same result
  // (a reduction): computed by whoever comes first, read by the others.
  std::span<const std::byte> common(std::uint64_t bytes,
                                    const std::function<void(std::byte*)>& compute);

 private:
  std::uint64_t place_ = 0;
  Block own_;  // of common(), where it could not wait for the others' result
};

struct CollectiveCall {
  Comm* comm = nullptr;
  machine::Cost cost = machine::Cost::barrier;
  int root = -1;              // place of the root in the communicator; -1: none
  std::uint64_t bytes = 0;    // d of the data sheet's equation (src/mpi_api/sizes.hpp)
  trace::Counts counts = {};  // of a blocking one; empty: `bytes` tells all
  machine::Reduction reduction = machine::Reduction::none;  // of one that combines
  bool untouched = false;  // what a blocking one sends (trace::Endpoint)
};

// Enters a collective with a contribution that others may read, and waits
// until this rank may leave. The event bears the current function's name.
Gathered collective(const CollectiveCall& call, Block contribution);

// The same, posted: returns a request that MPI_Wait and MPI_Test complete. At
// completion finish(gathered) moves the data to where the program wants it.
// `keep`s (datatypes, communicator, operation) are released afterwards.
Request* post_collective(const CollectiveCall& call, Block contribution,
                         std::function<void(Gathered&)> finish, std::vector<Object*> keep);

// A new communicator's context, from a collective over `comm` in which every
// member says a colour (negative: it is in none) and a key, as MPI_Comm_split.
// `group` (world ranks in the order of key, then place) and `context` are
// those of the caller's colour. `extra` is readable in `gathered`.
struct Split {
  ContextId context = 0;
  std::vector<int> members;
};
Split split(const CollectiveCall& call, int colour, int key);

}  // namespace foretrace::mpi
