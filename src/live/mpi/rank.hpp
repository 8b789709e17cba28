// This process's line to the simulator: what a rank asks for and is answered.
//
// A rank posts operations; each is what the engine of src/sim knows (sim/
// operation.hpp). Those that need no answer do not stop it. Messages' bytes
// travel through shared memory: a sender leaves a block there, the simulator
// tells the receiver which block it got.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "live/mpi/comm.hpp"
#include "live/mpi/datatype.hpp"
#include "live/mpi/function.hpp"
#include "live/mpi/object.hpp"
#include "machine/timing.hpp"

namespace foretrace::live {

// --- what ranks hand each other ------------------------------------------------

// The bytes of a message or contribution, which one rank leaves and another gets:
// a block in the memory that all share, or a word if they are so few. Moves, frees
// what it holds.
class Block {
 public:
  Block() = default;
  // Of `bytes` bytes, 64-byte aligned from a block's size on; 0: an empty one. Ends
  // the run if there is no memory left.
  explicit Block(std::uint64_t bytes);
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;
  ~Block();

  std::byte* data();
  const std::byte* data() const { return const_cast<Block*>(this)->data(); }
  std::uint64_t bytes() const { return bytes_; }
  // Hands the bytes to whoever gets this word.
  std::uint64_t give_away();
  // Takes over what somebody gave away.
  static Block take(std::uint64_t word, std::uint64_t bytes);

 private:
  std::uint64_t word_ = 0;  // the bytes, or their place
  std::uint64_t bytes_ = 0;
};

// Memory that all ranks share, 64-byte aligned: its place. Ends the run if there
// is none left.
std::uint64_t allocate_shared(std::uint64_t bytes);
void free_shared(std::uint64_t place);
// A block's address from its place (for blocks that several ranks read).
std::byte* address_of(std::uint64_t place);

// --- collectives ---------------------------------------------------------------

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
  int root = -1;            // place of the root in the communicator; -1: none
  std::uint64_t bytes = 0;  // d of the data sheet's equation (src/mpi_api/sizes.hpp)
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
// The same without the other members of a parent: for communicators that only
// their own members make. The caller (one of the members, and only one) gets a
// new context for `members`; it must tell the others by a message.
ContextId define_context(const std::vector<int>& members);
// Gives a context back, which every member does; it is not used any more.
void free_context(ContextId context);

// --- the library's own messages -------------------------------------------------

// Point-to-point below the MPI functions: bytes, on comm.context | kHidden, partners as in
// MPI calls. The events bear the current function's name.
void send_bytes(Comm& comm, int partner, int tag, const void* data, std::uint64_t bytes);
std::vector<std::byte> receive_bytes(Comm& comm, int partner, int tag);
// Exchange of many messages at once (neighbourhood collectives): all sends and
// receives are posted, then waited for. Posting alone: see request.hpp.

// --- mutual exclusion in virtual time (one-sided locks) ---------------------------

// Waits until this rank has the lock; those that wait get it in the order of
// virtual time. Any number of ranks may hold it shared.
void lock(std::uint64_t number, bool shared);
void unlock(std::uint64_t number);
// Numbers that nobody else has, agreed on by telling the others.
std::uint64_t new_lock_numbers(std::uint64_t count);

// --- threads ---------------------------------------------------------------------

// Around every call of the program: with MPI_THREAD_MULTIPLE one thread at a
// time is in the library.
void enter_library();
void leave_library();
// Lets other threads in for a moment; from a call that waits.
void let_threads_in();
// Whether there may be such a thread: the level is MPI_THREAD_MULTIPLE, and a second
// thread exists.
bool threads_multiple();
void set_thread_level(int level);
bool thread_multiple_level();

// --- the rank itself -------------------------------------------------------------

int world_rank();
int world_size();
// The other rank's process on this machine.
int process_of(int world_rank);
// The node of the simulated machine that a rank is on; all are on node 0 where the
// simulation has no topology.
int node_of(int rank);
// Virtual time in seconds since MPI_Init returned. Asks the simulator.
double virtual_seconds();
// Ends the whole run. `code` as for MPI_Abort; the message (one line, may be
// empty) goes to standard error, with the rank's number before it.
[[noreturn]] void end_run(int exit_status, const std::string& message);

}  // namespace foretrace::live
