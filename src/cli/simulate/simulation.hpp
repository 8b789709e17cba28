// Simulation: what `simulate` was told, made into what the engine needs.
//
// Reads the machine model, the topology and the operations once; every run then
// has its own source, timing and network, so that runs can go on side by side.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "architecture/flit_region.hpp"
#include "architecture/message_network.hpp"
#include "cli/words/architecture_file.hpp"
#include "compute/rules.hpp"
#include "compute/spec.hpp"
#include "live/live_source.hpp"
#include "machine/ideal.hpp"
#include "machine/loggps.hpp"
#include "machine/machine_model.hpp"
#include "sim/engine.hpp"
#include "sim/program.hpp"
#include "sim/text/goal_program.hpp"
#include "sim/text/ti_trace.hpp"
#include "sim/trace_source.hpp"
#include "topology/placement.hpp"
#include "topology/topology.hpp"
#include "trace/trace.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::cli {

// The options, as they were given.
struct SimulationOptions {
  std::string input;     // FILE.goal, FILE.ti, else a trace; live: the program's command line
  int live_ranks = 0;    // > 0: a program runs live
  int spawn = 0;         // live: so many more ranks may be started by the program
  std::string live_mpi;  // the MPI that it was built for
  std::string machine;
  std::string bound = "avg";
  std::string compute = "recorded";
  bool is_compute_given = false;
  std::string scale_from;
  std::string slower;                // as compute::parse_slower() reads it
  int sample = 0;                    // live: --sample
  bool in_other_state = false;       // of the machine: machine/state.hpp
  bool allow_invalid = false;        // functions that the measurement calls INVALID may be used
  ArchitectureOptions architecture;  // of arch:FILE
  std::string network;               // empty: datasheet, or loggps where there is no machine
  std::string loggps;
  std::string topology;
  std::string placement;    // empty: block on a topology, else as recorded
  int ranks_per_node = 0;   // without a topology; 0: not said
  std::string collectives;  // empty: equation with datasheet, else algorithm
  std::string wildcards = "recorded";
  std::string progress;  // empty: calls where the machine model has P, else always
  std::string routing = "minimal";
  std::string reduction;           // time per byte
  double flops = 1e9;              // FILE.ti: floating point operations per second
  std::uint64_t derived_type = 0;  // FILE.ti: bytes of a derived datatype; 0: not told
  std::uint64_t block = 0;
  std::uint64_t packet_size = 2048;
  int buffer = 16;
};

// A factor that is "infinite" for links that messages share: their simulation needs messages that
// take some time.
inline constexpr double kVeryFast = 1e6;

// Factors on what the machine is like; 1 leaves it as it is.
struct MachineFactors {
  double latency = 1;
  double bandwidth = 1;
  double overhead = 1;
  double compute = 1;
  std::optional<Bytes> sync_threshold;  // instead of the machine's
};

// --network arch:FILE.
struct ArchitectureNetwork {
  architecture::Description description;
  architecture::FlatArchitecture flat;
  architecture::MessageGraph graph;
  bool flits = false;  // its switches count them
};

// Bytes on the link between two nodes of the topology, both ways, so many times as fast.
struct FasterLink {
  machine::NodeId from;
  machine::NodeId to;
  double factor = 1;
};

// One run out of the ordinary, for what-if questions.
struct Replay {
  MachineFactors factors;
  // What messages take; `nothing`: on a network where they take no time at all.
  machine::Portion portion = machine::Portion::whole;
  bool files_take_time = true;
  bool moves_always = false;                     // messages, as with --progress always
  std::optional<machine::LogGPSTimes> loggps;    // instead of the machine's
  machine::Added added;                          // to the model's equations
  const machine::MachineModel* model = nullptr;  // the same
  // The source's operations hold the final times of their computation.
  bool settled = false;
  sim::Dependences* dependences = nullptr;        // to be filled
  sim::MessageMatrix* messages = nullptr;         // the same
  const machine::Placement* placement = nullptr;  // instead of that of the options
  std::optional<FasterLink> faster_link;          // there has to be one
  std::function<void(const sim::Stats&)> tell;    // how far it is; empty: nobody asks
};

