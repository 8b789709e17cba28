// LogGPS parameters by interval of message sizes, and Demaine's i and t, from
// the samples of the point-to-point functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine_model.hpp"
#include "measure/fit/terms.hpp"

namespace foretrace::measure {

struct LogGPSProblem {
  // By name of function; times in seconds. Those that are missing tell nothing.
  std::map<std::string, std::vector<Observation>, std::less<>> functions;
  std::vector<std::uint64_t> thresholds;  // last sizes of all intervals but the highest
  std::optional<Bytes> sync_threshold;    // S: messages wait for their receiver from here on
  double negligible = 0;                  // seconds
  double coverage = 0.95;
};

// In each interval the measured times are lines in x = d - 1 whose values at one byte are (the
// transfers of docs/networks.md, loggps, both sides entering at the same time):
//   below S: send o_s, recvmin o_r, recv o_s + L + o_r + G x, gap g;
//   from S on: isend1 o_s, send and ssend 2 o_s + 2 L, recvmin o_s + 2 L + o_r, recv 2 o_s + 3 L +
//   o_r + G x, gap g.
// Copying makes the other functions grow with x too; these slopes are fitted and
// not told. One robust fit by relative error of all of them, errors by bootstrap of
// launches. A parameter whose confidence interval reaches 0 is not separable, nor is a
// gap that does not exceed o_s, behind which it hides.
//
// The overlap of a side is the median over the sizes of isendoverlap / (isend1 + isend2), of
// irecvoverlap / (irecv1 + irecv2).
std::vector<machine::LogGPSRegime> fit_loggps(const LogGPSProblem& problem);

// Half a round trip of k bytes is i + k t, over all sizes (Demaine, HPCS 1996, section 4). Not set
// without `pingpong`.
std::optional<machine::HopParameters> fit_hop(const LogGPSProblem& problem);

}  // namespace foretrace::measure
