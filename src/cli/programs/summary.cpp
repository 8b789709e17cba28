#include "cli/programs/summary.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "cli/machines/function_list.hpp"
#include "cli/traces/call_places.hpp"
#include "cli/traces/damage.hpp"
#include "cli/traces/left_messages.hpp"
#include "cli/words/option_values.hpp"
#include "compute/annotations_note.hpp"
#include "machine/measurement.hpp"
#include "machine/moving.hpp"
#include "machine/path.hpp"
#include "machine/timing.hpp"
#include "trace/exit_name.hpp"
#include "trace/told.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::cli {
namespace {

struct Outcome {
  Time time;
  std::uint64_t calls = 0;
  std::map<std::string, std::uint64_t> untreated;  // function -> calls
  std::vector<std::string> unfinished;             // one sentence a rank
  bool announced = false;                          // it told its computation
  bool aborted = false;                            // by MPI_Abort, whose code is the status
  MessageBalance messages;
};

std::string at(const trace::Site* site) {
  return site ? " at " + place_teller()(*site) : "";
}

// A call of a rank, and which of its events it is; 0: none.
struct Seen {
  std::uint64_t event = 0;
  trace::NameId name = 0;
  trace::SiteId site = 0;
};

std::string describe_exit(const trace::TraceReader& reader, WorldRank rank, const Seen& last) {
  return "rank " + std::to_string(rank.value) + " left without MPI_Finalize, after " +
         reader.name(rank, last.name) + " (event " + std::to_string(last.event) + ")" +
         at(last.site ? &reader.site(rank, last.site) : nullptr);
}

std::string describe_end(const trace::TraceReader& reader, WorldRank rank, const trace::Event* last,
                         std::uint64_t events) {
  const std::string who = "rank " + std::to_string(rank.value);
  if (const std::string* open = reader.open_call(rank))
    return who + " was last seen in " + *open + " (event " + std::to_string(events + 1) + ")" +
           at(reader.open_site(rank));
  if (!last) return who + " left nothing";
  const std::string where =
      reader.name(rank, last->name) + " (event " + std::to_string(events) + ")";
  if (last->kind == trace::EventKind::aborted)
    return who + " called MPI_Abort with code " + std::to_string(-last->code - 1);
  const bool within = last->kind == trace::EventKind::phase_begin;
  return who + " was last seen " + (within ? "in " : "after ") + where +
         at(last->site ? &reader.site(rank, last->site) : nullptr);
}

// The rules of a prediction, and who stands where in it.
struct Charging {
  const machine::Timing* timing = nullptr;
  machine::RankPaths paths;
  int ranks = 0;

