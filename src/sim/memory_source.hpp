// MemorySource: a Program as a source of operations.
//
// Has its own place in each rank's operations, so that several simulations can
// read one program at once.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sim/program.hpp"

namespace foretrace::sim {

class MemorySource : public Source {
 public:
  explicit MemorySource(std::shared_ptr<Program> program)
      : program_(std::move(program)), next_(static_cast<std::size_t>(program_->ranks())) {}
  // An empty program of its own, to be filled by hand.
  explicit MemorySource(int ranks) : MemorySource(std::make_shared<Program>(ranks)) {}

  trace::NameId add_name(std::string_view name) { return program_->add_name(name); }
  trace::CommId add_comm(std::vector<WorldRank> members) {
    return program_->add_comm(std::move(members));
  }
  void add(WorldRank rank, Operation operation,
           const std::vector<trace::Completion>& completions = {}) {
    if (!completions.empty()) operation.completions = completions;
    program_->add(rank, operation);
  }

  // Starts all streams again.
  void rewind() { next_.assign(next_.size(), 0); }

  int ranks() const override { return program_->ranks(); }
  bool next(WorldRank rank, Operation& operation) override {
    std::size_t& at = next_[static_cast<std::size_t>(rank.value)];
    return program_->read(rank, at, operation) && ++at != 0;
  }
  Joining joining(WorldRank rank) const override {
    return program_->joining(rank, next_[static_cast<std::size_t>(rank.value)] - 1);
  }
  bool races() const override { return program_->races(); }
  bool posts_collectives() const override { return program_->posts_collectives(); }
  bool messages_race() const override { return program_->messages_race(); }
  std::string_view name(trace::NameId id) const override { return program_->name(id); }
  const trace::Communicator& comm(trace::CommId id) const override { return program_->comm(id); }
  std::string end_reason(WorldRank rank) const override { return program_->end_reason(rank); }

 private:
  std::shared_ptr<Program> program_;
  std::vector<std::size_t> next_;
};

}  // namespace foretrace::sim
