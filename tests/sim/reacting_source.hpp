// A source that behaves like running processes: its ranks' operations are not
// always there when they are asked for, and it keeps what came out of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "programs.hpp"

namespace foretrace::sim {

// What a rank was told of one operation.
struct Told {
  trace::EventKind kind = trace::EventKind::call;
  Interval interval{};
  trace::Endpoint message;
  std::uint64_t payload = 0;
  std::vector<trace::Completion> completions;
  std::vector<std::uint64_t> payloads;
  bool cancelled = false;

  bool operator==(const Told& other) const {
    return kind == other.kind && interval.enter == other.interval.enter &&
           interval.leave == other.interval.leave && interval.wait == other.interval.wait &&
           message == other.message && payload == other.payload &&
           completions == other.completions && payloads == other.payloads &&
           cancelled == other.cancelled;
  }
};

// When operations are there: at once, only when next() waits for them, or
// by chance.
enum class Pace { ready, slow, mixed };

class ReactingSource : public Source {
 public:
  explicit ReactingSource(int ranks)
      : operations_(static_cast<std::size_t>(ranks)),
        next_(operations_.size()),
        told(operations_.size()) {
    trace::Communicator world;
    for (int r = 0; r < ranks; ++r) world.members.push_back(WorldRank(r));
    comms_.push_back(std::move(world));
  }

  trace::NameId add_name(const std::string& name) {
    const auto found = std::ranges::find(names_, name);
    const auto number = static_cast<trace::NameId>(found - names_.begin());
    if (found == names_.end()) names_.push_back(name);
    return number;
  }
  // The operation is the last of its rank; may still be changed until the next one.
  Operation& add(int rank, trace::EventKind kind, const char* name, Time at = {}) {
    Operation operation;
    operation.kind = kind;
    operation.name = add_name(name);
    operation.compute = at;
    auto& own = operations_[static_cast<std::size_t>(rank)];
    own.push_back({operation, {}});
    return own.back().operation;
  }
  Operation& send(int rank, int to, std::uint64_t bytes, Time at = {}, int tag = 0) {
    Operation& operation = add(rank, trace::EventKind::send, "MPI_Send", at);
    operation.send = Programs::end(to, bytes, tag);
    return operation;
  }
  // from, tag: -1 for any.
  Operation& recv(int rank, int from, Time at = {}, int tag = 0) {
    Operation& operation = add(rank, trace::EventKind::recv, "MPI_Recv", at);
    operation.recv = pattern(from, tag);
    return operation;
  }
  Operation& isend(int rank, int to, std::uint64_t bytes, std::uint64_t request, Time at = {},
                   int tag = 0) {
    Operation& operation = add(rank, trace::EventKind::isend, "MPI_Isend", at);
    operation.send = Programs::end(to, bytes, tag);
    operation.request = request;
    return operation;
  }
  Operation& irecv(int rank, int from, std::uint64_t request, Time at = {}, int tag = 0) {
    Operation& operation = add(rank, trace::EventKind::irecv, "MPI_Irecv", at);
    operation.recv = pattern(from, tag);
    operation.request = request;
    return operation;
  }
  Operation& complete(int rank, const std::vector<std::uint64_t>& requests,
                      Completing completing = Completing::all, Time at = {}) {
    Operation& operation = add(rank, trace::EventKind::complete, "MPI_Waitall", at);
    operation.completing = completing;
    auto& listed = operations_[static_cast<std::size_t>(rank)].back().completions;
    for (const std::uint64_t request : requests) listed.push_back({request, {}, 0, {}, false});
    return operation;
  }
  Operation& probe(int rank, Probing probing, int from, int tag = 0, Time at = {}) {
    Operation& operation = add(rank, trace::EventKind::call, "MPI_Probe", at);
    operation.probing = probing;
    operation.recv = pattern(from, tag);
    return operation;
  }
  Operation& collective(int rank, machine::Cost which, Time at = {}, int root = -1,
                        std::uint64_t bytes = 0, trace::CommId comm = 0) {
    const std::string name = "MPI_" + std::string(machine::name_of(which));
    Operation& operation = add(rank, trace::EventKind::collective, name.c_str(), at);
    operation.collective = which;
    operation.root = LocalRank(root);
    operation.bytes = Bytes(bytes);
    operation.comm = comm;
    return operation;
  }
  Operation& icollective(int rank, machine::Cost which, std::uint64_t request, Time at = {},
                         int root = -1, std::uint64_t bytes = 0, trace::CommId comm = 0) {
    Operation& operation = collective(rank, which, at, root, bytes, comm);
    operation.kind = trace::EventKind::icollective;
    operation.name = add_name("MPI_I" + std::string(machine::name_of(which)));
    operation.request = request;
    return operation;
  }
  void finalize_all() {
    for (std::size_t r = 0; r < operations_.size(); ++r)
      add(static_cast<int>(r), trace::EventKind::finalize, "MPI_Finalize");
  }
  trace::CommId add_comm(std::vector<WorldRank> members) {
    comms_.push_back({comms_.size(), std::move(members)});
    return static_cast<trace::CommId>(comms_.size() - 1);
  }