  const machine::Timing& between(WorldRank a, WorldRank b) const {
    return timing->on(paths.between(a, b));
  }
};

// Charges once more for the event of `rank`, so that the rules know with what they were
// asked. `members`: of its communicator.
void charge(const Charging& rules, WorldRank rank, const trace::Event& event, std::string_view name,
            std::span<const WorldRank> members) {
  using trace::EventKind;
  const Time zero;
  const machine::Timing& timing = rules.between(rank, event.send.peer);
  if (event.send.peer.valid() &&
      (event.kind == EventKind::send || event.kind == EventKind::sendrecv)) {
    if (timing.is_rendezvous(event.mode, event.send.bytes))
      timing.send_rendezvous_leave(zero, zero, event.send.bytes);
    else
      timing.send_eager_leave(zero, event.mode, event.send.bytes);
  }
  if (event.send.peer.valid() && event.kind == EventKind::isend) {
    timing.isend_post_leave(zero, event.send.bytes);
    timing.isend_end(zero, zero, event.mode, event.send.bytes, false);
    timing.isend_complete_minimum(event.send.bytes);
  }
  const machine::Timing& receiving = rules.between(rank, event.recv.peer);
  if (event.kind == EventKind::irecv && (event.recv.peer.valid() || event.recv.any_source))
    receiving.irecv_post_leave(zero, event.recv.bytes);
  if (event.recv.peer.valid() && event.kind == EventKind::recv)
    receiving.recv_leave(zero, {zero, event.recv.bytes, false});
  if (event.recv.peer.valid() && event.kind == EventKind::sendrecv)
    receiving.sendrecv_recv_leave(zero, {zero, event.recv.bytes, false});
  if (event.send.piece != 0) timing.packing(event.send.bytes, Bytes(event.send.piece));
  if (event.recv.piece != 0) receiving.unpacking(event.recv.bytes, Bytes(event.recv.piece));
  // Of files: others carry no bytes.
  if (trace::combines(event))
    timing.combining_call(name, rules.ranks, event.reduction, event.bytes);
  else if (event.kind == EventKind::call && event.one_sided == machine::OneSided::none)
    machine::moving_time(timing, name, rules.ranks, event.bytes);
  if (machine::is_access(event.one_sided)) timing.access_time(event.one_sided, event.bytes);
  if (machine::is_lock(event.one_sided) && event.send.peer.valid()) timing.lock_time();
  for (const trace::Completion& completion : event.completions) {
    if (!completion.source.valid()) continue;
    const machine::Timing& from = rules.between(rank, completion.source);
    from.irecv_end(zero, {zero, completion.bytes, false});
    from.irecv_complete_minimum(completion.bytes);
  }
  const bool collective =
      event.kind == EventKind::collective || event.kind == EventKind::icollective;
  if (!collective || event.collective >= machine::Cost::kCount) return;
  const machine::Timing& within = rules.timing->on(rules.paths.within(members));
  const int size = static_cast<int>(members.size());
  within.collective_leave(zero, event.collective, size, event.bytes, name);
  if (event.kind == EventKind::icollective)
    within.icollective_post_leave(zero, event.collective, size, event.bytes);
}

// `timing`: of a prediction, else nullptr.
Outcome look_at(trace::TraceReader& reader, const machine::Timing* timing) {
  Outcome outcome;
  Charging rules{timing, {}, reader.ranks()};
  machine::Placement placement;
  for (const std::int32_t node : reader.info().nodes) placement.emplace_back(node);
  rules.paths = machine::RankPaths(std::move(placement));
  for (int r = 0; r < reader.ranks(); ++r) {
    const WorldRank rank(r);
    trace::Event event;
    std::uint64_t events = 0;
    Seen before;
    Seen last;
    std::vector<std::uint64_t> calls;  // of each name that carries no time
    formats::Messages messages(rank);
    while (reader.next(rank, event)) {
      for (const formats::Message& message : messages.of(event, reader))
        outcome.messages.add(message);
      ++events;
      before = std::exchange(last, {events, event.name, event.site});
      outcome.announced = outcome.announced || event.steps != 0;
      if (timing)
        charge(rules, rank, event, reader.name(rank, event.name),
               uses_comm(event) ? std::span<const WorldRank>(reader.comm(rank, event.comm).members)
                                : std::span<const WorldRank>());
      if (event.kind != trace::EventKind::call) continue;
      if (calls.size() <= event.name) calls.resize(event.name + 1, 0);
      calls[event.name] += event.count;
    }
    outcome.calls += events;
    // A run is over where it enters MPI_Finalize.
    const bool finalized = events > 0 && event.kind == trace::EventKind::finalize;
    outcome.time = std::max(outcome.time, finalized ? event.enter : event.leave);
    for (trace::NameId name = 0; name < calls.size(); ++name) {
      if (calls[name] == 0) continue;
      const std::string& function = reader.name(rank, name);
      if (carries_no_time(function)) outcome.untreated[function] += calls[name];
    }
    outcome.aborted = outcome.aborted || (events > 0 && event.kind == trace::EventKind::aborted);
    if (finalized && reader.name(rank, event.name) == trace::kExitName)
      outcome.unfinished.push_back(describe_exit(reader, rank, before));
    else if (!finalized)
      outcome.unfinished.push_back(describe_end(reader, rank, events ? &event : nullptr, events));
  }
  return outcome;
}

// What is to be said of the times, whether they were predicted or measured.
std::vector<std::string> notes_of(const Outcome& outcome,
                                  const machine::Timing::Unknowns& unknowns) {
  std::vector<std::string> notes;
  std::string list;
  for (const auto& [name, calls] : outcome.untreated)
    list += (list.empty() ? "" : ", ") + name + " (" + std::to_string(calls) + ")";
  if (!list.empty()) notes.push_back(note_of_untimed(list));
  for (std::string& note : machine::notes_of(unknowns)) notes.push_back(std::move(note));
  return notes;
}

}  // namespace

void add_capture_options(CLI::App& app, CaptureRun& run) {
  add_program_options(app, run);
  app.add_option("-o,--output", run.output,
                 "The trace to write; default: foretrace.ftr, or the next number that is free, as "
                 "foretrace-2.ftr")
      ->check([](const std::string& name) {
        return name.empty() ? std::string("expected a file's name, found ''") : std::string();
      });
}

