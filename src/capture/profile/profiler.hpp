// Profiler: the capture library's mode without a trace. Counts calls, time and
// bytes of this rank by call site, message size and partner, in memory that it
// shares with the profile's file.
//
// The wrappers come here by Measured (call.hpp), not through the
// handlers of messages. One for each process, from MPI_Init to MPI_Finalize.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ticks.hpp"
#include "callers/python_lines.hpp"
#include "callers/stack_walk.hpp"
#include "capture/handlers/functions.hpp"
#include "capture/host/handle_map.hpp"
#include "capture/host/settings.hpp"
#include "capture/host/shared_table.hpp"
#include "capture/profile/comms.hpp"
#include "trace/counters_file.hpp"

namespace foretrace::capture {

// A call that is being measured.
struct OpenCall {
  trace::SiteRecord* site = nullptr;  // none: not measured
  std::uint32_t slots = 0;            // of the table when it was looked up
  Fn fn{};
  std::uint64_t begin = 0;
  std::uint64_t ticks = 0;
  bool timed = false;  // its ticks are in some SizeRecord
};

// From whom a receive, or a call that completes some, gets its message.
struct Sender {
  static constexpr int kNone = -1;     // there is no receive
  static constexpr int kSeveral = -2;  // not one alone, or not known
  static constexpr int kAny = -3;      // whoever the status names
  int rank = kNone;                    // in COMM_WORLD
  MPI_Comm comm = MPI_COMM_NULL;       // of kAny

  explicit operator bool() const { return rank != kNone; }
  bool operator==(const Sender&) const = default;
};

class Profiler {
 public:
  // After the real MPI_Init; collective. Leaves the profiler inactive, with a
  // line on standard error, where it cannot work.
  void start(const Settings& settings);
  // Before the real MPI_Finalize; collective.
  void stop();
  void abort(int code);
  // This process is a child of the one that is profiled.
  void leave_to_parent();

  // What MPI_Pcontrol says: 0 switches off, 1 on, others nothing.
  void control(int level);

  void begin(OpenCall& call, Fn fn, const callers::CallPoint& point);
  void end(OpenCall& call);

  // What an ended call moved. `comm` may be MPI_COMM_NULL: not known.
  void message(OpenCall& call, std::uint64_t bytes, int dest, MPI_Comm comm);
  void moved(OpenCall& call, trace::Direction direction, std::uint64_t bytes, MPI_Comm comm);

  // A call that came back with a message from `source` of `comm`.
  void received(OpenCall& call, std::uint64_t bytes, int source, MPI_Comm comm);
  void probed(OpenCall& call, int source, MPI_Comm comm);

  // What `request` is from now on: a receive, or something else.
  void receives(MPI_Request request, int source, MPI_Comm comm);
  void receives_nothing(MPI_Request request);
  // Before a call that waits for all or some of the requests, and after it; `source` is that of
  // its status, if there is only one request.
  Sender awaited(int count, const MPI_Request* requests);
  void waited(OpenCall& call, const Sender& sender, int source);

  // Persistent sends: what each start of `request` sends.
  void prepare(MPI_Request request, std::uint64_t bytes, int dest, MPI_Comm comm);
  void started(OpenCall& call, MPI_Request request);
  void forget_request(MPI_Request request);

  void adopt(MPI_Comm comm);
  void adopt_like(MPI_Comm comm, MPI_Comm parent);
  void forget_comm(MPI_Comm comm);
  void name(MPI_Comm comm, const char* name);
  mpi_api::CommShape shape(MPI_Comm comm);

 private:
  // Held where several threads may call at once.
  class Lock {
   public:
    explicit Lock(Profiler& profiler)
        : flag_(profiler.several_threads_ ? &profiler.busy_ : nullptr) {
      // Whoever holds it may want this core.
      while (flag_ && flag_->test_and_set(std::memory_order_acquire)) ::sched_yield();
    }
    ~Lock() {
      if (flag_) flag_->clear(std::memory_order_release);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    std::atomic_flag* flag_;
  };

  struct Extent {
    std::uint64_t base;
    std::uint64_t end;
  };
  struct Prepared {
    std::uint64_t bytes;
    int dest;
    MPI_Comm comm;
  };

  bool open_file(const Settings& settings);
  bool start_tables(int ranks);
  void calibrate();
  void read_both_clocks(std::uint64_t& ticks, std::uint64_t& ns) const;
  trace::SiteRecord* find_site(Fn fn, const callers::Chain& chain) const;
  trace::SiteRecord& current_site(OpenCall& call) const;
  trace::SiteRecord* site_of(Fn fn, const callers::CallPoint& point);
  bool by_python(std::uint64_t address) const;
  bool note_extension(std::uint64_t address);
  trace::SiteRecord* new_site(Fn fn, const callers::Chain& chain);
  void remember_object(std::uint64_t address);
  void count_size(OpenCall& call, trace::Direction direction, std::uint64_t bytes,
                  const ProfiledComm* comm);
  void count_message(OpenCall& call, std::uint64_t bytes, int dest, MPI_Comm comm);
  void count_wait(OpenCall& call, std::uint32_t sender);

  trace::RunFile file_;  // rank 0: the profile, as long as the run goes on
  trace::CountersWriter writer_;
  trace::RankRecord* rank_ = nullptr;
  SharedTable<trace::SiteRecord> sites_;
  SharedTable<trace::SizeRecord> sizes_;
  SharedTable<trace::PeerRecord> peers_;
  SharedTable<trace::WaitRecord> waits_;
  SharedTable<trace::ObjectRecord> objects_;
  ProfileComms comms_;
  callers::StackWalker walker_;
  // Once a library that Python programs call has called; these are known.
  std::unique_ptr<callers::PythonLines> python_;
  std::vector<Extent> extensions_;
  std::unordered_map<std::uint64_t, Prepared> prepared_;
  HandleMap<Sender> receives_;  // also those that are over, until their handles are used again
  std::string output_;
  int depth_ = 1;
  int world_rank_ = 0;
  bool even_counter_ = false;
  bool several_threads_ = false;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::uint64_t off_since_ = 0;  // 0: on
  // Calls since the clocks were compared, and after how many they are again: first after one, since
  // a run may die early.
  std::uint32_t since_clocks_ = 0;
  std::uint32_t calls_between_clocks_ = 1;
};

extern Profiler profiler;

// Whether wrappers measure their calls.
extern bool profiling;

}  // namespace foretrace::capture
