#include "capture/session/line_probe.hpp"

#include <mpi.h>

#include <algorithm>
#include <vector>

#include "base/ticks.hpp"
#include "capture/session/own_comm.hpp"
#include "capture/session/start_up.hpp"
#include "mpi_api/hosts.hpp"

namespace foretrace::capture {

LineProbe line_probe;

void LineProbe::begin(const std::string& file, bool shares_cores) {
  if (file.empty()) return;
  int rank = 0;
  PMPI_Comm_rank(own_comm, &rank);
  const std::vector<std::int32_t> hosts = mpi_api::find_hosts(own_comm);
  const auto partner = std::find(hosts.begin() + 1, hosts.end(), hosts.front());
  times_ = rank == 0;
  const bool takes_part = times_ || (partner != hosts.end() && rank == partner - hosts.begin());
  if (takes_part) lines_ = map_lines(file);
  std::int64_t token = 0;
  if (times_) {
    token = monotonic_ns();
    if (lines_) lines_->token = token;
  }
  PMPI_Bcast(&token, 1, MPI_INT64_T, 0, own_comm);
  const bool can = !takes_part || (lines_ && lines_->token == token);
  if (!all_agree(can && partner != hosts.end() && !shares_cores)) lines_.reset();
  if (!lines_) return;
  const double seconds = time();
  if (times_) lines_->at_start = seconds;
}

void LineProbe::end() {
  if (!lines_) return;
  const double seconds = time();
  if (times_) lines_->at_end = seconds;
}

// 0 on the rank that answers. Where the other has no core meanwhile there is no time, so it is
// asked some more times.
double LineProbe::time() {
  constexpr int kTimings = 5;
  double least = 0;
  for (int i = 0; i < kTimings; ++i) {
    if (!times_) {
      lines_->line.answers();
      continue;
    }
    const double seconds = lines_->line.times_shortly();
    if (seconds > 0 && (least == 0 || seconds < least)) least = seconds;
  }
  return least;
}

}  // namespace foretrace::capture
