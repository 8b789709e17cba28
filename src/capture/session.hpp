// Session: the capture library's state in one process between MPI_Init and
// MPI_Finalize: the rank's clock, its events on their way to the trace, and
// the tables of communicators and requests.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/call_sites.hpp"
#include "capture/clock_sync.hpp"
#include "capture/comm_table.hpp"
#include "capture/computation.hpp"
#include "capture/functions.hpp"
#include "capture/piggyback.hpp"
#include "capture/request_table.hpp"
#include "capture/settings.hpp"
#include "machine/machine_model.hpp"
#include "machine/timing.hpp"
#include "trace/annotations.hpp"
#include "trace/event.hpp"
#include "trace/trace_writer.hpp"

namespace foretrace::capture {

class Session {
 public:
  // After the real MPI_Init; collective. Leaves the session inactive, with a
  // line on standard error, where it cannot work.
  void start(Fn fn);
  // Before the real MPI_Finalize; collective.
  void stop(Fn fn);
  // MPI_Abort was called.
  void abort(Fn fn, int code);

  bool active() const { return active_; }
  // Whether calls of the calling thread are followed. Where the program may
  // call MPI from several threads at once it is the one that initialised MPI.
  bool follows_this_thread() const;
  bool predicting() const { return timing_.has_value(); }
  const machine::Timing& timing() const { return *timing_; }
  bool virtual_wtime() const { return predicting() && settings_.virtual_wtime; }

  // An event begins: the computation before it ends here. One at a time.
  trace::Event& open(trace::EventKind kind, Fn fn);
  // It ends now (by the recording's clock; in virtual time it took nothing).
  void close();
  // It ends at `leave` of the virtual clock, having waited for `wait`.
  void close_at(Time leave, Time wait);

  // It ends now and has no partners, whatever it was opened as; such calls in a
  // row are merged into one event.
  void close_as_call();

  // Virtual seconds, now (inside a call) or at the program's end.
  double clock_seconds() const { return now_.seconds(); }

  // What a call takes that has an equation of its own name; predict only.
  Time call_cost(Fn fn);
  Time call_cost(Fn fn, Bytes bytes);

  void add_steps(double steps) { computation_.add_steps(steps); }
  // The program's own marks (include/foretrace.h).
  void phase_begin(const char* name);
  void phase_end(const char* name);
  void mark(const char* name, double value);
  // Whether the kernel is to be executed (--sample).
  bool kernel_begin(const char* name, double key);
  void kernel_end(const char* name);
  // MPI_Pcontrol: from now on only what a replay needs is logged, or all again.
  void set_logging(bool on);

  trace::CommId comm_id(CommInfo& comm);

  CommTable comms;
  RequestTable requests;
  Piggyback piggyback;

 private:
  bool open_trace();
  void start_prediction();
  std::string start_computation();
  void begin_event(trace::Event& event, trace::EventKind kind, trace::NameId name,
                   const char* text);
  void write_event();
  void write_pending();
  void annotate(trace::EventKind kind, const char* name, std::uint32_t annotation, double value);
  std::uint32_t annotation_number(const char* name);
  void complain_of_phases() const;
  bool complain_of_losses() const;
  void finish_trace(bool lost, const trace::Clocks& clocks) const;
  trace::NameId name_id(Fn fn);
  Time wall_now() const;

  bool active_ = false;
  bool one_thread_ = false;  // follow the initial thread alone
  Settings settings_;
  std::optional<machine::MachineModel> model_;
  std::optional<machine::Timing> timing_;
  trace::TraceWriter writer_;
  CallSites sites_{this};
  Computation computation_;
  Time now_;  // cpu: CPU time so far; virtual: the rank's clock; wall: last reading
  ClockSync clocks_;
  std::int64_t wall_zero_ns_ = 0;
  bool logging_ = true;
  Time unlogged_;  // computation before calls that were not logged
  double unlogged_steps_ = 0;

  trace::Event event_;
  trace::Event pending_;  // the calls that are being merged
  bool has_pending_ = false;
  Time pending_busy_;  // time inside them
  Fn fn_{};            // the function of event_
  std::array<std::int32_t, static_cast<std::size_t>(Fn::kCount)>
      name_ids_{};  // 0: none, else id + 1
  std::array<std::int64_t, static_cast<std::size_t>(Fn::kCount)> call_costs_{};  // ps + 1
  trace::Annotations annotations_;
  std::vector<trace::NameId> annotation_ids_;  // by its numbers
};

extern Session session;

// Above 0 inside a wrapper: calls from there are the MPI library's, not the
// program's.
extern thread_local int wrapper_depth;
// Where the program made the call that a wrapper is handling.
extern thread_local CallPoint program_call;
// The thread that initialised MPI.
extern thread_local bool initial_thread;

inline bool Session::follows_this_thread() const {
  return !one_thread_ || initial_thread;
}

// The first thing in a wrapper; calls inside one are not the program's.
inline void note_call(const void* address, const void* cfa) {
  if (wrapper_depth == 0) program_call = {address, cfa};
}

// Marks the extent of a wrapper. False: just make the real call.
class Inside {
 public:
  Inside() : ours_(session.active() && wrapper_depth == 0 && session.follows_this_thread()) {
    wrapper_depth += ours_;
  }
  ~Inside() { wrapper_depth -= ours_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  explicit operator bool() const { return ours_; }

 private:
  bool ours_;
};

}  // namespace foretrace::capture
