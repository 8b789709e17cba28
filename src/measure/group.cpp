#include "measure/group.hpp"

#include <sched.h>

#include <array>
#include <cstdint>
#include <vector>

#include "measure/clock.hpp"

namespace foretrace::measure {
namespace {

constexpr int kData = 1;
constexpr int kNotice = 2;

// Rank `i` answers with its clock between two readings of rank 0. On one clock
// the answer lies between the two, every time.
bool clocks_agree(MPI_Comm world, int rank, int size) {
  constexpr int kTries = 20;
  int agree = 1;
  for (int other = 1; other < size; ++other) {
    for (int i = 0; i < kTries; ++i) {
      std::int64_t reading = 0;
      if (rank == 0) {
        const std::int64_t before = now_ns();
        MPI_Send(&reading, 1, MPI_INT64_T, other, kData, world);
        MPI_Recv(&reading, 1, MPI_INT64_T, other, kData, world, MPI_STATUS_IGNORE);
        if (reading < before || reading > now_ns()) agree = 0;
      } else if (rank == other) {
        MPI_Recv(&reading, 1, MPI_INT64_T, 0, kData, world, MPI_STATUS_IGNORE);
        reading = now_ns();
        MPI_Send(&reading, 1, MPI_INT64_T, 0, kData, world);
      }
    }
  }
  MPI_Bcast(&agree, 1, MPI_INT, 0, world);
  return agree != 0;
}

// More ranks of this host than cores that any of them may run on.
bool host_is_oversubscribed(MPI_Comm host) {
  int ranks = 0;
  MPI_Comm_size(host, &ranks);
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  CPU_ZERO(&all);
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return false;
  MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, host);
  return ranks > CPU_COUNT(&all);
}

}  // namespace

Group group_of(MPI_Comm comm) {
  Group group{comm, 0, 0};
  MPI_Comm_rank(comm, &group.rank);
  MPI_Comm_size(comm, &group.size);
  return group;
}

Surroundings examine_surroundings(MPI_Comm world) {
  const Group group = group_of(world);
  MPI_Comm host;
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int on_host = 0;
  MPI_Comm_size(host, &on_host);
  int flags[2] = {on_host != group.size, host_is_oversubscribed(host)};
  MPI_Comm_free(&host);
  MPI_Allreduce(MPI_IN_PLACE, flags, 2, MPI_INT, MPI_LOR, world);
  const bool agree = clocks_agree(world, group.rank, group.size);
  return {agree && !flags[0], flags[1] != 0};
}

namespace {

// How long each try waits for a send to complete, in ns: on a busy machine the
// receiver may be switched out for many milliseconds.
constexpr std::array<std::int64_t, 3> kPatience{2'000'000, 10'000'000, 40'000'000};

// Rank 0's half of one probe.
bool completes_alone(const Group& pair, std::vector<char>& buffer, long long bytes,
                     std::int64_t patience) {
  MPI_Request request;
  MPI_Isend(buffer.data(), static_cast<int>(bytes), MPI_CHAR, 1, kData, pair.comm, &request);
  int done = 0;
  for (const std::int64_t end = now_ns() + patience; !done && now_ns() < end;)
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  MPI_Send(nullptr, 0, MPI_CHAR, 1, kNotice, pair.comm);
  if (!done) MPI_Wait(&request, MPI_STATUS_IGNORE);
  return done != 0;
}

// Rank 1's: stays in MPI, so that the library can move data, but posts the
// receive only when rank 0 has made up its mind.
void look_on(const Group& pair, std::vector<char>& buffer, long long bytes) {
  for (int told = 0; !told;) MPI_Iprobe(0, kNotice, pair.comm, &told, MPI_STATUS_IGNORE);
  MPI_Recv(nullptr, 0, MPI_CHAR, 0, kNotice, pair.comm, MPI_STATUS_IGNORE);
  MPI_Recv(buffer.data(), static_cast<int>(bytes), MPI_CHAR, 0, kData, pair.comm,
           MPI_STATUS_IGNORE);
}

}  // namespace

long long find_sync_threshold(const Group& pair, long long max_bytes) {
  std::vector<char> buffer(static_cast<std::size_t>(max_bytes) + 1);
  long long eager = -1;             // completes alone; -1: not known to
  long long waits = max_bytes + 1;  // does not; beyond the range: not known to
  // The largest size first: without a threshold one probe is enough.
  for (long long size = max_bytes; waits - eager > 1; size = eager + (waits - eager) / 2) {
    MPI_Bcast(&size, 1, MPI_LONG_LONG, 0, pair.comm);
    int alone = 0;
    // One positive proves it; a negative may be an interruption.
    for (std::int64_t patience : kPatience) {
      if (pair.rank == 0) {
        alone = completes_alone(pair, buffer, size, patience);
      } else {
        look_on(pair, buffer, size);
      }
      MPI_Bcast(&alone, 1, MPI_INT, 0, pair.comm);
      if (alone) break;
    }
    (alone ? eager : waits) = size;
  }
  return waits > max_bytes ? -1 : waits;
}

}  // namespace foretrace::measure
