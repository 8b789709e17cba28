#include "mpi/core/rank.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

// A program that waits for the clock and does nothing else would look at it millions of
// times: after some times in a row a look stands for more and more of them, up to one in
// `kStep` of the wait so far.
Time virtual_time() {
  constexpr std::uint64_t kFew = 256;
  constexpr std::uint64_t kStep = 64;
  constexpr std::uint64_t kMost = 1 << 30;
  constexpr std::int64_t kBusy = Time::ns(5000).count_ps();
  static std::uint64_t in_row = 0;
  static std::uint32_t last = 0;  // the rank's postings after the look before
  const std::atomic<std::uint32_t>& posted = SharedMemory::slot(line.rank()).posted;
  if (posted.load(std::memory_order_relaxed) != last) in_row = 0;
  Record record = line.record(EventKind::call);
  record.count = in_row < kFew ? 1 : static_cast<std::uint32_t>(std::min(in_row / kStep, kMost));
  in_row += record.count;
  const std::int64_t clock = line.pass_time(record);
  // Calls that the library answers by itself are posted with the next one.
  if (posted.load(std::memory_order_relaxed) != last + 1 || record.compute > kBusy ||
      record.steps != 0)
    in_row = 0;
  last = posted.load(std::memory_order_relaxed);
  return Time::ps(clock);
}

double virtual_seconds() {
  return static_cast<double>(virtual_time().count_ps()) * 1e-12;
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
