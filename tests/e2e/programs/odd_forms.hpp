// Helpers of odd_forms: checked data, and the cases that lie in other files.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

#include "foretrace.h"

namespace odd_forms {

constexpr int kLarge = 20'000;  // numbers; above any threshold of the tests
using Numbers = std::vector<int>;

inline int rank;
inline int size;
const MPI_Comm world = MPI_COMM_WORLD;

inline void check(bool good, int line) {
  if (good) return;
  std::fprintf(stderr, "odd_forms: rank %d: line %d: wrong\n", rank, line);
  MPI_Abort(world, 1);
  std::abort();
}
#define CHECK(condition) check(condition, __LINE__)

inline Numbers numbers(int count, int start) {
  Numbers out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), start);
  return out;
}

inline void check_status(const MPI_Status& status, int source, int tag, int count, int line) {
  int found = -1;
  MPI_Get_count(&status, MPI_INT, &found);
  check(status.MPI_SOURCE == source && status.MPI_TAG == tag && found == count, line);
}

inline void send(int count, int start, int to, int tag, MPI_Comm comm = world) {
  const Numbers data = numbers(count, start);
  MPI_Send(data.data(), count, MPI_INT, to, tag, comm);
}

inline void receive(int count, int start, int from, int tag, MPI_Comm comm = world) {
  Numbers data(static_cast<std::size_t>(count));
  MPI_Recv(data.data(), count, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
  CHECK(data == numbers(count, start));
}
// Messages and collectives on a communicator.
void use(MPI_Comm comm);
void communicators();
void comm_free();
void many_comms();
void shared_handles();
void completion();
void self();
void busy_iprobe();
void busy_ibarrier();
void busy_test_ibarrier();
void busy_create_group();
void busy_barrier();
void busy_window();
void posted_collectives();
void posted_together();
void posted_tested();
void persistent_collectives();
void duplicate_posted();
void send_and_receive_posted();
void neighbours();
void between();
void nothing();
void creations();
void window();
void file();

}  // namespace odd_forms
