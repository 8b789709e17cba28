#include <mpi.h>

#include <memory>
#include <optional>
#include <random>

#include "measure/core/patterns.hpp"
#include "measure/experiments/clock.hpp"
#include "measure/experiments/collective_calls.hpp"
#include "measure/experiments/experiments.hpp"
#include "measure/experiments/kept.hpp"

namespace foretrace::measure {
namespace {

constexpr int kLeastRanks = 4;
constexpr Halving kHalvings[] = {Halving::block, Halving::alternate, Halving::random};

// This rank's half of the group, shared by the experiments on it.
class Half {
 public:
  Half(const Group& whole, Halving halving) : whole_(whole), halving_(halving) {}

  // Collective over the whole group when it is asked first.
  Group group() {
    return group_of(comm_.get([this](MPI_Comm* made) {
      std::mt19937_64 random(1);  // all ranks draw the same
      const std::vector<int> order = permutation(whole_.size, random);
      const int half = half_of(halving_, whole_.rank, whole_.size, order);
      MPI_Comm_split(whole_.comm, half, whole_.rank, made);
    }));
  }

 private:
  Group whole_;
  Halving halving_;
  Kept<MPI_Comm> comm_{MPI_Comm_free};
};

using MakeCall = std::function<CollectiveCall(const Group&)>;

// Both halves make the call at the same time; the last rank of both ends it.
Experiment in_half(const std::string& name, const std::shared_ptr<Half>& half, const MakeCall& make,
                   Buffers& buffers) {
  const auto call = std::make_shared<std::optional<CollectiveCall>>();
  return {{name},
          [=, &buffers] {
            if (!*call) *call = make(half->group());
            buffers.next((*call)->sent, (*call)->received);
          },
          [=](std::int64_t entry, std::int64_t, Span* spans) {
            (*call)->call();
            spans[0] = {entry, now_ns()};
          }};
}

std::string halves_name(std::string_view call, Halving halving) {
  return std::string(call) + "_halves_" + std::string(name_of(halving));
}

CollectiveCall usual_call(std::string_view name, const Group& group, std::uint64_t bytes,
                          Buffers& buffers) {
  for (CollectiveCall& call : usual_calls(group, bytes, buffers))
    if (call.name == name) return std::move(call);
  return barrier_call(group);
}

}  // namespace

std::vector<Experiment> halves_experiments(const Group& group, std::uint64_t bytes,
                                           Buffers& buffers) {
  std::vector<Experiment> all;
  if (group.size < kLeastRanks || bytes % sizeof(double) != 0) return all;
  for (const Halving halving : kHalvings) {
    const auto half = std::make_shared<Half>(group, halving);
    for (const std::string_view name : {"bcast", "allreduce", "alltoall"})
      all.push_back(in_half(
          halves_name(name, halving), half,
          [=, &buffers](const Group& g) { return usual_call(name, g, bytes, buffers); }, buffers));
  }
  return all;
}

std::vector<Experiment> barrier_halves_experiments(const Group& group, Buffers& buffers) {
  std::vector<Experiment> all;
  if (group.size < kLeastRanks) return all;
  for (const Halving halving : kHalvings)
    all.push_back(in_half(halves_name("barrier", halving), std::make_shared<Half>(group, halving),
                          barrier_call, buffers));
  return all;
}

}  // namespace foretrace::measure
