#include "mpi/core/rank.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/ticks.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/simulator.hpp"
#include "shared/heap.hpp"

namespace foretrace::mpi {

using trace::EventKind;

int world_rank() {
  return line.rank();
}

int world_size() {
  return SharedMemory::mapped() ? SharedMemory::header().ranks : line.size();
}

int process_of(int rank) {
  return SharedMemory::slot(rank).process;
}

int node_of(int rank) {
  return SharedMemory::slot(rank).node;
}

// How many readings of the clock one stands for, the last of so many in a row. A program that waits
// for the clock and does nothing else would make millions of them; to wait for an hour takes some
// three million, and ends within a few hundred-thousandths. Programs that read the clock for other
// reasons, to time what they do, stay below kMany.
std::uint32_t readings_in_one(std::uint64_t in_row) {
  constexpr std::uint64_t kMany = 100'000;
  constexpr std::uint64_t kStep = 2'000;
  constexpr std::uint64_t kDoubles = 200'000;
  constexpr std::uint64_t kMost = 1 << 30;
  if (in_row <= kMany) return 1;
  const std::uint64_t more = in_row - kMany;
  return static_cast<std::uint32_t>(
      std::min(1 + (more / kStep << std::min<std::uint64_t>(more / kDoubles, 20)), kMost));
}

Time virtual_time(std::uint32_t at_least) {
  constexpr std::int64_t kNearlyNothing = 250;  // ns between two looks, on average,
  constexpr std::int64_t kSomething = 10'000;   // where more than this may be another process
  struct Row {
    std::uint64_t looks = 0;
    std::uint64_t place = 0;
    std::int64_t between = 0;  // them, in real time, ns
    std::int64_t left = 0;     // the last one
  };
  static Row row;
  static std::uint32_t last = 0;  // the rank's postings after the look before
  const std::int64_t entered = monotonic_ns();
  const std::atomic<std::uint32_t>& posted = SharedMemory::slot(line.rank()).posted;
  if (posted.load(std::memory_order_relaxed) != last || line.site() != row.place)
    row = {0, line.site(), 0, entered};
  row.between += std::min(entered - row.left, kSomething);
  if (row.between > kNearlyNothing * static_cast<std::int64_t>(row.looks))
    row = {0, row.place, 0, entered};
  Record record = line.record(EventKind::call);
  record.count = std::max(at_least, readings_in_one(++row.looks));
  const std::int64_t clock = line.pass_time(record);
  // Calls that the library answers by itself are posted with the next one.
  if (posted.load(std::memory_order_relaxed) != last + 1 || record.steps != 0) row.looks = 0;
  last = posted.load(std::memory_order_relaxed);
  row.left = monotonic_ns();
  return Time::ps(clock);
}

double virtual_seconds() {
  const Time clock = virtual_time(line.readings_for_sleep());
  line.has_shown(clock);
  return static_cast<double>(clock.count_ps()) * 1e-12;
}

void end_run(int exit_status, const std::string& message) {
  if (!line.is_open()) {
    if (!message.empty()) std::fprintf(stderr, "foretrace: %s\n", message.c_str());
    std::_Exit(exit_status == 0 ? 1 : exit_status);
  }
  // What the program printed before would be lost with the process.
  std::fflush(nullptr);
  Record record = line.record(EventKind::aborted);
  record.code = exit_status;
  const std::string text =
      message.empty() ? message : "rank " + std::to_string(world_rank()) + ": " + message;
  if (!text.empty()) {
    record.list_count = static_cast<std::uint32_t>(text.size());
    record.list = heap::allocate(text.size());
    if (record.list != 0)
      std::memcpy(SharedMemory::at<char>(record.list), text.data(), text.size());
  }
  line.ask(record);
  std::_Exit(exit_status);
}

}  // namespace foretrace::mpi
