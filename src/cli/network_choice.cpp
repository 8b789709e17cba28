#include "cli/network_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>

#include "machine/loggps.hpp"
#include "measure/core/patterns.hpp"
#include "sim/engine.hpp"
#include "sim/memory_source.hpp"
#include "sim/sink.hpp"
#include "topology/placement.hpp"
#include "topology/shape.hpp"

namespace foretrace::cli {
namespace {

constexpr double kNoBetter = 0.02;
// Below these, what a message takes is its ends' work.
constexpr std::uint64_t kLeastBytes = 1024;
constexpr std::array<std::string_view, 2> kPatterns{"exchange_ring", "exchange_mesh"};

struct Candidate {
  const char* name;
  sim::NetworkKind kind;
};
constexpr std::array kCandidates{Candidate{"datasheet", sim::NetworkKind::datasheet},
                                 Candidate{"loggps", sim::NetworkKind::loggps},
                                 Candidate{"flow", sim::NetworkKind::flow},
                                 Candidate{"packet", sim::NetworkKind::packet}};

// One repetition of a pattern on all ranks.
class Pattern {
 public:
  explicit Pattern(int ranks) : program_(std::make_shared<sim::Program>(ranks)) {}

  void exchange(int rank, const std::vector<int>& neighbours, std::uint64_t bytes) {
    std::vector<trace::Completion> requests;
    const auto post = [&](const sim::Operation& operation) {
      program_->add(WorldRank(rank), operation);
      requests.emplace_back().request = operation.request;
    };
    for (const int neighbour : neighbours) {
      sim::Operation operation = make(trace::EventKind::irecv, "MPI_Irecv");
      operation.recv = end(neighbour, bytes);
      operation.request = requests.size() + 1;
      post(operation);
    }
    for (const int neighbour : neighbours) {
      sim::Operation operation = make(trace::EventKind::isend, "MPI_Isend");
      operation.send = end(neighbour, bytes);
      operation.request = requests.size() + 1;
      post(operation);
    }
    sim::Operation wait = make(trace::EventKind::complete, "MPI_Waitall");
    wait.completions = requests;
    program_->add(WorldRank(rank), wait);
  }

  // Until the last rank is done, seconds.
  double run(const machine::Timing& timing, const sim::SimulateOptions& options) {
    for (int rank = 0; rank < program_->ranks(); ++rank)
      program_->add(WorldRank(rank), make(trace::EventKind::finalize, "MPI_Finalize"));
    sim::MemorySource source(program_);
    sim::NullSink sink;
    const sim::SimulateResult result = sim::simulate(source, timing, options, sink);
    Time last;
    for (const auto& rank : result.ranks) last = std::max(last, rank.time);
    return last.seconds();
  }

 private:
  sim::Operation make(trace::EventKind kind, const char* call) {
    sim::Operation operation;
    operation.kind = kind;
    operation.name = program_->add_name(call);
    return operation;
  }
  static trace::Endpoint end(int peer, std::uint64_t bytes) {
    trace::Endpoint end;
    end.peer = WorldRank(peer);
    end.bytes = Bytes(bytes);
    return end;
  }

