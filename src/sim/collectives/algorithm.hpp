// Collective algorithms: which messages a rank sends and receives for its part
// of a collective, one step after the other.
//
// Each algorithm is a pure function from (call, number of the step) to the
// step, so that a million ranks can be in the middle of one without any memory
// of their own but the number. It knows local ranks and sizes, no times; the
// engine carries the steps out. docs/collectives.md names the algorithms and
// their sources.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "machine/timing.hpp"

namespace foretrace::sim {

// One rank's view of a collective call.
struct CollectiveCall {
  machine::Cost collective = machine::Cost::kCount;
  int size = 1;  // ranks of the communicator, >= 1
  int rank = 0;  // of this rank, 0..size-1
  int root = 0;  // of the rooted ones, else 0
  Bytes bytes;   // d of the collective's equation (docs/trace-format.md)
  // As in trace::Counts; empty: `bytes` tells all.
  std::span<const Bytes> counts = {};
  bool posted = false;  // non-blocking, for which libraries have choices of their own
};

inline constexpr int kNobody = -1;

struct Step {
  enum class Kind : std::uint8_t {
    exchange,   // blocking: sends to `to` and receives from `from`, either may be kNobody
    post_send,  // non-blocking
    post_recv,
    wait_all,  // for all that is posted; the last step does so by itself
    nothing,   // what it would send and receive is left out, being empty
  };
  Kind kind = Kind::exchange;
  int to = kNobody;  // local ranks
  int from = kNobody;
  Bytes send_bytes;
  Bytes recv_bytes;  // what is expected; the message's own size counts
  Bytes reduced;     // combined by a reduction after this step
};

// Fills in step `index` (0, 1, ...) of the rank's part; false after the last.
using StepFunction = bool (*)(const CollectiveCall& call, std::uint32_t index, Step& step);

struct Algorithm {
  std::string_view name;  // "binomial"
  StepFunction step = nullptr;
};

// The algorithms for a collective, by name; empty for those that are never
// expanded (none has messages of its own then).
const std::vector<Algorithm>& algorithms_for(machine::Cost collective);

// "bcast: linear, chain, ..." for each collective that has algorithms, a line
// each: for help texts.
std::string list_algorithms();

// Which algorithm a library takes for a call.
class AlgorithmTable {
 public:
  // "openmpi", "mpich", or either followed by choices: "mpich,bcast=binomial".
  // A text of choices alone builds on openmpi. Throws UsageError that lists
  // what there is.
  explicit AlgorithmTable(std::string_view text);

  // For every collective that algorithms_for() knows. Depends on the collective,
  // the size and the bytes alone.
  const Algorithm& choose(const CollectiveCall& call) const;

 private:
  enum class Library : std::uint8_t { openmpi, mpich };
  Library library_ = Library::openmpi;
  std::vector<std::optional<Algorithm>> forced_;  // by machine::Cost
};

}  // namespace foretrace::sim
