#include "cli/simulate/simulation.hpp"
#include "cli/traces/any_trace.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include "base/error.hpp"
#include "cli/machines/function_list.hpp"
#include "cli/simulate/network_choice.hpp"
#include "cli/system/process.hpp"
#include "cli/traces/call_places.hpp"
#include "compute/annotations_note.hpp"
#include "compute/slower.hpp"
#include "compute/work_counter.hpp"
#include "machine/measurement.hpp"
#include "machine/state.hpp"
#include "sim/computed_source.hpp"
#include "sim/memory_source.hpp"
#include "sim/text/goal_parser.hpp"
#include "sim/text/goal_source.hpp"
#include "sim/text/ti_source.hpp"
#include "sim/trace_source.hpp"
#include "topology/builders.hpp"
#include "topology/placement.hpp"
#include "trace/damage.hpp"

namespace foretrace::cli {
namespace {

machine::Bound parse_bound(const std::string& name) {
  return name == "min"   ? machine::Bound::min
         : name == "max" ? machine::Bound::max
                         : machine::Bound::avg;
}

struct NetworkName {
  std::string_view name;
  sim::NetworkKind kind;
  bool cut_through;
};

constexpr NetworkName kNetworks[] = {
    {"datasheet", sim::NetworkKind::datasheet, false},
    {"loggps", sim::NetworkKind::loggps, false},
    {"hops", sim::NetworkKind::hops, false},
    {"hops:store-and-forward", sim::NetworkKind::hops, false},
    {"hops:cut-through", sim::NetworkKind::hops, true},
    {"bus", sim::NetworkKind::bus, false},
    {"flow", sim::NetworkKind::flow, false},
    {"packet", sim::NetworkKind::packet, false},
};

std::string network_names(const char* between) {
  std::string all;
  for (const NetworkName& network : kNetworks) all += std::string(network.name) + between;
  return all;
}

const NetworkName& network_called(const std::string& name) {
  for (const NetworkName& network : kNetworks)
    if (network.name == name) return network;
  throw UsageError("--network " + name + ": there are " + network_names(", ") + "arch:FILE, auto");
}

bool needs_topology(sim::NetworkKind kind) {
  return kind == sim::NetworkKind::hops || kind == sim::NetworkKind::flow ||
         kind == sim::NetworkKind::packet;
}

// Functions without a rule that the trace has as calls alone. A live run knows what they do, and
// has among their events what they are. Read anew: others may be reading the simulation's own.
std::set<std::string> untimed_calls(const std::string& trace) {
  trace::TraceReader reader(trace);
  std::set<std::string> calls, timed;
  trace::Event event;
  for (int r = 0; r < reader.ranks(); ++r)
    while (reader.next(WorldRank(r), event)) {
      const std::string& name = reader.name(WorldRank(r), event.name);
      if (carries_no_time(name))
        (event.kind == trace::EventKind::call ? calls : timed).insert(name);
    }
  std::erase_if(calls, [&timed](const std::string& name) { return timed.contains(name); });
  return calls;
}

}  // namespace

std::string network_words() {
  return network_names(",") + "arch:,auto";
}

Simulation::Simulation(const SimulationOptions& options, WithoutInput)
    : options_(options),
      spec_(compute::parse_spec(options.compute, "--compute")),
      bound_(parse_bound(options.bound)),
      loggps_(machine::parse_loggps(options.loggps)) {
  if (options.in_other_state && options.machine.empty())
    throw UsageError("--other-state is of a machine's model: give --machine");
  if (!options.machine.empty())
    model_ = machine::read_machine_in_state(options.machine, options.in_other_state);
  if (loggps_.sync_threshold) model_.loggps.sync_threshold = loggps_.sync_threshold;
  set_network();
  set_collectives();
  if (!options_.machine.empty()) costs_ = machine::read_compute_costs(options_.machine);
}

Simulation::Simulation(const SimulationOptions& options) : Simulation(options, WithoutInput()) {
  read_input();
  check_compute();
  set_compute_step();
  place_ranks();
  rules_ = compute::read_rules(spec_, options_.scale_from, costs_, ranks_, node_ranks());
  slower_ =
      compute::slower_by_rank(compute::parse_slower(options_.slower), nodes_of_ranks(), ranks_);
}

void Simulation::check(const SimulationOptions& options) {
  if (options.live_ranks > 0) {
    const Simulation reads_no_input(options);
    return;
  }
  Simulation simulation(options, WithoutInput());
  simulation.set_compute_step();
  // How many ranks a replayed run must have is known once the input is read.
  if (simulation.spec_.kind != compute::Kind::replayed)
    compute::read_rules(simulation.spec_, options.scale_from, simulation.costs_, 0, {});
}

std::vector<std::int32_t> Simulation::nodes() const {
  if (topology_ && topology_->ranks_per_node() == 1 && options_.ranks_per_node == 0) return {};
  return placed_nodes();
}

std::vector<std::int32_t> Simulation::placed_nodes() const {
  std::vector<std::int32_t> nodes;
  for (const machine::NodeId node : placement_)
    nodes.push_back(static_cast<std::int32_t>(node.value));
  return nodes;
}

Bytes Simulation::eager_bytes() const {
  constexpr Bytes kAll{UINT64_MAX};
  Bytes least =
      std::min(model_.loggps.sync_threshold.value_or(kAll), loggps().sync_threshold.value_or(kAll));
  for (const auto& [path, times] : machine::inner_times(model_, bound_))
    least = std::min(least, times.sync_threshold.value_or(kAll));
  return least;
}

void Simulation::set_network() {
  const bool has_machine = !options_.machine.empty();
  if (!options_.topology.empty())
    topology_ = machine::make_topology(options_.topology);
  else if (model_.topology)
    topology_ = machine::topology_of(model_);
  network_said_ = !options_.network.empty();
  if (!network_said_) options_.network = has_machine ? "datasheet" : "loggps";
  if (options_.network == "auto") choose_network();
  if (options_.network.starts_with("arch:")) {
    set_architecture(options_.network.substr(5));
  } else {
    const NetworkName& network = network_called(options_.network);
    network_ = network.kind;
    cut_through_ = network.cut_through;
  }
  if (network_ == sim::NetworkKind::datasheet && !has_machine)
    throw UsageError(
        "--network datasheet needs --machine M.toml; without a machine choose --network loggps "
        "--loggps L=2us,o=500ns,G=0.08ns");
  if (architecture_) topology_ = *architecture_->graph.topology;
  if (needs_topology(network_) && !topology_)
    throw UsageError("--network " + options_.network +
                     " needs a topology: --topology T, for example torus:4x4");
  check_messages_are_known();
  if (has_machine || !options_.loggps.empty()) return;
  if (network_ == sim::NetworkKind::loggps || !topology_ || !links_have_speeds(*topology_))
    throw UsageError(
        "a machine is needed: --machine M.toml, or --loggps L=2us,o=500ns,G=0.08ns, or "
        "--network flow with speeds in --topology \"torus:4x4?latency=1us&bandwidth=1GB/s\"");
}

void Simulation::choose_network() {
  const auto choice = cli::choose_network(model_, topology_ ? &*topology_ : nullptr, bound_);
  if (!choice)
    throw UsageError(
        "--network auto: " +
        (options_.machine.empty()
             ? "there is no --machine"
             : options_.machine +
                   " holds no [[pattern]] exchange_ring or exchange_mesh of more than two ranks") +
        " to choose by; measure with more ranks, or name a network");
  options_.network = choice->scores[choice->chosen].network;
  chosen_ = text_of(*choice);
}

std::vector<double> Simulation::pattern_errors() const {
  const bool own = options_.topology.empty() && options_.loggps.empty() && !architecture_;
  if (!own) return {};
  return cli::pattern_errors(model_, topology_ ? &*topology_ : nullptr, bound_, network_);
}

void Simulation::set_architecture(const std::string& path) {
  auto made = std::make_shared<ArchitectureNetwork>();
  made->description = read_architecture(path);
  made->flat = architecture::elaborate(made->description, choices_of(options_.architecture));
  made->graph = architecture::message_graph(made->flat);
  made->flits = architecture::takes_flits(made->flat);
  // Where nothing is ever busy, messages do not meet: that is the network hops.
  const bool free = std::ranges::all_of(made->flat.entities,
                                        [](const auto& entity) { return entity.level == "hops"; });
  architecture_ = std::move(made);
  network_ = free ? sim::NetworkKind::hops : sim::NetworkKind::architecture;
}

void Simulation::set_collectives() {
  if (!options_.reduction.empty()) {
    const auto time = machine::parse_latency(options_.reduction);
    if (!time)
      throw UsageError("--reduction must be a time per byte such as 0.1ns, found '" +
                       options_.reduction + "'");
    reduce_per_byte_ = time->seconds();
  } else if (options_.input.ends_with(".ti") && options_.live_ranks == 0) {
    reduce_per_byte_ = 0;  // such traces say themselves what their reductions compute
  }
  if (options_.collectives.empty())
    options_.collectives = network_ == sim::NetworkKind::datasheet ? "equation" : "algorithm";
  const char* const library =
      model_.mpi_library.find("MPICH") != std::string::npos ? "mpich" : "openmpi";
  if (options_.collectives == "algorithm") options_.collectives = library;
  measured_collectives_ = options_.collectives == "measured";
  if (options_.collectives != "equation")
    algorithms_.emplace(measured_collectives_ ? library : options_.collectives);
}

void Simulation::read_input() {
  if (options_.live_ranks > 0) {
    ranks_ = options_.live_ranks + options_.spawn;
  } else if (options_.input.ends_with(".goal")) {
    goal_ = sim::read_goal(options_.input);
    ranks_ = goal_->ranks;
  } else if (options_.input.ends_with(".ti")) {
    sim::TiOptions ti;
    ti.speed = options_.flops;
    if (options_.derived_type > 0) ti.derived_type = Bytes(options_.derived_type);
    ti_ = sim::read_ti(options_.input, ti);
    ranks_ = static_cast<int>(ti_->ranks.size());
  } else {
    reader_ = std::make_unique<trace::TraceReader>(as_trace(options_.input));
    // What would be replayed is computation alone.
    if (reader_->info().options == "from=alog")
      throw Error(options_.input +
                  ": was made of an ALOG file, which tells no messages, so there are none to "
                  "simulate; foretrace report and timeline show what it has");
    ranks_ = reader_->ranks();
  }
}

// Whether steps are counts of what was executed.
bool Simulation::counts() const {
  return reader_ && compute::counter_of(reader_->info()) != compute::Counter::none;
}

void Simulation::set_compute_step() {
  if (spec_.kind == compute::Kind::counted)
    model_.compute_step = compute::cost_of(spec_.counter, costs_);
  if (spec_.step) model_.compute_step = *spec_.step;
}

// Whether what the operations hold is what --compute wants.
void Simulation::check_compute() const {
  const bool live = options_.live_ranks > 0;
  const compute::Counter has =
      reader_ ? compute::counter_of(reader_->info()) : compute::Counter::none;
  const std::string name(compute::name_of(spec_.counter));
  if (spec_.kind == compute::Kind::counted && (goal_ || ti_))
    throw UsageError("--compute counted is for programs; a text program says its times itself");
  if (spec_.kind == compute::Kind::counted && reader_ && has != spec_.counter)
    throw Error(options_.input + ": holds no counts of " + name +
                "; record the program with --count " + name);
  if (spec_.kind == compute::Kind::annotated && has != compute::Counter::none)
    throw Error(options_.input + ": holds counts of " + std::string(compute::name_of(has)) +
                " instead of the program's steps; use --compute counted:" +
                std::string(compute::name_of(has)) + ", or record it without --count");
  if (live && spec_.counter == compute::Counter::instructions) compute::check_instructions();
}

trace::TraceInfo Simulation::info() const {
  const bool live = options_.live_ranks > 0;
  trace::TraceInfo info;
  if (reader_)
    info = reader_->info();
  else
    info.program = options_.input;
  if (live) info.mpi = options_.live_mpi;
  info.ranks = ranks_;
  info.clock = trace::Clock::virtual_;
  info.origin = "simulate";
  info.machine = model_.name;
  const compute::Counter counts = live      ? spec_.counter
                                  : reader_ ? compute::counter_of(reader_->info())
                                            : compute::Counter::none;
  info.notes = notes_of_recording();
  info.options =
      "bound=" + options_.bound + " compute=" +
      (spec_.kind == compute::Kind::counted ? compute::format_spec(spec_) : options_.compute);
  if (counts != compute::Counter::none) info.options += " " + compute::counts_option(counts);
  if (options_.in_other_state) info.options += " state=other";
  if (!options_.slower.empty()) info.options += " slower=" + options_.slower;
  if (options_.sample > 0) info.options += " sample=" + std::to_string(options_.sample);
  if (options_.spawn > 0) info.options += " spawn=" + std::to_string(options_.spawn);
  const SimulationOptions initial;
  const auto add = [&info](const char* name, const std::string& value, const std::string& usual) {
    if (value != usual) info.options += std::string(" ") + name + "=" + value;
  };
  if (!equations_alone())
    info.options += " network=" + options_.network + " collectives=" + options_.collectives;
  add("loggps", options_.loggps, "");
  if (uses_topology()) add("topology", topology_->name(), "");
  if (uses_topology() || machine::knows_paths(model_)) {
    add("placement", options_.placement, initial.placement);
    if (options_.ranks_per_node > 0)
      add("ranks-per-node", std::to_string(options_.ranks_per_node), "");
  }
  info.nodes = nodes();
  add("wildcards", options_.wildcards, initial.wildcards);
  if (machine::attended_from(model_)) add("progress", moves_in_calls() ? "calls" : "always", "");
  add("reduction", options_.reduction, "");
  if (network_ == sim::NetworkKind::hops && !cut_through_ && options_.block > 0)
    add("block", std::to_string(options_.block), "");
  for (const std::string& level : options_.architecture.levels) add("level", level, "");
  for (const std::string& value : options_.architecture.parameters) add("parameter", value, "");
  if (network_ != sim::NetworkKind::packet && network_ != sim::NetworkKind::architecture)
    return info;
  add("packet-size", std::to_string(options_.packet_size), std::to_string(initial.packet_size));
  add("buffer", std::to_string(options_.buffer), std::to_string(initial.buffer));
  add("routing", options_.routing, initial.routing);
  return info;
}

sim::Wildcards Simulation::wildcards() const {
  return options_.wildcards == "arrival" ? sim::Wildcards::arrival : sim::Wildcards::recorded;
}

live::Measured Simulation::live_compute() const {
  switch (spec_.kind) {
    case compute::Kind::none:
      return live::Measured::nothing;
    case compute::Kind::annotated:
      return live::Measured::steps;
    case compute::Kind::counted:
      return spec_.counter == compute::Counter::blocks ? live::Measured::blocks
                                                       : live::Measured::instructions;
    case compute::Kind::measured:
    case compute::Kind::table:
    case compute::Kind::replayed:
      break;
  }
  return rules_.needs_cpu ? live::Measured::cpu : live::Measured::nothing;
}

// Reads all of the trace once; what is damaged is refused.
std::unique_ptr<sim::TraceSource> Simulation::read_source() const {
  auto source = std::make_unique<sim::TraceSource>(*reader_, wildcards());
  trace::refuse_damaged(*reader_);
  return source;
}

std::vector<std::string> Simulation::notes_of_calls() const {
  std::set<std::string> called;
  for (int r = 0; r < reader_->ranks(); ++r) {
    const WorldRank rank(r);
    for (trace::NameId id = 0; id < reader_->names(rank); ++id)
      called.insert(reader_->name(rank, id));
  }
  std::string untreated;
  if (std::ranges::any_of(called, carries_no_time))
    for (const std::string& name : untimed_calls(as_trace(options_.input)))
      untreated += (untreated.empty() ? "" : ", ") + name;
  std::vector<std::string> notes;
  if (!untreated.empty()) notes.push_back(note_of_untimed(untreated));
  if (called.contains("MPI_Comm_split_type") && places_otherwise_than_recorded())
    notes.emplace_back(
        "MPI_Comm_split_type joined the ranks that shared memory where this was recorded; here "
        "others share a node. A live run (simulate -n) asks anew");
  return notes;
}

std::unique_ptr<sim::Source> Simulation::open() {
  if (!reader_) return open_shared();
  auto source = read_source();
  source->tell_places_by(place_teller());
  return with_times(std::move(source));
}

std::unique_ptr<sim::Source> Simulation::with_times(sim::Source& source) const {
  if (!rules_.make) return nullptr;
  return std::make_unique<sim::ComputedSource>(source, rules_.make);
}

std::unique_ptr<sim::Source> Simulation::with_times(std::unique_ptr<sim::Source> source) const {
  if (!rules_.make) return source;
  return std::make_unique<sim::ComputedSource>(std::move(source), rules_.make);
}

void Simulation::prepare_sharing() {
  if (!reader_) return;
  const auto source = with_times(read_source());
  program_ = std::make_shared<sim::Program>(*source);
}

std::unique_ptr<sim::Source> Simulation::open_shared() const {
  if (goal_) return with_times(std::make_unique<sim::GoalSource>(*goal_));
  if (ti_) return with_times(std::make_unique<sim::TiSource>(*ti_));
  if (!program_) return with_times(read_source());
  return std::make_unique<sim::MemorySource>(program_);
}

sim::SimulateOptions Simulation::engine_options(const Replay& replay,
                                                std::optional<machine::Topology>& topology) const {
  const MachineFactors& factors = replay.factors;
  sim::SimulateOptions engine;
  engine.dependences = replay.dependences;
  engine.messages = replay.messages;
  engine.tell = replay.tell;
  engine.compute = spec_.kind == compute::Kind::none ? sim::ComputeMode::none
                   : spec_.kind == compute::Kind::annotated || spec_.kind == compute::Kind::counted
                       ? sim::ComputeMode::annotated
                       : sim::ComputeMode::recorded;
  engine.scale = rules_.scale * factors.compute;
  engine.slower = slower_;
  if (replay.settled) {
    engine.compute = sim::ComputeMode::recorded;
    engine.scale = factors.compute;
    engine.slower.clear();
  }
  engine.reduce_per_byte = reduce_per_byte_;
  if (algorithms_) engine.algorithms = &*algorithms_;
  engine.measured_collectives = measured_collectives_;
  engine.progress =
      moves_in_calls() && !replay.moves_always ? sim::Progress::calls : sim::Progress::always;
  sim::NetworkOptions& network = engine.network;
  network.kind = network_;
  network.cut_through = cut_through_;
  network.block = Bytes(options_.block);
  network.packet_size = Bytes(options_.packet_size);
  network.buffer_packets = options_.buffer;
  network.adaptive = options_.routing == "adaptive";
  network.loggps = replay.loggps  ? *replay.loggps
                   : replay.model ? machine::loggps_times(*replay.model, loggps_, bound_)
                                  : loggps();
  // What is beyond the end of virtual time must not come out short.
  const auto scaled = [](Time time, double factor) {
    const double ps = static_cast<double>(time.count_ps()) * factor;
    return Time::ps(ps < 0x1p62 ? std::llround(ps) : std::int64_t{1} << 62);
  };
  network.inner = machine::inner_times(replay.model ? *replay.model : model_, bound_);
  const auto scale = [&](machine::LogGPSTimes& times) {
    times.latency = scaled(times.latency, factors.latency);
    times.overhead_send = scaled(times.overhead_send, factors.overhead);
    times.overhead_recv = scaled(times.overhead_recv, factors.overhead);
    times.gap = scaled(times.gap, factors.overhead);
    times.gap_per_byte /= factors.bandwidth;
    if (factors.sync_threshold) times.sync_threshold = factors.sync_threshold;
  };
  scale(network.loggps);
  for (auto& [path, times] : network.inner) scale(times);
  network.placement = replay.placement ? *replay.placement : placement_;
  if (topology_) {
    topology = topology_->with_speeds_times(factors.latency, factors.bandwidth);
    if (const auto& link = replay.faster_link)
      topology =
          topology
              ->with_link_times(link->from, link->to, link->factor, 1 / network.loggps.gap_per_byte)
              .value();
    network.topology = &*topology;
  }
  if (architecture_)
    network.make_links =
        [this, &topology,
         factors](const machine::LinkSpeed& defaults) -> std::unique_ptr<sim::SharedNetwork> {
      const ArchitectureNetwork& made = *architecture_;
      return std::make_unique<architecture::MessageNetwork>(
          made.flat, made.graph, *topology, defaults,
          architecture::MessageOptions{Bytes(options_.packet_size), options_.buffer,
                                       factors.latency, factors.bandwidth},
          recording_);
    };
  if (replay.portion == machine::Portion::nothing && network.kind != sim::NetworkKind::datasheet) {
    // Who must wait for whom stays as it is.
    const auto keep_threshold = [](machine::LogGPSTimes& times) {
      const auto threshold = times.sync_threshold;
      times = {};
      times.sync_threshold = threshold;
    };
    sim::NetworkOptions free;
    free.kind = sim::NetworkKind::loggps;
    free.loggps = network.loggps;
    free.inner = network.inner;
    free.placement = network.placement;
    keep_threshold(free.loggps);
    for (auto& [path, times] : free.inner) keep_threshold(times);
    network = std::move(free);
  }
  return engine;
}

namespace {

std::string describe(const sim::LeftMessage& message) {
  return std::to_string(message.bytes.count) + " bytes from rank " +
         std::to_string(message.source.value) + " to rank " +
         std::to_string(message.destination.value) + ", tag " + std::to_string(message.tag);
}

// Of a recorded run: what it did by the clock it does again, whatever the clock would show there.
constexpr std::uint64_t kManyReadings = 100;
std::string note_of_readings(const sim::SimulateResult& result) {
  if (!result.clock_readings || result.clock_readings->second < kManyReadings) return {};
  return "rank " + std::to_string(result.clock_readings->first.value) + " read MPI_Wtime " +
         std::to_string(result.clock_readings->second) +
         " times: if it decides by that what to do or when to stop, this run does what it decided "
         "when it was recorded; predict and live runs (simulate -n) show it virtual time";
}

// What MPI does not allow, and a run of the program would find.
void note_faults(sim::SimulateResult& result) {
  if (const std::uint64_t count = result.left_message_count; count > 0)
    result.notes.push_back((count == 1 ? "1 message is" : std::to_string(count) + " messages are") +
                           std::string(" never received") + (count == 1 ? ": " : "; the first: ") +
                           describe(result.left_messages.front()));
  if (const std::uint64_t count = result.long_message_count; count > 0)
    result.notes.push_back(
        (count == 1 ? "1 message is longer than its receive"
                    : std::to_string(count) + " messages are longer than their receives") +
        std::string(count == 1 ? ": " : "; one of them: ") +
        describe(result.long_message->message) + ", where there is room for " +
        std::to_string(result.long_message->room.count));
}

}  // namespace

sim::SimulateResult Simulation::run(sim::Source& source, sim::Sink& sink,
                                    const Replay& replay) const {
  const MachineFactors& factors = replay.factors;
  machine::MachineModel model =
      machine::keep_portion(replay.model ? *replay.model : model_, replay.portion);
  if (!replay.files_take_time) model = machine::without_files(model);
  model.compute_step *= factors.compute;
  if (factors.sync_threshold) {
    model.loggps.sync_threshold = factors.sync_threshold;
    for (auto& [path, own] : model.paths) own.loggps.sync_threshold = factors.sync_threshold;
  }
  const machine::Timing timing(model, bound_, replay.added);
  std::optional<machine::Topology> topology;
  const sim::SimulateOptions engine = engine_options(replay, topology);
  sim::SimulateResult result = sim::simulate(source, timing, engine, sink);
  if (goal_ || ti_) note_faults(result);
  if (ti_ && ti_->has_no_end)
    result.notes.emplace_back("no rank has 'finalize': if the trace was cut off, so is the time");
  const std::vector<std::string>& unreliable = result.unknowns.unreliable;
  if (!unreliable.empty() && !options_.allow_invalid) throw Error(machine::refusal_of(unreliable));
  if (!unreliable.empty()) result.notes.push_back(machine::doubt_of(unreliable));
  const bool program = reader_ || options_.live_ranks > 0;
  if (spec_.kind == compute::Kind::annotated && program && source.tells_all_computation()) {
    std::string note = compute::note_of_annotations(result.announced, model.compute_step,
                                                    reader_ ? "recorded" : "measured");
    if (!note.empty()) result.notes.push_back(std::move(note));
  }
  if (reader_) std::ranges::move(notes_of_calls(), std::back_inserter(result.notes));
  if (reader_)
    if (std::string note = note_of_readings(result); !note.empty())
      result.notes.push_back(std::move(note));
  if (result.passed_over && machine::is_told(result.passed_over->second, result.time))
    result.notes.push_back(machine::note_of_choices(result.passed_over->first.value,
                                                    result.passed_over->second, "MPI_Waitany"));
  // What was predicted has its times already.
  const bool predicted = reader_ && reader_->info().clock == trace::Clock::virtual_;
  if (!options_.is_compute_given && program && result.announced && !counts() && !predicted)
    result.notes.emplace_back(compute::kAnnotationsUnused);
  machine::Timing::Unknowns unknowns = result.unknowns;
  // What combining takes is then said by --reduction alone.
  if (options_.machine.empty() && !unknowns.combined.empty()) {
    unknowns.combined.clear();
    result.notes.emplace_back("not given and taken as 0: --reduction 0s");
  }
  for (std::string& note : machine::notes_of(unknowns)) result.notes.push_back(std::move(note));
  if (std::string note = bound_note(); !note.empty()) result.notes.push_back(std::move(note));
  return result;
}

}  // namespace foretrace::cli
