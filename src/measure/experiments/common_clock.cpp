#include "measure/experiments/common_clock.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "measure/experiments/clock.hpp"

namespace foretrace::measure {
namespace {

constexpr int kClockTag = 3;
constexpr ExchangeLimits kLimits{60, 100'000'000};

// Tells this host's clock as often as `other` asks, then how the common clock
// follows from it.
void answer(int other, MPI_Comm comm, const ClockLine& line) {
  for (int more = 1;;) {
    MPI_Recv(&more, 1, MPI_INT, other, kClockTag, comm, MPI_STATUS_IGNORE);
    if (more == 0) break;
    const std::int64_t now = now_ns();
    MPI_Send(&now, 1, MPI_INT64_T, other, kClockTag, comm);
  }
  MPI_Send(&line, sizeof line, MPI_BYTE, other, kClockTag, comm);
}

// Measures this host's clock against the common one, by way of `other`.
ClockOffset ask(int other, MPI_Comm comm) {
  int more = 1;
  ClockOffset offset = exchange_readings(kLimits, now_ns, [&] {
    std::int64_t there = 0;
    MPI_Send(&more, 1, MPI_INT, other, kClockTag, comm);
    MPI_Recv(&there, 1, MPI_INT64_T, other, kClockTag, comm, MPI_STATUS_IGNORE);
    return there;
  });
  more = 0;
  MPI_Send(&more, 1, MPI_INT, other, kClockTag, comm);
  ClockLine theirs;
  MPI_Recv(&theirs, sizeof theirs, MPI_BYTE, other, kClockTag, comm, MPI_STATUS_IGNORE);
  const std::int64_t there = offset.at + offset.offset;
  offset.offset = theirs.to_common(there) - offset.at;
  offset.error += theirs.error;
  return offset;
}

}  // namespace

CommonClock::CommonClock(MPI_Comm world) : world_(world) {
  int size = 0;
  MPI_Comm_rank(world, &rank_);
  MPI_Comm_size(world, &size);
  // A shifted clock is nobody else's.
  const std::uint64_t mine =
      clock_shift.on ? static_cast<std::uint64_t>(rank_) : clock_identity(rank_);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size));
  MPI_Allgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, world);
  for (int r = 0; r < size; ++r) {
    const std::uint64_t theirs = all[static_cast<std::size_t>(r)];
    if (std::ranges::find(all, theirs) - all.begin() != r) continue;
    if (theirs == mine) host_index_ = static_cast<int>(leaders_.size());
    leaders_.push_back(r);
  }
  if (!several_hosts()) return;
  MPI_Comm_dup(world, &world_);
  MPI_Comm_split(world, host_index_, rank_, &host_);
}

void CommonClock::release() {
  if (!several_hosts()) return;
  MPI_Comm_free(&world_);
  MPI_Comm_free(&host_);
}

void CommonClock::measure_as_leader() {
  const int hosts = static_cast<int>(leaders_.size());
  for (int known = 1; known < hosts; known *= 2) {
    if (host_index_ < known) {
      const int other = host_index_ + known;
      if (other < hosts) answer(leaders_[static_cast<std::size_t>(other)], world_, line_);
    } else if (host_index_ < 2 * known) {
      const auto other = static_cast<std::size_t>(host_index_ - known);
      model_.add(ask(leaders_[other], world_));
      line_ = model_.line();
    }
  }
}

void CommonClock::measure() {
  if (!several_hosts()) return;
  if (rank_ == leaders_[static_cast<std::size_t>(host_index_)]) measure_as_leader();
  MPI_Bcast(&line_, sizeof line_, MPI_BYTE, 0, host_);
  MPI_Allreduce(&line_.error, &error_, 1, MPI_INT64_T, MPI_MAX, world_);
}

void shift_clock_for_tests(int rank) {
  const char* text = std::getenv("FORETRACE_MEASURE_CLOCK");
  if (text == nullptr) return;
  const std::string_view all = text;
  int whose = 0;
  std::int64_t offset = 0;
  double ppm = 0;
  const char* end = all.data() + all.size();
  auto at = std::from_chars(all.data(), end, whose);
  if (at.ptr < end) at = std::from_chars(at.ptr + 1, end, offset);
  if (at.ptr < end) at = std::from_chars(at.ptr + 1, end, ppm);
  if (at.ec != std::errc() || at.ptr != end)
    throw UsageError("FORETRACE_MEASURE_CLOCK: expected RANK:NANOSECONDS:PPM, found '" +
                     std::string(all) + "'");
  if (rank == whose) clock_shift = {true, unshifted_ns(), offset, 1e-6 * ppm};
}

}  // namespace foretrace::measure
