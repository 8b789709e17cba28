#include "cli/simulate/options.hpp"

#include "cli/words/option_values.hpp"
#include "machine/measurement.hpp"

namespace foretrace::cli {
namespace {

CLI::Validator above_zero() {
  return {[](std::string& text) {
            double value = 0;
            return CLI::detail::lexical_cast(text, value) && value > 0
                       ? std::string()
                       : "expected a number above 0, found " + text;
          },
          "ABOVE 0"};
}

void add_network_options(CLI::App& app, SimulationOptions& options) {
  app.add_option("--network", options.network,
                 "How messages travel: datasheet (equations alone), loggps, "
                 "hops[:cut-through], bus, flow, packet, arch:FILE (a machine of parts), or auto: "
                 "the simplest that tells the machine's measured patterns")
      ->check(offers(network_words()));
  add_architecture_options(app, options.architecture, "arch:FILE: ");
  app.add_option("--topology", options.topology,
                 "KIND:SIZES[?KEY=VALUE&...], e.g. torus:4x4x4?latency=1us&bandwidth=1GB/s, or a "
                 "TOML file, or the name of one that comes with Foretrace")
      ->transform(topology_name());
  app.add_option("--loggps", options.loggps,
                 "Sets or overrides L=2us,o=500ns,os=..,or=..,g=100ns,G=0.08ns,S=65536");
  add_placement_options(app, options.placement, options.ranks_per_node, true);
  app.add_option(
         "--collectives", options.collectives,
         "equation (of the model), algorithm (messages), measured (equation where the model "
         "was measured with as many ranks, else messages), openmpi, mpich, or choices such "
         "as bcast=binomial,allreduce=ring")
      ->check(offers(kCollectivesWords));
  app.add_option("--wildcards", options.wildcards,
                 "MPI_ANY_SOURCE takes the message of the recorded run, or the first in virtual "
                 "time: recorded, arrival")
      ->check(CLI::IsMember({"recorded", "arrival"}))
      ->capture_default_str();
  add_progress_option(app, options.progress);
  app.add_option("--flops", options.flops,
                 "FILE.ti: floating point operations per second of a processor")
      ->check(above_zero())
      ->capture_default_str();
  app.add_option("--derived-type", options.derived_type,
                 "FILE.ti: bytes of a derived datatype, which such traces do not tell")
      ->transform(size_in_bytes());
  app.add_option(
      "--reduction", options.reduction,
      "Time per byte to combine data in an expanded reduction, e.g. 0.1ns; left out: as the "
      "machine's [reduction] says");
  app.add_option("--block", options.block, "hops: bytes of a store-and-forward block (0: all)")
      ->transform(size_in_bytes());
  app.add_option("--packet-size", options.packet_size, "packet: bytes of a packet")
      ->transform(size_in_bytes())
      ->capture_default_str();
  app.add_option("--buffer", options.buffer, "packet: packets that an input of a switch holds")
      ->check(in_range(1, 1 << 24))
      ->capture_default_str();
  app.add_option("--routing", options.routing, "packet: minimal, adaptive")
      ->check(CLI::IsMember({"minimal", "adaptive"}))
      ->capture_default_str();
}

}  // namespace

void add_placement_options(CLI::App& app, std::string& placement, int& ranks_per_node,
                           bool is_of_topology) {
  app.add_option(
         "--placement", placement,
         is_of_topology
             ? "Ranks on nodes: block (the default with a topology), round-robin, "
               "random:SEED, recorded (the default without one), FILE"
             : "Ranks on nodes: block, round-robin, random:SEED, FILE; else as the launcher "
               "has started them")
      ->check(offers(is_of_topology ? "block,round-robin,random:,recorded,FILE"
                                    : "block,round-robin,random:,FILE"));
  app.add_option("--ranks-per-node", ranks_per_node,
                 is_of_topology ? "Without a topology: how many ranks share a node"
                                : "How many ranks share a node")
      ->check(in_range(1, 1 << 24));
}

void add_progress_option(CLI::App& app, std::string& progress) {
  app.add_option(
         "--progress", progress,
         "When messages of P bytes and more move: always, or calls: while their receiver is "
         "in a call of MPI; left out: calls, where the machine model has P")
      ->check(CLI::IsMember({"always", "calls"}));
}

void add_allow_invalid(CLI::App& app, bool& allowed) {
  app.add_flag(machine::kAllowInvalid, allowed,
               "Use functions that the machine model calls INVALID, too, and say so");
}

void add_slower(CLI::App& app, std::string& slower) {
  app.add_option("--slower", slower,
                 "What computes so much longer than the rest: rank:R=FACTOR or node:N=FACTOR, "
                 "ranges as rank:0..3, several with commas");
}

void add_other_state(CLI::App& app, bool& in_other_state) {
  app.add_flag("--other-state", in_other_state,
               "The machine in the other state that its measurement met: messages within a host "
               "take another time there");
}

void add_simulation_options(CLI::App& app, SimulationOptions& options) {
  app.add_option("--machine", options.machine, std::string("The machine model") + kMachineHelp)
      ->transform(machine_name());
  add_network_options(app, options);
  app.add_option("--compute", options.compute,
                 "Time between calls: none, annotated[:STEP] (FORETRACE_COMPUTE), "
                 "counted[:blocks|instructions], recorded[:SCALE] (live: measured[:SCALE]), "
                 "table:FILE, replayed:RUN.ftr")
      ->check(offers(kReplayWords))
      ->each([&options](const std::string&) { options.is_compute_given = true; })
      ->capture_default_str();
  app.add_option("--scale-from", options.scale_from,
                 "The model of the machine where CPU times were measured: they are scaled by its "
                 "kernels and those of --machine")
      ->transform(machine_name());
  add_slower(app, options.slower);
  add_allow_invalid(app, options.allow_invalid);
  add_other_state(app, options.in_other_state);
  app.add_option("--bound", options.bound, "Which end of the model's error interval: min, avg, max")
      ->check(CLI::IsMember({"min", "avg", "max"}))
      ->capture_default_str();
}

}  // namespace foretrace::cli