// What --network may be, with commas between.
std::string network_words();

// Whether every link has a latency and a bandwidth of its own.
bool links_have_speeds(const machine::Topology& topology);

class Simulation {
 public:
  // Reads all files. Throws UsageError and Error.
  explicit Simulation(const SimulationOptions& options);
  // Throws for options that make no sense whatever the input is, which is not read.
  static void check(const SimulationOptions& options);

  int ranks() const { return ranks_; }
  int spare_ranks() const { return options_.spawn; }  // of these: not there from the beginning
  const machine::MachineModel& model() const { return model_; }
  // Where the ranks stand, for the model's paths.
  const machine::Placement& standing() const { return placement_; }
  // One line each: what the reader of the input wants to say, options without
  // effect, parameters that nobody gave.
  std::vector<std::string> notes() const;
  // Of these, what is to be kept with the predicted times: how far the machine is to be trusted.
  std::vector<std::string> notes_of_model() const;
  // What was told when the trace was recorded.
  std::vector<std::string> notes_of_recording() const;
  // " of Cray T3D (network flow on torus:4x4, collectives openmpi)".
  std::string where() const;
  // What the predicted trace says of itself.
  trace::TraceInfo info() const;
  // What is simulated, if it is a trace; nullptr: something else.
  trace::TraceReader* recorded() const { return reader_.get(); }
  // Whether the recorded run, if it is one, came to its end.
  bool sealed() const { return !reader_ || reader_->sealed(); }
  const machine::Topology* topology() const { return topology_ ? &*topology_ : nullptr; }
  // By rank; nullptr: it is all the same where a rank runs.
  const machine::Placement* placement() const { return uses_topology() ? &placement_ : nullptr; }

  // Whether all times come from the model's equations; whether ranks compute.
  bool equations_alone() const { return network_ == sim::NetworkKind::datasheet && !algorithms_; }
  // Whether collectives are messages: those that were not measured, all of them.
  bool has_algorithms() const { return algorithms_.has_value(); }
  bool expands_collectives() const { return algorithms_ && !measured_collectives_; }
  // --compute, where that takes no time for what a program sleeps; else "".
  std::string compute_without_sleep() const {
    return compute::leaves_sleep_out(spec_.kind) ? compute::format_spec(spec_) : std::string();
  }
  // Whether computation is what the program announces.
  bool counts_announcements() const { return spec_.kind == compute::Kind::annotated; }
  bool computes() const { return spec_.kind != compute::Kind::none; }

  // What the processes of a live run have to measure.
  live::Measured live_compute() const;
  // By rank, its node; empty where every rank has a node of its own, or none is known.
  std::vector<std::int32_t> nodes() const;
  // The same, empty only where none is known.
  std::vector<std::int32_t> placed_nodes() const;
  // Messages of fewer bytes are sent without waiting for the receiver.
  Bytes eager_bytes() const;

  // The operations, to be used up by one run.
  std::unique_ptr<sim::Source> open();
  // Those of a running program, with the times that --compute gives them;
  // nullptr: as they are.
  std::unique_ptr<sim::Source> with_times(sim::Source& source) const;
  // The same, for any number of runs, one after the other; after prepare_sharing(), which
  // keeps the operations of a trace in memory, also at once.
  std::unique_ptr<sim::Source> open_shared() const;
  void prepare_sharing();

  sim::SimulateResult run(sim::Source& source, sim::Sink& sink,
                          const MachineFactors& factors = {}) const {
    Replay replay;
    replay.factors = factors;
    return run(source, sink, replay);
  }
  sim::SimulateResult run(sim::Source& source, sim::Sink& sink, const Replay& replay) const;

