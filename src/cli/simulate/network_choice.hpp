// --network auto: the simplest network that tells the times of what the machine was measured doing
// with many messages at once, of those that know its links.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/machine_model.hpp"
#include "machine/timing.hpp"
#include "sim/engine.hpp"
#include "topology/topology.hpp"

namespace foretrace::cli {

struct NetworkScore {
  std::string network;
  double error = 0;  // mean over patterns and sizes of |ln(simulated / measured)|
};

struct NetworkChoice {
  std::vector<NetworkScore> scores;  // the simplest network first
  std::size_t chosen = 0;
  std::vector<std::string> patterns;  // what they were held against
};

// ln(measured / simulated) of each size of the model's exchange_ring and exchange_mesh on that
// network: what a run may be off by. Empty where the model has neither.
std::vector<double> pattern_errors(const machine::MachineModel& model,
                                   const machine::Topology* topology, machine::Bound bound,
                                   sim::NetworkKind network);

// The patterns are the model's exchange_ring and exchange_mesh of more than two ranks, from 1,024
// bytes on. Of what a network is made from they are no part, but that the bandwidth of a
// measured [topology] may be that of exchange_ring's longest messages. Candidates are datasheet and
// loggps, and with a topology flow and packet; a rank of the patterns stands on each node in turn,
// as where they were measured. Chosen is the simplest whose error is at most 0.02 more than the
// least: of flow and packet, if one of them can be had, unless the simplest of datasheet and loggps
// is at least twice as near. In these patterns all ranks do the same, so a rank's own port may
// explain them; in a program several ranks send through one link. Nothing where there is no
// pattern, or only one network to choose from.
std::optional<NetworkChoice> choose_network(const machine::MachineModel& model,
                                            const machine::Topology* topology,
                                            machine::Bound bound);

// "chose flow: 3.1 % off what the machine was measured doing (exchange_ring, exchange_mesh) ..."
std::string text_of(const NetworkChoice& choice);

// A line for who takes the data sheet where another network is more than twice as near; else empty.
std::string advice(const NetworkChoice& choice);

}  // namespace foretrace::cli
