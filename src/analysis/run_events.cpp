#include "analysis/run_events.hpp"

namespace foretrace::analysis {

int RunEvents::ranks() const {
  return trace_ ? static_cast<int>(trace_->ranks.size()) : reader_->file().ranks();
}

void RunEvents::begin(WorldRank rank) {
  rank_ = rank;
  next_ = 0;
  if (reader_) reader_->rewind(rank);
}

const trace::Event* RunEvents::next() {
  if (reader_) return reader_->next(rank_, event_) ? &event_ : nullptr;
  const auto& events = trace_->ranks[static_cast<std::size_t>(rank_.value)];
  return next_ < events.size() ? &events[next_++] : nullptr;
}

const trace::Communicator* RunEvents::comm(const trace::Event& event) const {
  if (!trace::uses_comm(event)) return nullptr;
  return trace_ ? &trace_->comms.at(event.comm) : &reader_->file().comm(rank_, event.comm);
}

}  // namespace foretrace::analysis
