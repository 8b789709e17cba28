// --network auto: the simplest network that tells the times of what the machine was measured doing
// with many messages at once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/machine_model.hpp"
#include "machine/timing.hpp"
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

// The patterns are the model's allsend, exchange_ring and exchange_mesh, as far as they were
// measured and can be trusted, of all ranks that were measured, one size for every factor of four.
// None of them is part of what a network is made from. Candidates are datasheet and loggps, and
// with a topology flow and packet; a rank of the patterns stands on each node in turn, as where
// they were measured. Chosen is the simplest whose error is at most 0.02 more than the least.
// Nothing where there is no pattern, or only one network to choose from.
std::optional<NetworkChoice> choose_network(const machine::MachineModel& model,
                                            const machine::Topology* topology,
                                            machine::Bound bound);

// "chose flow: 3.1 % off what the machine was measured doing (allsend, exchange_ring) ..."
std::string text_of(const NetworkChoice& choice);

}  // namespace foretrace::cli