  void restart(Pace pace, bool races) {
    pace_ = pace;
    races_ = races;
    chance_ = 1;
    next_.assign(next_.size(), 0);
    told.assign(told.size(), {});
  }

  int ranks() const override { return static_cast<int>(operations_.size()); }
  bool next(WorldRank rank, Operation& operation) override {
    const auto r = static_cast<std::size_t>(rank.value);
    if (asked) asked(rank);
    if (next_[r] == operations_[r].size()) return false;
    const Listed& listed = operations_[r][next_[r]++];
    operation = listed.operation;
    operation.completions = listed.completions;
    return true;
  }
  bool ready(WorldRank) const override {
    if (pace_ != Pace::mixed) return pace_ == Pace::ready;
    chance_ = chance_ * 6364136223846793005u + 1442695040888963407u;
    return (chance_ >> 40) % 3 == 0;
  }
  void completed(WorldRank rank, const Operation& operation, const Interval& interval,
                 const Outcome& outcome) override {
    Told& fresh = told[static_cast<std::size_t>(rank.value)].emplace_back();
    fresh.kind = operation.kind;
    fresh.interval = interval;
    fresh.message = outcome.message;
    fresh.payload = outcome.payload;
    fresh.completions.assign(outcome.completions.begin(), outcome.completions.end());
    fresh.payloads.assign(outcome.payloads.begin(), outcome.payloads.end());
    fresh.cancelled = outcome.cancelled;
  }
  bool reactive() const override { return true; }
  bool races() const override { return races_; }
  std::string_view name(trace::NameId id) const override { return names_[id]; }
  const trace::Communicator& comm(trace::CommId id) const override { return comms_[id]; }

 private:
  struct Listed {
    Operation operation;
    std::vector<trace::Completion> completions;
  };
  static trace::Endpoint pattern(int from, int tag) {
    trace::Endpoint end = Programs::end(from, 800, tag);
    end.any_source = from < 0;
    end.any_tag = tag < 0;
    return end;
  }

  std::vector<std::vector<Listed>> operations_;
  std::vector<std::size_t> next_;
  std::vector<std::string> names_;
  std::vector<trace::Communicator> comms_;
  Pace pace_ = Pace::ready;
  bool races_ = true;
  mutable std::uint64_t chance_ = 1;

 public:
  std::function<void(WorldRank)> asked;  // called in next(), if set
  std::vector<std::vector<Told>> told;   // by rank
};

struct Reaction {
  SimulateResult result;
  trace::Trace trace;
  std::vector<std::vector<Told>> told;

  const Told& of(int rank, std::size_t index) const {
    return told.at(static_cast<std::size_t>(rank)).at(index);
  }
  Time leave(int rank, std::size_t index) const { return of(rank, index).interval.leave; }
  Time wait(int rank, std::size_t index) const { return of(rank, index).interval.wait; }
};

// Simulates at every pace; throws Error where the results differ. With races: by time.
inline Reaction react(ReactingSource& source, SimulateOptions options = {}, bool races = true,
                      const machine::MachineModel& model = test_machine()) {
  const machine::Timing timing(model, machine::Bound::avg);
  std::vector<Reaction> runs;
  for (const Pace pace : {Pace::ready, Pace::slow, Pace::mixed}) {
    source.restart(pace, races);
    MemorySink sink(source, {});
    SimulateResult result = simulate(source, timing, options, sink);
    runs.push_back({std::move(result), sink.take(), source.told});
  }
  for (const Reaction& run : runs)
    if (run.told != runs[0].told || run.trace.ranks != runs[0].trace.ranks)
      throw Error("the result depends on when operations are there");
  return std::move(runs[0]);
}

// What the simulation says is wrong.
inline std::string error_of(ReactingSource& source, bool races = true) {
  try {
    react(source, {}, races);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace foretrace::sim
