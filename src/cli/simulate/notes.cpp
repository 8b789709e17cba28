// What `simulate` says of itself: the network in words, the parameters that
// nobody gave, and options that change nothing.
#include <algorithm>
#include <charconv>
#include <iterator>

#include "cli/machines/notes.hpp"
#include "cli/simulate/network_choice.hpp"
#include "cli/simulate/simulation.hpp"
#include "trace/damage.hpp"

namespace foretrace::cli {
namespace {

// "30.1125us": exact, as --loggps takes it.
std::string exact_time(Time time) {
  struct Unit {
    std::int64_t ps;
    const char* name;
  };
  const std::int64_t ps = time.count_ps();
  for (const Unit unit : {Unit{1'000'000'000, "ms"}, Unit{1'000'000, "us"}, Unit{1'000, "ns"}}) {
    if (ps < unit.ps) continue;
    std::string fraction = std::to_string(unit.ps + ps % unit.ps).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return std::to_string(ps / unit.ps) + (fraction.empty() ? "" : "." + fraction) + unit.name;
  }
  return ps == 0 ? "0s" : std::to_string(ps) + "ps";
}

// Six significant digits are enough to read; the run has all of them.
std::string time_per_byte(double seconds) {
  char text[32];
  const auto [end, error] =
      std::to_chars(std::begin(text), std::end(text), seconds * 1e9, std::chars_format::general, 6);
  return std::string(text, end) + "ns";
}

bool lacks_speed(const machine::LinkSpeed& speed) {
  return !speed.latency || !speed.bytes_per_second;
}

}  // namespace

bool links_have_speeds(const machine::Topology& topology) {
  for (int link = 0; link < topology.links(); ++link)
    if (lacks_speed(topology.speed(machine::LinkId(link)))) return false;
  return true;
}

bool Simulation::uses_topology() const {
  if (!topology_ || network_ == sim::NetworkKind::datasheet) return false;
  return network_ != sim::NetworkKind::loggps || topology_->ranks_per_node() > 1;
}

std::string Simulation::where() const {
  std::string network = "network " + options_.network;
  if (uses_topology()) network += " on " + topology_->name();
  const std::string of = model_.name.empty() ? "" : " of " + model_.name;
  if (equations_alone()) return of;
  return of + " (" + network + ", collectives " + options_.collectives + ")";
}

// Whether the topology says what links take, L and G nothing.
bool Simulation::links_alone() const {
  return uses_topology() && network_ != sim::NetworkKind::loggps &&
         (by_flits() || links_have_speeds(*topology_)) &&
         (topology_->ranks_per_node() == 1 || !lacks_speed(topology_->intra_node()));
}

// Without any of both every message would be there at once.
void Simulation::check_messages_are_known() const {
  if (network_ == sim::NetworkKind::datasheet || options_.machine.empty() || architecture_ ||
      links_alone())
    return;
  const machine::LogGPSTimes times = machine::loggps_times(model_, loggps_, bound_);
  if (!times.is_unknown("L") || !times.is_unknown("G")) return;
  throw UsageError("--network " + options_.network + ": " + machine_name() +
                   " has no equations of messages between two ranks; say what they take, for "
                   "example --loggps L=2us,o=500ns,G=0.08ns");
}

std::string Simulation::machine_name() const {
  return model_.name.empty() ? options_.machine : model_.name;
}

// Those of o_s, o_r, L, g and G that the run uses and nobody gave.
std::vector<std::string> Simulation::notes_of_derived() const {
  if (network_ == sim::NetworkKind::datasheet) return {};
  const machine::LogGPSTimes times = machine::loggps_times(model_, loggps_, bound_);
  const bool alone = links_alone();
  std::string known;
  std::string unknown;
  for (const std::string& name : times.derived) {
    if (alone && (name == "L" || name == "G")) continue;
    std::string& list = times.is_unknown(name) ? unknown : known;
    list += list.empty() ? "" : ",";
    if (name == "o_s") list += "os=" + exact_time(times.overhead_send);
    if (name == "o_r") list += "or=" + exact_time(times.overhead_recv);
    if (name == "L") list += "L=" + exact_time(times.latency);
    if (name == "g") list += "g=" + exact_time(times.gap);
    if (name == "G") list += "G=" + time_per_byte(times.gap_per_byte);
  }
  std::vector<std::string> notes;
  if (!known.empty())
    notes.push_back("derived from the equations of " + machine_name() + ": --loggps " + known);
  if (!unknown.empty())
    notes.push_back((options_.machine.empty() ? "not given" : "not known of " + machine_name()) +
                    " and taken as 0: --loggps " + unknown);
  return notes;
}

// One line for each option that was given and has no effect here.
std::vector<std::string> Simulation::notes_of_idle_options() const {
  using Kind = sim::NetworkKind;
  std::vector<std::string> notes;
  const SimulationOptions initial;
  const auto idle = [&notes](bool given, const std::string& what) {
    if (given) notes.push_back(what);
  };
  const bool packets = network_ == Kind::packet || network_ == Kind::architecture;
  const std::string here = " has no effect on the network " + options_.network;
  idle(!options_.topology.empty() && network_ == Kind::architecture,
       "--topology" + here + ", which has its own");
  // An architecture whose entities all have the level hops is the network hops.
  const bool has_boxes = network_ == Kind::architecture || options_.network.starts_with("arch:");
  idle(!options_.architecture.levels.empty() && !has_boxes, "--level" + here);
  idle(!options_.architecture.parameters.empty() && !has_boxes, "--parameter" + here);
  if (!uses_topology()) {
    idle(!options_.topology.empty(),
         "--topology" + here + "; choose --network hops, bus, flow or packet");
    if (!places_matter()) {
      const std::string why = ": the machine has one path between all ranks";
      idle(options_.placement != initial.placement, "--placement" + here + why);
      idle(options_.ranks_per_node > 0, "--ranks-per-node" + here + why);
    }
  }
  idle(
      network_ == Kind::datasheet && (loggps_.latency || loggps_.overhead_send ||
                                      loggps_.overhead_recv || loggps_.gap || loggps_.gap_per_byte),
      "of --loggps the network datasheet takes S only; choose --network loggps");
  idle(!options_.slower.empty() && spec_.kind == compute::Kind::none,
       "--slower has no effect with --compute none");
  idle(
      options_.in_other_state && network_ != Kind::datasheet,
      "--other-state changes the equations of functions; parameters of [loggps], by which messages "
      "go on the network " +
          options_.network + ", are the same in both states");
  idle(options_.block != initial.block && (network_ != Kind::hops || cut_through_),
       "--block" + here);
  idle(options_.packet_size != initial.packet_size && !packets, "--packet-size" + here);
  idle(options_.buffer != initial.buffer && (!packets || by_flits()), "--buffer" + here);
  idle(options_.routing != initial.routing && !packets, "--routing" + here);
  idle(!options_.reduction.empty() && !algorithms_,
       "--reduction has no effect: --collectives equation takes its times from the model");
  idle(!options_.progress.empty() && !machine::attended_from(model_),
       "--progress has no effect: the machine model has no P in [loggps]");
  idle(options_.flops != initial.flops && !ti_, "--flops has no effect: it is for FILE.ti");
  idle(options_.derived_type != initial.derived_type && !ti_,
       "--derived-type has no effect: it is for FILE.ti");
  idle(spec_.kind == compute::Kind::annotated && (goal_ || ti_),
       "--compute annotated leaves out what a text program computes; recorded keeps it");
  return notes;
}

std::vector<std::string> Simulation::notes_of_model() const {
  return options_.machine.empty() ? std::vector<std::string>()
                                  : notes_of_machine(options_.machine, model_);
}

std::vector<std::string> Simulation::notes_of_recording() const {
  const bool recorded = reader_ && reader_->info().clock != trace::Clock::virtual_;
  return recorded ? reader_->info().notes : std::vector<std::string>();
}

std::string Simulation::bound_note() const {
  return options_.machine.empty() ? std::string()
                                  : note_of_bound(options_.machine, model_, options_.bound);
}

std::vector<std::string> Simulation::notes() const {
  std::vector<std::string> notes = goal_ ? goal_->notes : std::vector<std::string>();
  std::ranges::move(notes_of_recording(), std::back_inserter(notes));
  std::ranges::move(notes_of_model(), std::back_inserter(notes));
  if (!sealed())
    notes.push_back(options_.input + ": the run did not reach its end (or still runs); there are " +
                    trace::describe_remains(trace::look_through(*reader_), ranks_) +
                    "; figures are of these alone");
  for (std::string& note : notes_of_idle_options()) notes.push_back(std::move(note));
  if (!chosen_.empty()) notes.push_back(chosen_);
  if (!network_said_ && topology_)
    if (const auto choice = cli::choose_network(model_, &*topology_, bound_))
      if (std::string text = advice(*choice); !text.empty()) notes.push_back(std::move(text));
  if (!placed_.empty()) notes.push_back(placed_);
  if (!rules_.note.empty()) notes.push_back(rules_.note);
  std::ranges::move(notes_of_derived(), std::back_inserter(notes));
  return notes;
}

}  // namespace foretrace::cli
