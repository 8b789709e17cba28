// Messages: which send met which receive.
//
// MPI's rule: the k-th message from one rank to another under one tag in one
// communicator is received by the k-th receive that was posted for it. A trace
// that was cut off leaves sends or receives without a partner; they are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "trace/trace.hpp"

namespace foretrace::analysis {

struct Message {
  WorldRank from;
  WorldRank to;
  std::size_t send = 0;     // event of `from`
  std::size_t receive = 0;  // event of `to`: the call after which it is there
  Time sent;                // the send was entered
  Time received;            // that call was left
};

// Ordered by receiver and, for each, by the order of posting.
std::vector<Message> pair_messages(const trace::Trace& trace);

// Messages that were there before their send was entered: the clocks of the
// ranks' hosts contradict each other.
std::uint64_t count_clock_violations(const trace::Trace& trace);

}  // namespace foretrace::analysis