void add_program_options(CLI::App& app, CaptureRun& run) {
  app.add_option("-n", run.ranks, "Number of ranks to start; leave out under mpirun or srun")
      ->check(in_range(1, 1 << 24));
  app.add_option("--mpi", run.mpi, "The program's MPI, if it cannot be seen: openmpi or mpich")
      ->check(offers(kMpiWords));
  app.add_option("--yield", run.yield,
                 "Whether ranks that wait give their cores away: auto (where there are more ranks "
                 "than cores), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_option("program", run.program, "After --: the program and its arguments");
  app.positionals_at_end();
}

void add_sample_option(CLI::App& app, int& samples) {
  app.add_option("--sample", samples,
                 "Execute each kernel that the program marks (FORETRACE_KERNEL_RUNS) so often on "
                 "each rank, then only take its time; the program's results are lost")
      ->check(in_range(1, 1 << 20));
}

void warn_of_samples(int samples) {
  if (samples > 0)
    std::fprintf(stderr,
                 "foretrace: --sample %d: kernels are left out once their time is known; what the "
                 "program computes and prints is NOT what it would be\n",
                 samples);
}

void add_start_option(CLI::App& app, std::string& start, bool or_never) {
  std::string help = "Whether to begin at the start of the program, or at MPI_Pcontrol(1): on, off";
  std::vector<std::string> words{"on", "off"};
  if (or_never) {
    help += "; never: log no call, only what the run takes";
    words.emplace_back("never");
  }
  app.add_option("--start", start, help)->check(CLI::IsMember(words))->default_str("on");
}

void add_wtime_option(CLI::App& app, std::string& wtime, const char* what) {
  app.add_option("--wtime", wtime, what)
      ->check(CLI::IsMember({"virtual", "real"}))
      ->default_str("virtual");
}

void add_waits_option(CLI::App& app, std::string& waits) {
  app.add_option("--waits", waits,
                 "What waiting for files or other processes takes where CPU time is measured: "
                 "measured (as long as here) or none")
      ->check(CLI::IsMember({"measured", "none"}))
      ->default_str("measured");
}

namespace {

// False: not all that was recorded is there.
bool print_run_summary(const CaptureRun& run, bool ended_early,
                       const machine::MachineModel* model) {
  const std::string& path = run.output;
  trace::TraceReader reader(path);
  std::optional<machine::Timing> timing;
  if (model) timing.emplace(*model, machine::Bound::avg);
  const Outcome outcome = look_at(reader, timing ? &*timing : nullptr);
  if (tell_damage(path, reader.damage()) != 0) return false;
  for (const std::string& sentence : outcome.unfinished)
    std::fprintf(stderr, "foretrace: %s\n", sentence.c_str());
  const auto unknowns = timing ? timing->unknowns() : machine::Timing::Unknowns();
  std::vector<std::string> notes = notes_of(outcome, unknowns);
  const bool doubtful = !unknowns.unreliable.empty();
  const bool refused = doubtful && !run.allow_invalid;
  if (doubtful && !refused) notes.push_back(machine::doubt_of(unknowns.unreliable));
  for (const std::string& note : notes) std::fprintf(stderr, "foretrace: %s\n", note.c_str());
  if (refused) {
    std::fprintf(stderr, "foretrace: %s\n", machine::refusal_of(unknowns.unreliable).c_str());
    return false;
  }
  notes.insert(notes.begin(), run.notes.begin(), run.notes.end());
  if (model) trace::keep_notes(path, notes);
  if (!outcome.messages.is_even()) tell_left_messages(reader);
  if (outcome.announced && !run.is_compute_given)
    std::fprintf(stderr, "foretrace: %s\n", compute::kAnnotationsUnused);
  const trace::TraceInfo& info = reader.info();
  const char* kind = info.clock == trace::Clock::cpu    ? "longest CPU time"
                     : info.clock == trace::Clock::wall ? "measured time"
                                                        : "predicted time";
  if (info.clocks.hosts > 1)
    std::fprintf(stderr,
                 "foretrace: %d hosts, whose clocks agree with rank 0's to within %.3g us\n",
                 info.clocks.hosts, info.clocks.error.seconds() * 1e6);
  std::string on = std::to_string(info.ranks) + (info.ranks == 1 ? " rank" : " ranks");
  if (!info.machine.empty()) on += " of " + info.machine;
  if (!reader.sealed()) on += ", as far as the run came";
  std::fprintf(stderr, "foretrace: %s %.6g s on %s, %llu events -> %s\n", kind,
               outcome.time.seconds(), on.c_str(), static_cast<unsigned long long>(outcome.calls),
               path.c_str());
  // Whoever could not seal it has said so. MPICH's launcher does not mind a rank that leaves
  // without MPI_Finalize.
  return reader.sealed() || (ended_early && outcome.aborted);
}

}  // namespace

int finish_run(const CaptureRun& run, const LaunchResult& result, bool must_trace,
               const machine::MachineModel* model) {
  const bool whole =
      result.traced ? print_run_summary(run, result.ended_early, model)
                    : !result.gave_up && !must_trace && !(run.is_output_named && run.ranks > 0);
  return result.status == 0 && !whole ? 1 : result.status;
}

}  // namespace foretrace::cli
