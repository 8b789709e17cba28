// MemorySource: operations that lie in memory, for benchmarks and tests.
//
// Holds whole programs, rank by rank, and hands them out in order. It reads no
// file; a recorded trace comes through TraceSource.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "sim/source.hpp"

namespace foretrace::sim {

class MemorySource : public Source {
 public:
  // Communicator 0 is MPI_COMM_WORLD.
  explicit MemorySource(int ranks)
      : programs_(static_cast<std::size_t>(ranks)), next_(programs_.size()) {
    trace::Communicator world;
    for (int r = 0; r < ranks; ++r) world.members.push_back(WorldRank(r));
    comms_.push_back(std::move(world));
  }

  // The number of `name`, new or known.
  trace::NameId add_name(std::string_view name) {
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == name) return static_cast<trace::NameId>(i);
    names_.emplace_back(name);
    return static_cast<trace::NameId>(names_.size() - 1);
  }
  trace::CommId add_comm(std::vector<WorldRank> members) {
    comms_.push_back({comms_.size(), std::move(members)});
    return static_cast<trace::CommId>(comms_.size() - 1);
  }
  // Appends to a rank's program.
  void add(WorldRank rank, Operation operation,
           const std::vector<trace::Completion>& completions = {}) {
    if (!completions.empty()) operation.completions = completions_.emplace_back(completions);
    programs_[static_cast<std::size_t>(rank.value)].push_back(operation);
  }
  // Starts all streams again.
  void rewind() { next_.assign(programs_.size(), 0); }

  int ranks() const override { return static_cast<int>(programs_.size()); }
  bool next(WorldRank rank, Operation& operation) override {
    const auto r = static_cast<std::size_t>(rank.value);
    if (next_[r] == programs_[r].size()) return false;
    const Operation* from = &programs_[r][next_[r]++];
    operation = *from;
    // With many ranks each stream is touched too rarely for the processor to
    // see that it is one.
    __builtin_prefetch(from + 1);
    __builtin_prefetch(reinterpret_cast<const char*>(from + 1) + 64);
    return true;
  }
  std::string_view name(trace::NameId id) const override {
    return id < names_.size() ? std::string_view(names_[id]) : std::string_view("?");
  }
  const trace::Communicator& comm(trace::CommId id) const override { return comms_.at(id); }

 private:
  std::vector<std::vector<Operation>> programs_;
  std::vector<std::size_t> next_;
  std::vector<std::string> names_;
  std::deque<trace::Communicator> comms_;
  std::deque<std::vector<trace::Completion>> completions_;
};

}  // namespace foretrace::sim
