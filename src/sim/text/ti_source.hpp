// TiSource: SimGrid's time-independent traces as a source of operations.
//
// Walks what read_ti() read. A wait names its request by source, destination
// and tag; which one that is turns out here, in the order of posting. Requests
// that are open at the end are waited for before MPI_Finalize, as SimGrid does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/source.hpp"
#include "sim/text/ti_trace.hpp"

namespace foretrace::sim {

class TiSource : public Source {
 public:
  explicit TiSource(TiTrace trace);

  // Starts all ranks again.
  void rewind();

  int ranks() const override { return static_cast<int>(trace_.ranks.size()); }
  bool next(WorldRank rank, Operation& operation) override;
  void completed(WorldRank rank, const Operation& operation, const Interval& interval,
                 const Outcome& outcome) override;
  bool reactive() const override { return trace_.races; }
  bool races() const override { return trace_.races; }
  bool posts_collectives() const override { return false; }
  std::string_view name(trace::NameId id) const override { return names_.at(id); }
  const trace::Communicator& comm(trace::CommId id) const override;

 private:
  struct Open {
    std::uint32_t request = 0;
    std::int32_t source = 0;
    std::int32_t destination = 0;
    std::int32_t tag = 0;
  };
  enum class Stage : std::uint8_t { begin, actions, end, over };
  struct Rank {
    std::size_t at = 0;
    Time compute;            // before the next operation
    std::vector<Open> open;  // in the order of posting
    std::vector<trace::Completion> completions;
    std::uint32_t posted = 0;
    Stage stage = Stage::begin;
  };

  // False if nothing comes of the action.
  bool fill(std::int32_t me, Rank& rank, const TiAction& action, Operation& operation);
  void fill_message(std::int32_t me, Rank& rank, const TiAction& action, Operation& operation);
  static void fill_sendrecv(const TiAction& action, Operation& operation);
  bool fill_completing(Rank& rank, const TiAction& action, Operation& operation);
  bool fill_all(Rank& rank, Operation& operation) const;
  static std::size_t find(const Rank& rank, const TiAction& action);
  void start(Rank& rank, trace::EventKind kind, trace::NameId name, Operation& operation) const;

  TiTrace trace_;
  std::vector<Rank> ranks_;
  std::vector<std::string> names_;
  trace::Communicator world_;
};

}  // namespace foretrace::sim