  sim::NetworkKind network() const { return network_; }
  // Whether messages move only while their receivers are in MPI.
  bool moves_in_calls() const {
    return options_.progress != "always" && machine::attended_from(model_).has_value();
  }
  // What the machine's patterns were off by on this network (network_choice.hpp); empty where it is
  // not the machine's own.
  std::vector<double> pattern_errors() const;
  // arch:FILE; nullptr: another network.
  const ArchitectureNetwork* architecture() const { return architecture_.get(); }
  bool by_flits() const { return architecture_ && architecture_->flits; }
  // What happens on it is written down there by the runs from now on.
  void record_messages(architecture::Recording* recording) { recording_ = recording; }
  // The parameters in force.
  // With some set anew, some more.
  machine::LogGPSTimes loggps_with(const machine::Settings& set) const {
    return machine::plus(machine::loggps_times(model_, machine::merge(loggps_, set.values), bound_),
                         set.added);
  }
  machine::LogGPSTimes loggps() const { return machine::loggps_times(model_, loggps_, bound_); }

 private:
  struct WithoutInput {};
  Simulation(const SimulationOptions& options, WithoutInput);
  void set_network();
  // What the names of a recorded run's calls tell; complete when the run has been read.
  std::vector<std::string> notes_of_calls() const;
  // Whether other ranks share a node here than did where the program was recorded.
  bool places_otherwise_than_recorded() const;
  void choose_network();
  void place_ranks();
  machine::Placement recorded_placement() const;
  // Whether it makes a difference on which nodes the ranks are.
  bool places_matter() const;
  // By rank the number of its node, as placed or else as recorded; empty: not known.
  std::vector<std::int32_t> nodes_of_ranks() const;
  // By rank, how many ranks compute on its node; empty: not known.
  std::vector<compute::NodeRanks> node_ranks() const;
  void set_architecture(const std::string& path);
  void set_collectives();
  void read_input();
  std::unique_ptr<sim::TraceSource> read_source() const;
  bool counts() const;
  void check_compute() const;
  void set_compute_step();
  std::unique_ptr<sim::Source> with_times(std::unique_ptr<sim::Source> source) const;
  bool uses_topology() const;
  bool links_alone() const;
  void check_messages_are_known() const;
  std::string machine_name() const;
  std::string bound_note() const;
  std::vector<std::string> notes_of_derived() const;
  std::vector<std::string> notes_of_idle_options() const;
  sim::Wildcards wildcards() const;
  sim::SimulateOptions engine_options(const Replay& replay,
                                      std::optional<machine::Topology>& topology) const;

  SimulationOptions options_;
  compute::Spec spec_;
  compute::Rules rules_;
  machine::ComputeCosts costs_;
  machine::MachineModel model_;
  machine::Bound bound_ = machine::Bound::avg;
  machine::LogGPS loggps_;
  architecture::Recording* recording_ = nullptr;
  sim::NetworkKind network_ = sim::NetworkKind::datasheet;
  bool cut_through_ = false;
  std::optional<double> reduce_per_byte_;  // nothing: as the model says
  std::optional<machine::Topology> topology_;
  std::shared_ptr<const ArchitectureNetwork> architecture_;
  machine::Placement placement_;
  std::string chosen_;          // --network auto: which one, and why
  std::vector<double> slower_;  // by rank; empty: none is
  std::string placed_;          // why the ranks stand there: a note; empty: none is needed
  std::optional<sim::AlgorithmTable> algorithms_;
  bool measured_collectives_ = false;
  bool network_said_ = false;
  // Where the operations are: one of these.
  std::unique_ptr<trace::TraceReader> reader_;
  std::optional<sim::GoalProgram> goal_;
  std::optional<sim::TiTrace> ti_;
  std::shared_ptr<sim::Program> program_;
  int ranks_ = 0;
};

}  // namespace foretrace::cli