  std::shared_ptr<sim::Program> program_;
};

// As MPI_Dims_create shapes it: the two factors that are nearest to each other.
std::pair<int, int> mesh_of(int ranks) {
  int columns = static_cast<int>(std::sqrt(static_cast<double>(ranks)));
  while (ranks % columns != 0) --columns;
  return {ranks / columns, columns};
}

double simulate_pattern(std::string_view name, int ranks, std::uint64_t bytes,
                        const machine::Timing& timing, const sim::SimulateOptions& options) {
  const auto [rows, columns] = mesh_of(ranks);
  Pattern pattern(ranks);
  for (int rank = 0; rank < ranks; ++rank)
    pattern.exchange(rank,
                     name == "exchange_ring" ? measure::ring_neighbours(rank, ranks)
                                             : measure::mesh_neighbours(rank, rows, columns),
                     bytes);
  return pattern.run(timing, options);
}

std::vector<const machine::PatternTimes*> patterns_of(const machine::MachineModel& model) {
  std::vector<const machine::PatternTimes*> patterns;
  for (const machine::PatternTimes& pattern : model.patterns)
    if (std::ranges::find(kPatterns, pattern.name) != kPatterns.end() && pattern.ranks > 2 &&
        pattern.times.back().bytes.count >= kLeastBytes)
      patterns.push_back(&pattern);
  return patterns;
}

// Sum over the sizes; `sizes` counts them.
double error_of(const machine::PatternTimes& pattern, const machine::Timing& timing,
                const sim::SimulateOptions& options, int& sizes) {
  double sum = 0;
  for (const auto& [bytes, measured] : pattern.times) {
    if (bytes.count < kLeastBytes) continue;
    const double simulated =
        simulate_pattern(pattern.name, pattern.ranks, bytes.count, timing, options);
    if (measured <= 0 || simulated <= 0) continue;
    sum += std::fabs(std::log(simulated / measured));
    ++sizes;
  }
  return sum;
}

std::optional<double> score(const machine::MachineModel& model, const machine::Topology* topology,
                            machine::Bound bound, sim::NetworkKind kind,
                            const std::vector<const machine::PatternTimes*>& patterns) {
  const machine::Timing timing(model, bound);
  sim::SimulateOptions options;
  options.network.kind = kind;
  options.network.loggps = machine::loggps_times(model, {}, bound);
  options.network.inner = machine::inner_times(model, bound);
  double sum = 0;
  int sizes = 0;
  for (const machine::PatternTimes* pattern : patterns) {
    const int ranks = pattern->ranks;
    if (topology && ranks > topology->processors() * topology->ranks_per_node()) continue;
    if (kind != sim::NetworkKind::datasheet && topology) {
      options.network.topology = topology;
      options.network.placement = machine::make_placement("round-robin", *topology, ranks);
    }
    sum += error_of(*pattern, timing, options, sizes);
  }
  if (sizes == 0) return std::nullopt;
  return sum / sizes;
}

std::string percent(double error) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %%", 100 * std::expm1(error));
  return text;
}

}  // namespace

std::optional<NetworkChoice> choose_network(const machine::MachineModel& model,
                                            const machine::Topology* topology,
                                            machine::Bound bound) {
  const auto patterns = patterns_of(model);
  if (patterns.empty()) return std::nullopt;
  NetworkChoice choice;
  for (const machine::PatternTimes* pattern : patterns) choice.patterns.push_back(pattern->name);
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : kCandidates) {
    const bool has_links =
        candidate.kind == sim::NetworkKind::flow || candidate.kind == sim::NetworkKind::packet;
    if (has_links && !topology) continue;
    const auto error = score(model, topology, bound, candidate.kind, patterns);
    if (!error) return std::nullopt;
    choice.scores.push_back({candidate.name, *error});
    least = std::min(least, *error);
  }
  while (choice.scores[choice.chosen].error > least + kNoBetter) ++choice.chosen;
  return choice;
}

std::string text_of(const NetworkChoice& choice) {
  std::string patterns, others;
  for (const std::string& pattern : choice.patterns)
    patterns += (patterns.empty() ? "" : ", ") + pattern;
  for (std::size_t i = 0; i < choice.scores.size(); ++i)
    if (i != choice.chosen)
      others += (others.empty() ? "" : ", ") + choice.scores[i].network + " " +
                percent(choice.scores[i].error);
  const NetworkScore& chosen = choice.scores[choice.chosen];
  return "--network auto: chose " + chosen.network + ", in the mean " + percent(chosen.error) +
         " off the patterns that the machine was measured with (" + patterns + "); " + others;
}

}  // namespace foretrace::cli
