// Profile: where the time of a run went, per rank, state, function and phase.
//
// Computed once from a Trace or its file and drawn by the views as text or JSON. Speed-up
// and efficiency are those of Demaine 1996: the serial time is the sum of all
// computation. Knows nothing of units on paper.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/computation.hpp"
#include "analysis/marks.hpp"
#include "analysis/run_events.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"
#include "machine/timing.hpp"
#include "trace/tell_place.hpp"
#include "trace/trace.hpp"

namespace foretrace::analysis {

struct RankProfile {
  WorldRank rank;
  Time time;     // clock on entry to MPI_Finalize, or at the end of the last event
  Time compute;  // between calls
  Time mpi;      // in calls, wait included; time = compute + mpi
  Time wait;
  Time caused;             // what others waited because this rank had not made its call yet
  double utilisation = 0;  // compute / program time, 0..1
};

struct StateProfile {
  std::string name;  // "COMPUTE" or the MPI function
  Time time;         // over all ranks, wait included
  Time wait;
  bool wait_known = true;  // false: whether it waited cannot be told; `wait` is zero
};

struct FunctionProfile {
  std::string name;
  std::uint64_t calls = 0;
  Time time;
  Time wait;
  bool wait_known = true;
  Bytes sent;        // in messages that it sent or posted
  Bytes received;    // in messages that it received or completed
  Bytes collective;  // sum of its d, the size in the equation of a collective
};

// All calls of a function from one place in the program.
struct SiteProfile {
  std::string function;
  std::string place;  // "halo.c:37"
  std::uint64_t calls = 0;
  Time time;  // over all ranks, wait included
  Time wait;
  bool wait_known = true;
  // What the calls pay for besides waiting; kCount: not one function of a data sheet.
  machine::Cost cost = machine::Cost::kCount;
  Bytes bytes;                // sum of what they sent, received, or have as the d of that function
  std::uint64_t members = 0;  // sum of its p
};

// What one rank waited for another in the calls of a function from one place.
struct WaitPair {
  WorldRank rank;
  WorldRank partner;  // the last of those that the calls needed; invalid: see Waited
  std::string function;
  std::string place;  // empty: not known
  std::uint64_t count = 0;
  Time wait;
  Time late;  // the part of it in which the partner had not made its call yet
};

// The collectives of one function that were called last from one place.
struct CollectiveProfile {
  std::string function;
  std::string place;  // where the last to come called; empty: not known
  std::uint64_t count = 0;
  WorldRank last;  // who came last most often, the lowest of several; invalid: all at once
  std::uint64_t last_count = 0;
  Time spread;  // from the first to come to the last, summed over them
  Time wait;    // of all members
};

// A phase of the program, all its occurrences together. Phases nest; a
// phase's time includes those inside it, but a phase inside itself counts once.
// One that was opened without a name has the name that it was closed under.
struct PhaseProfile {
  std::string name;
  std::uint64_t count = 0;     // occurrences over all ranks
  std::vector<Time> per_rank;  // inclusive, by rank
  Time time;                   // the maximum over all ranks (Howell's thesis section 2.4.1)
  Time mean;                   // over all ranks, rounded down
  WorldRank slowest;           // the lowest rank that has the maximum
};

struct Profile {
  trace::TraceInfo info;
  bool complete = true;  // the trace is sealed: the run reached its end
  std::vector<trace::Damage> damage;

  int ranks = 0;
  Time time;                     // the latest rank's
  Time serial_time;              // sum of compute
  std::optional<Time> baseline;  // of a serial run; then the speed-up is against it
  // None where nothing computes.
  std::optional<double> speedup;       // serial_time / time
  std::optional<double> efficiency;    // speedup / ranks
  std::optional<double> load_balance;  // mean compute / largest; efficiency = this times the next
  std::optional<double> communication_efficiency;  // largest compute / time
  Time wait;                                       // sum over all ranks, as far as known
  bool wait_known = true;                          // false: nothing is known of it (clock cpu)
  bool partners_known = true;  // false: too many calls to tell who waits for whom
  Time wait_unknown;           // time in calls of which nobody knows how much they waited
  std::uint64_t messages = 0;  // point-to-point messages sent
  Bytes message_bytes;
  std::optional<std::uint64_t> clock_violations;  // clock wall: see waiting.hpp

  std::vector<RankProfile> per_rank;
  std::vector<StateProfile> states;        // COMPUTE, then functions in order of first use
  std::vector<FunctionProfile> functions;  // in order of first use, MPI_Init and _Finalize included
  std::vector<SiteProfile> sites;          // the longest time first; only if places were told
  std::vector<SiteProfile> placeless;      // what has no place, by function
  std::vector<WaitPair> waits;             // the longest wait first
  std::vector<CollectiveProfile> collectives;   // the same; with two members or more
  std::vector<ComputationProfile> computation;  // what costs most first
  std::vector<PhaseProfile> phases;             // in order of first use
  std::vector<MarkProfile> marks;               // the same
};

// With clock cpu (recorded, no times of MPI) mpi and wait are zero and time is
// the CPU time. `tell` says what a call site is called; without it, or where it
// says nothing, calls have no place. Who waits for whom is not told of a run that
// has more than `most_followed` sends, receives, collectives of a rank and waits; with
// clock wall its waits are not known then.
inline constexpr std::uint64_t kMostFollowed = 10'000'000;
Profile profile_trace(RunEvents run, const trace::TellPlace& tell = {},
                      std::uint64_t most_followed = kMostFollowed);

// The same of a file, which need not fit into memory.
// Throws Error as TraceReader does.
Profile profile_file(const std::string& path, const trace::TellPlace& tell = {});

// Profile::phases alone.
std::vector<PhaseProfile> phase_profiles(RunEvents& run);

// Takes speed-up and efficiency against the time of a serial run (Howell's thesis:
// T(1) / T(p)) instead of the sum of compute.
void set_baseline(Profile& profile, Time serial_run);

}  // namespace foretrace::analysis
