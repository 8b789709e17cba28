#include "sim/collectives/algorithm.hpp"

#include <array>
#include <span>

#include "base/error.hpp"
#include "sim/collectives/libraries.hpp"
#include "sim/collectives/registry.hpp"

namespace foretrace::sim {
namespace {

using machine::Cost;

constexpr auto kCosts = static_cast<std::size_t>(Cost::kCount);

std::size_t number(Cost cost) {
  return static_cast<std::size_t>(cost);
}

std::span<const Algorithm> registered(Cost collective) {
  using namespace collectives;
  switch (collective) {
    case Cost::barrier:
      return kBarrier;
    case Cost::bcast:
      return kBcast;
    case Cost::scatter:
      return kScatter;
    case Cost::scatterv:
      return kScatterv;
    case Cost::gather:
      return kGather;
    case Cost::gatherv:
      return kGatherv;
    case Cost::reduce:
      return kReduce;
    case Cost::allgather:
      return kAllgather;
    case Cost::allgatherv:
      return kAllgatherv;
    case Cost::alltoall:
      return kAlltoall;
    case Cost::alltoallv:
    case Cost::alltoallw:
      return kAlltoallv;
    case Cost::allreduce:
      return kAllreduce;
    case Cost::reduce_scatter:
    case Cost::reduce_scatter_block:
      return kReduceScatter;
    case Cost::scan:
      return kScan;
    case Cost::exscan:
      return kExscan;
    case Cost::comm_create:
    case Cost::comm_dup:
      return kCommCreate;
    case Cost::comm_split:
      return kCommSplit;
    default:
      return {};
  }
}

std::string join(std::span<const Algorithm> algorithms) {
  std::string text;
  for (const Algorithm& algorithm : algorithms)
    text.append(text.empty() ? "" : ", ").append(algorithm.name);
  return text;
}

std::string collective_names() {
  std::string text;
  for (std::size_t i = 0; i < kCosts; ++i)
    if (const auto cost = static_cast<Cost>(i); !registered(cost).empty())
      text.append(text.empty() ? "" : ", ").append(machine::name_of(cost));
  return text;
}

[[noreturn]] void refuse(std::string_view what, std::string_view text, std::string_view found,
                         const std::string& there_is) {
  throw UsageError("--collectives " + std::string(text) + ": no " + std::string(what) + " '" +
                   std::string(found) + "'; there is: " + there_is);
}

Cost collective_named(std::string_view name, std::string_view text) {
  for (std::size_t i = 0; i < kCosts; ++i)
    if (const auto cost = static_cast<Cost>(i);
        machine::name_of(cost) == name && !registered(cost).empty())
      return cost;
  refuse("collective", text, name, collective_names());
}

const Algorithm& algorithm_named(Cost collective, std::string_view name, std::string_view text) {
  for (const Algorithm& algorithm : registered(collective))
    if (algorithm.name == name) return algorithm;
  refuse("algorithm of " + std::string(machine::name_of(collective)), text, name,
         join(registered(collective)));
}

}  // namespace

const std::vector<Algorithm>& algorithms_for(Cost collective) {
  static const auto all = [] {
    std::array<std::vector<Algorithm>, kCosts + 1> lists;
    for (std::size_t i = 0; i < kCosts; ++i) {
      const std::span<const Algorithm> algorithms = registered(static_cast<Cost>(i));
      lists[i].assign(algorithms.begin(), algorithms.end());
    }
    return lists;
  }();
  return all[number(collective)];
}

std::string list_algorithms() {
  std::string text;
  for (std::size_t i = 0; i < kCosts; ++i)
    if (const auto cost = static_cast<Cost>(i); !registered(cost).empty())
      text.append(machine::name_of(cost)).append(": ").append(join(registered(cost))).append("\n");
  return text;
}

AlgorithmTable::AlgorithmTable(std::string_view text) : forced_(kCosts) {
  std::string_view rest = text;
  bool first = true;
  do {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos) {
      const Cost collective = collective_named(word.substr(0, equals), text);
      forced_[number(collective)] = algorithm_named(collective, word.substr(equals + 1), text);
    } else if (first && word == "mpich") {
      library_ = Library::mpich;
    } else if (!first || word != "openmpi") {
      refuse(first ? "library" : "choice", text, word,
             "openmpi, mpich, then COLLECTIVE=ALGORITHM for " + collective_names());
    }
    first = false;
    if (comma == std::string_view::npos) break;
  } while (true);
}

const Algorithm& AlgorithmTable::choose(const CollectiveCall& call) const {
  const std::size_t collective = number(call.collective);
  if (collective < forced_.size() && forced_[collective]) return *forced_[collective];
  if (library_ == Library::mpich) return collectives::choose_mpich(call);
  return call.posted ? collectives::choose_openmpi_posted(call) : collectives::choose_openmpi(call);
}

}  // namespace foretrace::sim
