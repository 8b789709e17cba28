// Validation: where a prediction and real runs of the same program part.
//
// Takes the traces of real runs (clock wall) and of predictions of them, and sums up
// computation, waiting and the calls' own time (transfer) by function, size, call site
// and phase. What waits is told in the same way for both: a call waits until the last
// rank that it needs has made its own call (waiting.hpp). Of several traces the median
// counts. Sums are over all ranks. Then diagnose() asks the machine model what in it may
// be the cause. Computes only; views/report/validation.hpp draws it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare.hpp"
#include "base/time.hpp"
#include "machine/machine_model.hpp"
#include "trace/tell_place.hpp"
#include "trace/trace.hpp"

namespace foretrace::analysis {

// Of several runs, by rank order: the lower quartile, the median, the upper quartile.
struct RunSpread {
  Time low;
  Time median;
  Time high;
};
RunSpread spread_of(std::vector<Time> times);

enum class TimePart : std::uint8_t { computation, transfer, waiting };
const char* name_of(TimePart part);

// Calls (or the computation before them) that have much in common.
struct ValidatedGroup {
  TimePart part = TimePart::transfer;
  std::string function;  // MPI_Recv; of a computation: the call that ends it, empty: a mark
  trace::EventKind kind = trace::EventKind::call;
  std::string place;        // "halo.c:37"; empty: not known
  std::string phase;        // the innermost that is open; empty: none
  Bytes least{UINT64_MAX};  // sizes of the messages; least > most: there are none
  Bytes most{0};
  int ranks = 2;            // collectives: members, at most
  std::uint64_t calls = 0;  // in one run
  // Of them the first ones of a rank to a partner, or on a communicator.
  std::uint64_t first_calls = 0;
  RunSpread measured;  // over the calls
  RunSpread predicted;
  RunSpread measured_first;  // over the first calls

  Time difference() const { return predicted.median - measured.median; }
  Time distance() const { return difference() < Time() ? Time() - difference() : difference(); }
  // By how much the real runs differ among each other.
  Time scatter() const { return measured.high - measured.low; }
};

struct Validation {
  RunSpread measured;  // the program's time, without tracing where such runs are known
  // What logging the calls added to the runs that the parts and groups are of: those runs' time,
  // and how much it is for each call of the rank with the most. It is taken out of parts and
  // groups. Zero where nobody knows.
  RunSpread traced;
  Time traced_call;
  RunSpread predicted;
  RunSpread parts[3][2];  // by TimePart: measured, predicted
  // By how much the computation took longer than its CPU time: others had the cores.
  RunSpread switched_out;
  // The greatest distance first.
  std::vector<ValidatedGroup> groups;
  std::optional<Difference> difference;  // the calls are not the same ones

  // (predicted - measured) / measured, of the medians.
  double error() const;
};

// `untraced`: what the program took in runs whose calls were not logged; may be empty. At least one
// trace of each, all of the same number of ranks and none recorded with clock
// cpu, else throws Error. A simulated run may stand for a real one.
Validation validate(const std::vector<trace::Trace>& measured,
                    const std::vector<trace::Trace>& predicted, const trace::TellPlace& tell,
                    const std::vector<Time>& untraced = {});

// When the last rank comes to MPI_Finalize, or to its end.
Time program_time(const trace::Trace& trace);

// What differs by less than this share of the program's time, over all ranks, is not told.
inline constexpr double kLeastShare = 0.005;

enum class CauseKind : std::uint8_t {
  threshold,    // S: who waits for whom
  per_byte,     // an equation's time grows too fast or too slowly with the size
  fixed,        // it is off by the same time for all sizes
  missing,      // the model has nothing for the function
  beyond,       // sizes or ranks that were not measured
  unreliable,   // the model says itself that it cannot be trusted
  first_calls,  // those of a rank to a partner take longer than later ones: connections
  computation,  // the time between the calls
  waiting,      // ranks come at other times: look at what is before
};

struct Cause {
  CauseKind kind = CauseKind::waiting;
  std::size_t group = 0;  // of Validation::groups
  std::string text;       // what is wrong, one sentence without its end
  std::string advice;     // what to do about it
};

// Whether `foretrace measure` measures a function of the data sheet.
using IsMeasured = std::function<bool(std::string_view function)>;

// What may be wrong, the one that matters most first: at most `most` of them. Waiting is
// named where the protocol makes it, else after all that may have caused it.
std::vector<Cause> diagnose(const Validation& validation, const machine::MachineModel& model,
                            const IsMeasured& is_measured, std::size_t most);

}  // namespace foretrace::analysis
