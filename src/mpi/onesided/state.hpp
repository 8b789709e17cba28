// How a window's memory is reached, and which epochs are open.
//
// Data moves when an operation is called: by then the epoch that it belongs to has begun at the
// target, and MPI promises that nobody looks before it is closed; or, where others may look, in the
// order of virtual time (pending.hpp). So closing an epoch has nothing left to move. What that
// takes in virtual time is the simulator's affair, which hears of every operation
// (Record::one_sided) and of what waits for them; epochs open and close by collectives, messages
// without content, locks.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "machine/timing.hpp"
#include "mpi/collective/gathered.hpp"
#include "mpi/core/simulator.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/onesided/mutex.hpp"
#include "mpi/onesided/win.hpp"
#include "shared/shared_memory.hpp"

namespace foretrace::mpi {

// How a target's memory is reached.
enum class Reach : std::uint8_t {
  mapped,   // in the memory that all ranks share
  process,  // the target's own memory, by the system's calls for that
};

// What each member tells the others when the window is made.
struct Exposure {
  std::uint64_t base = 0;   // mapped: place; process: address in the target
  std::uint64_t bytes = 0;  // ~0: dynamic, all memory
  std::uint64_t mutex = 0;  // place of the word that accumulating operations lock
  std::uint64_t locks = 0;  // the first member: number of the first member's lock
  ContextId context = 0;    // the first member: the window's
  std::int32_t disp_unit = 1;
  Reach reach = Reach::mapped;
};

// Of a lock; unchecked: with MPI_MODE_NOCHECK, nothing is held.
enum class Held : std::uint8_t { exclusive, shared, unchecked };

struct WinState {
  Gathered exposures;  // for as long as the window lives
  std::uint64_t locks = 0;
  // What this process gave to the window: blocks, to be freed with it.
  std::uint64_t memory = 0;
  std::uint64_t mutex = 0;
  // Shared windows: place of all members' memory, freed by the first, and where in it
  // each member's begins; behind them, where the last one's ends.
  std::uint64_t segments = 0;
  std::span<const std::byte> offsets;
  std::map<std::uintptr_t, std::uint64_t> attached;  // dynamic: address, bytes

  bool fenced = false;  // a fence opened an epoch
  // Access epoch of MPI_Win_start: targets, and whether their MPI_Win_post has come.
  bool started = false;
  std::map<int, bool> targets;
  Group* start_group = nullptr;
  // Exposure epoch of MPI_Win_post: the origins' MPI_Win_complete, and our own
  // messages to them.
  bool posted = false;
  std::vector<MPI_Request> arrivals;
  // Passive targets.
  std::map<int, Held> locked;
  bool locked_all = false;
  bool checks_all = true;  // lock_all without MPI_MODE_NOCHECK
  std::set<int> taken;     // lock_all: targets whose lock is held
  std::set<int> accessed;  // since they were last waited for
  int access_error = MPI_SUCCESS;

  Exposure exposure(int target) const;
  std::uint64_t offset(std::size_t member) const;
};

// Hidden messages on the window's communicator.
inline constexpr int kPosted = 1;
inline constexpr int kCompleted = 2;
inline constexpr int kNever = 3;  // nobody sends this; see polling.cpp

// Opens what has to be open for an operation on this target: waits for its
// MPI_Win_post, takes its lock. False if there is no epoch.
bool reach_target(Win& win, int target, bool passive_only);
// Whether others may access the same memory meanwhile. `combines`: the operation is one that MPI
// allows to meet others of its kind in every epoch.
bool may_meet_others(const Win& win, int target, bool combines);

// Of a call that is about the window and a target, -1: all of them.
Record one_sided_record(const Win& win, machine::OneSided what, int target);

// --- memory (memory.cpp) -------------------------------------------------------

// Processes may read and write this one's memory from now on.
void open_own_memory();

// The target's memory of one operation: `count` elements of a type at a displacement.
class Remote {
 public:
  Remote(Win& win, int target, std::uint64_t displacement, MPI_Count count, const Datatype& type);

  // Packed bytes, in the order of the type map. False if the target has no such memory.
  bool read(std::byte* out, std::uint64_t bytes) const;
  bool write(const std::byte* in, std::uint64_t bytes) const;
  // The elements' address if they are mapped and lie in a row; else nullptr.
  std::byte* in_place() const;

 private:
  bool move(std::byte* local, std::uint64_t bytes, bool out) const;

  Win& win_;
  int target_;
  MPI_Count count_;
  const Datatype& type_;
  Reach reach_;
  std::byte* mapped_ = nullptr;  // of displacement
  std::uintptr_t address_ = 0;   // of displacement, in the target
};

}  // namespace foretrace::mpi
