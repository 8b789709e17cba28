// CallProfile: the counters of a run, added up over ranks, call sites with
// their places in the source. Wall-clock times; what the profiler itself took
// is taken out. Computed once, drawn by views (call_profile.hpp there).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "trace/counters_file.hpp"

namespace foretrace::analysis {

// A value over ranks.
struct Spread {
  Time min;
  Time mean;
  Time max;
  WorldRank slowest;       // where the maximum is
  WorldRank fastest = {};  // where the minimum is; invalid: some rank has no such call

  // How much the maximum exceeds the mean: 0.25 for a quarter.
  double imbalance() const;
};

// What a rank does in a call, as far as its name tells.
enum class CallClass { send, receive, complete, poll, collective, one_sided, file, other, kCount };
const char* name_of(CallClass of);
// Whether such a call comes back when others have done something: time in it
// may be waiting.
bool may_wait(CallClass of);
CallClass class_of(const std::string& function);
// Collectives in which everybody waits for everybody: whoever comes last spends least in them.
bool all_wait_for_all(const std::string& function);

struct CallFrame {
  std::string function;  // empty: not known
  std::string file;
  int line = 0;
  std::string object;
  std::uint64_t offset = 0;
  std::string place;  // "halo.c:37", "halo+0x11e9"

  bool operator==(const CallFrame&) const = default;
};

struct Moved {
  Bytes sent;
  Bytes received;
  Bytes collective;
  std::uint64_t messages = 0;  // sent
};

struct CallTotal {
  std::uint64_t calls = 0;
  Time time;
  Time longest;  // a single call
  Spread ranks;  // over all ranks, those without a call included
  Moved moved;
};

struct FunctionTotal : CallTotal {
  std::string name;
  CallClass kind = CallClass::other;
};

struct SiteTotal : CallTotal {
  std::string function;
  std::vector<CallFrame> frames;  // innermost first; empty: the places are not known
};

// A collective at one place, in which the rank with the least time came last most often, and the
// others waited for it.
struct WaitedFor {
  std::size_t site = 0;  // index into CallProfile::sites
  Time waited;           // what the other ranks spent in it beyond the least
};

// Calls of one rank at one place that came back when messages of `sender` were there: receives,
// probes, and calls that wait for receives.
struct SenderTotal {
  std::size_t site = 0;  // index into CallProfile::sites
  WorldRank rank;
  WorldRank sender;  // invalid: several ranks at once, or not known
  std::uint64_t calls = 0;
  Time time;  // in the call, with the message's way
  Time longest;
};

struct CommTotal {
  std::string name;  // as the program called it, else "communicator 2 of 4 ranks"
  std::uint32_t size = 0;
  bool inter = false;
  std::uint64_t calls = 0;
  Time time;
  Moved moved;
};

struct SizeTotal {
  std::string comm;  // CommTotal::name; empty: the call has none
  std::string function;
  trace::Direction direction = trace::Direction::none;
  Bytes from;  // of one message
  Bytes to;
  std::uint64_t calls = 0;
  Bytes bytes;
  Time time;
};

struct RankTotal {
  WorldRank rank;
  std::string host;
  Time time;         // from MPI_Init's return to MPI_Finalize
  Time application;  // outside of MPI
  Time mpi;
  Time own;         // the profiler's, in none of the others
  std::string end;  // how it ended if not in MPI_Finalize: "was in MPI_Recv at halo.c:37 for 3 s"
  std::map<std::string, Time> functions = {};  // of `mpi`, by name
  std::string open_call = {};                  // that it was in; empty: none, or not known
  std::string open_place = {};                 // and where that stands
};

struct MatrixEntry {
  WorldRank from;
  WorldRank to;
  std::uint64_t messages = 0;
  Bytes bytes;
};

struct CallProfile {
  std::string program;
  std::string mpi;
  int ranks = 0;
  bool complete = true;
  bool several_threads = false;
  bool shares_cores = false;  // more ranks than cores: times in MPI hold others' time slices
  int depth = 1;
  std::uint64_t lost = 0;  // calls without their site, size or partner
  Spread time;
  Spread application;
  Spread mpi_time;
  Spread own;
  std::uint64_t calls = 0;
  std::vector<RankTotal> per_rank;       // those that left something
  std::vector<FunctionTotal> functions;  // by time, the longest first
  std::vector<SiteTotal> sites;          // by time
  std::vector<WaitedFor> waited_for;     // by what was waited, without what was not
  std::vector<SenderTotal> senders;      // by time
  std::vector<CommTotal> comms;          // by time
  std::vector<SizeTotal> sizes;          // by communicator, function, direction and size
  std::vector<MatrixEntry> matrix;       // by sender and receiver
  std::vector<Time> classes;             // by CallClass, over all ranks
};

// Finds the place of the call that returns to `offset` of `object`.
using FindPlace = std::function<CallFrame(const std::string& object, std::uint64_t offset)>;

CallProfile make_call_profile(const trace::CallCounters& counters, const FindPlace& find_place);

}  // namespace foretrace::analysis
