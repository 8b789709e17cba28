#include "capture/session/clock_sync.hpp"

#include <algorithm>
#include <array>

#include "base/cpu_clock.hpp"
#include "capture/session/own_comm.hpp"

namespace foretrace::capture {
namespace {

constexpr int kTag = 0;
constexpr ExchangeLimits kLimits{200, 500'000'000};

// Rank 0's side: tells its clock as often as `leader` asks.
void answer(int leader) {
  for (int more = 1;;) {
    PMPI_Recv(&more, 1, MPI_INT, leader, kTag, own_comm, MPI_STATUS_IGNORE);
    if (more == 0) return;
    const std::int64_t now = monotonic_ns();
    PMPI_Send(&now, 1, MPI_INT64_T, leader, kTag, own_comm);
  }
}

ClockOffset ask() {
  int more = 1;
  const ClockOffset offset = exchange_readings(kLimits, monotonic_ns, [&] {
    std::int64_t there = 0;
    PMPI_Send(&more, 1, MPI_INT, 0, kTag, own_comm);
    PMPI_Recv(&there, 1, MPI_INT64_T, 0, kTag, own_comm, MPI_STATUS_IGNORE);
    return there;
  });
  more = 0;
  PMPI_Send(&more, 1, MPI_INT, 0, kTag, own_comm);
  return offset;
}

}  // namespace

void ClockSync::start(int rank, int ranks) {
  rank_ = rank;
  ranks_ = ranks;
  const std::uint64_t mine = clock_identity(rank);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks));
  PMPI_Allgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, own_comm);
  leader_ = static_cast<int>(std::ranges::find(all, mine) - all.begin());
  std::vector<std::uint64_t> seen = all;
  std::ranges::sort(seen);
  const auto hosts = static_cast<std::size_t>(std::ranges::unique(seen).begin() - seen.begin());
  for (int r = 0; r < ranks && leaders_.size() < hosts; ++r) {
    const auto first = std::ranges::find(all, all[static_cast<std::size_t>(r)]) - all.begin();
    if (first == r) leaders_.push_back(r);
  }
  if (!several_hosts()) return;
  first_ = measure();
  first_error_ = first_.error;
  PMPI_Allreduce(MPI_IN_PLACE, &first_error_, 1, MPI_INT64_T, MPI_MAX, own_comm);
}

// Host by host: what one exchange takes must not depend on the others.
ClockOffset ClockSync::measure() const {
  ClockOffset own{monotonic_ns(), 0, 0};
  for (std::size_t host = 1; host < leaders_.size(); ++host) {
    if (rank_ == 0) answer(leaders_[host]);
    if (rank_ == leaders_[host]) own = ask();
  }
  const std::array<std::int64_t, 3> mine{own.at, own.offset, own.error};
  std::vector<std::array<std::int64_t, 3>> all(static_cast<std::size_t>(ranks_));
  PMPI_Allgather(mine.data(), 3, MPI_INT64_T, all.data(), 3, MPI_INT64_T, own_comm);
  const auto& of = all[static_cast<std::size_t>(leader_)];
  return {of[0], of[1], of[2]};
}

trace::Clocks ClockSync::at_start() const {
  return {static_cast<int>(leaders_.size()), Time::ns(first_error_), {}};
}

std::int64_t ClockSync::common_now_ns() const {
  std::int64_t latest = monotonic_ns() + first_.offset;
  PMPI_Allreduce(MPI_IN_PLACE, &latest, 1, MPI_INT64_T, MPI_MAX, own_comm);
  return latest - first_.offset;
}

trace::Clocks ClockSync::finish(std::int64_t zero_ns) {
  trace::Clocks clocks = at_start();
  if (!several_hosts()) return clocks;
  const ClockOffset last = measure();
  const std::array<std::int64_t, 4> mine{first_.at - zero_ns, last.at - zero_ns,
                                         last.offset - first_.offset, last.error};
  std::vector<std::array<std::int64_t, 4>> all(static_cast<std::size_t>(rank_ == 0 ? ranks_ : 0));
  PMPI_Gather(mine.data(), 4, MPI_INT64_T, all.data(), 4, MPI_INT64_T, 0, own_comm);
  for (const auto& [from, to, change, error] : all) {
    clocks.drift.push_back({Time::ns(from), Time::ns(to), Time::ns(change)});
    clocks.error = std::max(clocks.error, Time::ns(error));
  }
  return clocks;
}

}  // namespace foretrace::capture
