#include <mpi.h>

#include <array>
#include <memory>

#include "measure/core/patterns.hpp"
#include "measure/experiments/clock.hpp"
#include "measure/experiments/experiments.hpp"

namespace foretrace::measure {
namespace {

// Half of the ranks send to a random permutation of the other half, another
// one each time; the sends are measured, until the last one is done.
Experiment allsend(const Group& group, std::uint64_t bytes, Buffers& buffers) {
  struct Round {
    std::mt19937_64 random{1};  // all ranks draw the same
    std::vector<int> order;
  };
  const auto round = std::make_shared<Round>();
  const int half = group.size / 2;
  const bool sender = group.rank < half;
  const int count = static_cast<int>(bytes);
  return {{"allsend"},
          [=, &buffers] {
            round->order = permutation(half, round->random);
            buffers.next(sender ? bytes : 0, bytes);
          },
          [=, &buffers](std::int64_t entry, std::int64_t, Span* spans) {
            const std::optional<int> partner = allsend_partner(group.rank, round->order);
            if (sender) {
              MPI_Send(buffers.send(), count, MPI_CHAR, *partner, 0, group.comm);
              spans[0] = {entry, now_ns()};
            } else if (partner) {
              MPI_Recv(buffers.recv(), count, MPI_CHAR, *partner, 0, group.comm, MPI_STATUS_IGNORE);
            }
          }};
}

// Every rank sends to each of its neighbours and receives from them, all at
// once, as programs on a grid do.
Experiment exchange(const char* name, const Group& group, const std::vector<int>& neighbours,
                    std::uint64_t bytes, Buffers& buffers) {
  const MPI_Comm comm = group.comm;
  const int count = static_cast<int>(bytes);
  const std::size_t n = neighbours.size();
  const auto requests = std::make_shared<std::vector<MPI_Request>>(2 * n);
  return {
      {name},
      [=, &buffers] { buffers.next(bytes * n, bytes * n); },
      [=, &buffers](std::int64_t entry, std::int64_t, Span* spans) {
        MPI_Request* request = requests->data();
        for (std::size_t i = 0; i < n; ++i)
          MPI_Irecv(buffers.recv() + i * bytes, count, MPI_CHAR, neighbours[i], 0, comm, request++);
        for (std::size_t i = 0; i < n; ++i)
          MPI_Isend(buffers.send() + i * bytes, count, MPI_CHAR, neighbours[i], 0, comm, request++);
        MPI_Waitall(static_cast<int>(2 * n), requests->data(), MPI_STATUSES_IGNORE);
        spans[0] = {entry, now_ns()};
      }};
}

}  // namespace

std::vector<Experiment> contention_experiments(const Group& group, std::uint64_t bytes,
                                               Buffers& buffers) {
  std::array<int, 2> sides{};
  MPI_Dims_create(group.size, 2, sides.data());
  return {allsend(group, bytes, buffers),
          exchange("exchange_ring", group, ring_neighbours(group.rank, group.size), bytes, buffers),
          exchange("exchange_mesh", group, mesh_neighbours(group.rank, sides[0], sides[1]), bytes,
                   buffers)};
}

}  // namespace foretrace::measure
