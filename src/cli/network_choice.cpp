#include "cli/network_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <random>

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
constexpr int kPermutations = 8;
// Below these, what a message takes is its ends' work.
constexpr std::uint64_t kLeastBytes = 1024;

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

  void send(int from, int to, std::uint64_t bytes) {
    sim::Operation operation = make(trace::EventKind::send, "MPI_Send");
    operation.send = end(to, bytes);
    program_->add(WorldRank(from), operation);
    operation = make(trace::EventKind::recv, "MPI_Recv");
    operation.recv = end(from, bytes);
    program_->add(WorldRank(to), operation);
  }

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

  // Until the last of the ranks before `upto` is done, seconds.
  double run(const machine::Timing& timing, const sim::SimulateOptions& options, int upto) {
    for (int rank = 0; rank < program_->ranks(); ++rank)
      program_->add(WorldRank(rank), make(trace::EventKind::finalize, "MPI_Finalize"));
    sim::MemorySource source(program_);
    sim::NullSink sink;
    const sim::SimulateResult result = sim::simulate(source, timing, options, sink);
    Time last;
    for (int rank = 0; rank < upto; ++rank)
      last = std::max(last, result.ranks[static_cast<std::size_t>(rank)].time);
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

double all_send(int ranks, std::uint64_t bytes, const machine::Timing& timing,
                const sim::SimulateOptions& options) {
  std::mt19937_64 random{1};
  const int half = ranks / 2;
  double sum = 0;
  for (int i = 0; i < kPermutations; ++i) {
    const std::vector<int> order = measure::permutation(half, random);
    Pattern pattern(ranks);
    for (int rank = 0; rank < half; ++rank)
      pattern.send(rank, half + order[static_cast<std::size_t>(rank)], bytes);
    sum += pattern.run(timing, options, half);
  }
  return sum / kPermutations;
}

// As MPI_Dims_create shapes it: the two factors that are nearest to each other.
std::pair<int, int> mesh_of(int ranks) {
  int columns = static_cast<int>(std::sqrt(static_cast<double>(ranks)));
  while (ranks % columns != 0) --columns;
  return {ranks / columns, columns};
}

double simulate_pattern(std::string_view name, int ranks, std::uint64_t bytes,
                        const machine::Timing& timing, const sim::SimulateOptions& options) {
  if (name == "allsend") return all_send(ranks, bytes, timing, options);
  const auto [rows, columns] = mesh_of(ranks);
  Pattern pattern(ranks);
  for (int rank = 0; rank < ranks; ++rank)
    pattern.exchange(rank,
                     name == "exchange_ring" ? measure::ring_neighbours(rank, ranks)
                                             : measure::mesh_neighbours(rank, rows, columns),
                     bytes);
  return pattern.run(timing, options, ranks);
}

std::vector<const machine::Function*> patterns_of(const machine::MachineModel& model) {
  std::vector<const machine::Function*> patterns;
  for (const char* name : {"allsend", "exchange_ring", "exchange_mesh"}) {
    const machine::Function* function = model.find(name);
    if (function && function->measured && !machine::is_unreliable(*function) &&
        function->measured->ranks.back() > 2 && function->measured->to.count >= kLeastBytes)
      patterns.push_back(function);
  }
  return patterns;
}

// Mean over the sizes; `sizes` counts them.
double error_of(const machine::MachineModel& model, const machine::Function& pattern,
                machine::Bound bound, const sim::SimulateOptions& options, int& sizes) {
  const machine::Timing timing(model, bound);
  const int ranks = pattern.measured->ranks.back();
  double sum = 0;
  for (std::uint64_t bytes = pattern.measured->to.count; bytes >= kLeastBytes; bytes /= 4) {
    const double measured =
        machine::evaluate_seconds(model, pattern, ranks, Bytes(bytes), machine::Bound::avg);
    const double simulated = simulate_pattern(pattern.name, ranks, bytes, timing, options);
    if (measured <= 0 || simulated <= 0) continue;
    sum += std::fabs(std::log(simulated / measured));
    ++sizes;
  }
  return sum;
}

std::optional<double> score(const machine::MachineModel& model, const machine::Topology* topology,
                            machine::Bound bound, sim::NetworkKind kind,
                            const std::vector<const machine::Function*>& patterns) {
  sim::SimulateOptions options;
  options.network.kind = kind;
  options.network.loggps = machine::loggps_times(model, {}, bound);
  options.network.inner = machine::inner_times(model, bound);
  double sum = 0;
  int sizes = 0;
  for (const machine::Function* pattern : patterns) {
    const int ranks = pattern->measured->ranks.back();
    if (topology && ranks > topology->processors() * topology->ranks_per_node()) continue;
    if (kind != sim::NetworkKind::datasheet && topology) {
      options.network.topology = topology;
      options.network.placement = machine::make_placement("round-robin", *topology, ranks);
    }
    sum += error_of(model, *pattern, bound, options, sizes);
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
  for (const machine::Function* pattern : patterns) choice.patterns.push_back(pattern->name);
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
