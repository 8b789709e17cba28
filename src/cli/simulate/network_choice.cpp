#include "cli/simulate/network_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
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
// So much nearer one without links has to be.
constexpr double kMuchNearer = 2;
// Below these, what a message takes is its ends' work.
constexpr std::uint64_t kLeastBytes = 1024;
constexpr std::array<std::string_view, 2> kPatterns{"exchange_ring", "exchange_mesh"};

struct Candidate {
  const char* name;
  sim::NetworkKind kind;
  bool has_links;
};
constexpr std::array kCandidates{
    Candidate{"datasheet", sim::NetworkKind::datasheet, false},
    Candidate{"loggps", sim::NetworkKind::loggps, false},
    Candidate{"flow", sim::NetworkKind::flow, true},
    Candidate{"packet", sim::NetworkKind::packet, true},
};
constexpr std::size_t kWithoutLinks = 2;

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

struct Judged {
  int ranks = 2;            // patterns of so many and more
  std::uint64_t bytes = 0;  // messages of so many and more
};
constexpr Judged kForChoice{3, kLeastBytes};

std::vector<const machine::PatternTimes*> patterns_of(const machine::MachineModel& model,
                                                      const Judged& judged) {
  std::vector<const machine::PatternTimes*> patterns;
  for (const machine::PatternTimes& pattern : model.patterns)
    if (std::ranges::find(kPatterns, pattern.name) != kPatterns.end() &&
        pattern.ranks >= judged.ranks && pattern.times.back().bytes.count >= judged.bytes)
      patterns.push_back(&pattern);
  return patterns;
}

// By sizes.
void add_errors(const machine::PatternTimes& pattern, std::uint64_t least,
                const machine::Timing& timing, const sim::SimulateOptions& options,
                std::vector<double>& errors) {
  for (const auto& [bytes, measured] : pattern.times) {
    if (bytes.count < least) continue;
    const double simulated =
        simulate_pattern(pattern.name, pattern.ranks, bytes.count, timing, options);
    if (measured > 0 && simulated > 0) errors.push_back(std::log(measured / simulated));
  }
}

std::string percent(double error) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %%", 100 * std::expm1(error));
  return text;
}

std::vector<double> errors_of(const machine::MachineModel& model, const machine::Topology* topology,
                              machine::Bound bound, sim::NetworkKind kind, const Judged& judged) {
  const machine::Timing timing(model, bound);
  sim::SimulateOptions options;
  options.network.kind = kind;
  options.network.loggps = machine::loggps_times(model, {}, bound);
  options.network.inner = machine::inner_times(model, bound);
  std::vector<double> errors;
  for (const machine::PatternTimes* pattern : patterns_of(model, judged)) {
    const int ranks = pattern->ranks;
    if (topology && ranks > topology->processors() * topology->ranks_per_node()) continue;
    if (kind != sim::NetworkKind::datasheet && topology) {
      options.network.topology = topology;
      options.network.placement = machine::make_placement("round-robin", *topology, ranks);
    }
    add_errors(*pattern, judged.bytes, timing, options, errors);
  }
  return errors;
}

// The first from `begin` on, before `end`, that is no worse than the best of them.
std::size_t simplest(const std::vector<NetworkScore>& scores, std::size_t begin, std::size_t end) {
  double least = scores[begin].error;
  for (std::size_t i = begin; i < end; ++i) least = std::min(least, scores[i].error);
  while (scores[begin].error > least + kNoBetter) ++begin;
  return begin;
}

}  // namespace

std::vector<double> pattern_errors(const machine::MachineModel& model,
                                   const machine::Topology* topology, machine::Bound bound,
                                   sim::NetworkKind network) {
  return errors_of(model, topology, bound, network, {});
}

std::optional<NetworkChoice> choose_network(const machine::MachineModel& model,
                                            const machine::Topology* topology,
                                            machine::Bound bound) {
  const auto patterns = patterns_of(model, kForChoice);
  if (patterns.empty()) return std::nullopt;
  NetworkChoice choice;
  for (const machine::PatternTimes* pattern : patterns) choice.patterns.push_back(pattern->name);
  for (const Candidate& candidate : kCandidates) {
    if (candidate.has_links && !topology) continue;
    const std::vector<double> errors =
        errors_of(model, topology, bound, candidate.kind, kForChoice);
    if (errors.empty()) return std::nullopt;
    double sum = 0;
    for (const double error : errors) sum += std::fabs(error);
    choice.scores.push_back({candidate.name, sum / static_cast<double>(errors.size())});
  }
  choice.chosen = simplest(choice.scores, 0, kWithoutLinks);
  if (choice.scores.size() == kWithoutLinks) return choice;
  const std::size_t linked = simplest(choice.scores, kWithoutLinks, choice.scores.size());
  if (choice.scores[choice.chosen].error * kMuchNearer > choice.scores[linked].error)
    choice.chosen = linked;
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

std::string advice(const NetworkChoice& choice) {
  const NetworkScore& datasheet = choice.scores.front();
  const NetworkScore& chosen = choice.scores[choice.chosen];
  if (datasheet.error <= 2 * chosen.error) return {};
  return "the data sheet knows no links that messages share: it is " + percent(datasheet.error) +
         " off what the machine was measured doing with many messages at once, " + chosen.network +
         " " + percent(chosen.error) + "; --network auto takes that";
}

}  // namespace foretrace::cli
