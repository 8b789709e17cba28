// Cases of odd_forms: collectives that are posted, neighbourhoods.
#include <array>

#include "odd_forms.hpp"

#if MPI_VERSION >= 4
#define PERSISTENT(name) MPI_##name##_init
#elif defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
#define PERSISTENT(name) MPIX_##name##_init
#endif
#endif

namespace odd_forms {
namespace {

int sum_of_ranks() {
  return size * (size - 1) / 2;
}

// Each with a count of its own, so that a mix-up shows in the times.
struct All {
  explicit All(int count) : one(numbers(count, rank)), all(one.size() * world_size()), got(one) {}
  static std::size_t world_size() { return static_cast<std::size_t>(size); }
  int count() const { return static_cast<int>(one.size()); }

  Numbers one, all, got;
};

void uneven(int steps) {
  FORETRACE_COMPUTE(steps * (1 + (rank * 2) % 3));
}

}  // namespace

void posted_collectives() {
  MPI_Request request;
  uneven(300);
  MPI_Ibarrier(world, &request);
  uneven(100);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int root = 0; root < size; ++root) {
    Numbers data = numbers(50 + root, rank == root ? 7 : 0);
    uneven(200);
    MPI_Ibcast(data.data(), 50 + root, MPI_INT, root, world, &request);
    FORETRACE_COMPUTE(50);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(data == numbers(50 + root, 7));
    int sum = -1;
    uneven(150);
    MPI_Ireduce(&rank, &sum, 1, MPI_INT, MPI_SUM, root, world, &request);
    uneven(20);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == (rank == root ? sum_of_ranks() : -1));
    All gathered(10 + root);
    MPI_Igather(gathered.one.data(), gathered.count(), MPI_INT, gathered.all.data(),
                gathered.count(), MPI_INT, root, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    uneven(70);
    MPI_Iscatter(gathered.all.data(), gathered.count(), MPI_INT, gathered.got.data(),
                 gathered.count(), MPI_INT, root, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(gathered.got == gathered.one);
  }
  int prefix = -1;
  uneven(500);
  MPI_Iscan(&rank, &prefix, 1, MPI_INT, MPI_SUM, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(prefix == rank * (rank + 1) / 2);
  uneven(90);
  MPI_Iexscan(&rank, &prefix, 1, MPI_INT, MPI_SUM, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  All each(kLarge / 10);
  uneven(900);
  MPI_Iallgather(each.one.data(), each.count(), MPI_INT, each.all.data(), each.count(), MPI_INT,
                 world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(each.all[each.one.size()] == 1);
}

// Several at a time, completed in another order, beside messages; and by tests.
void posted_together() {
  const int next = (rank + 1) % size;
  const int last = (rank + size - 1) % size;
  MPI_Request requests[5];
  int sum = 0;
  Numbers data = numbers(300, rank == 1 ? 5 : 0);
  Numbers out = numbers(kLarge, rank);
  Numbers in(kLarge);
  uneven(400);
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, world, &requests[3]);
  MPI_Irecv(in.data(), kLarge, MPI_INT, MPI_ANY_SOURCE, 4, world, &requests[0]);
  MPI_Ibcast(data.data(), 300, MPI_INT, 1, world, &requests[1]);
  MPI_Isend(out.data(), kLarge, MPI_INT, next, 4, world, &requests[2]);
  uneven(700);
  MPI_Ibarrier(world, &requests[4]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  CHECK(sum == sum_of_ranks() && data == numbers(300, 5) && in == numbers(kLarge, last));
  MPI_Wait(&requests[4], MPI_STATUS_IGNORE);
  // Blocking ones between the posting and the completion of others.
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_MAX, world, &requests[0]);
  int least = -1;
  uneven(60);
  MPI_Allreduce(&rank, &least, 1, MPI_INT, MPI_MIN, world);
  MPI_Sendrecv(out.data(), kLarge, MPI_INT, next, 9, in.data(), kLarge, MPI_INT, last, 9, world,
               MPI_STATUS_IGNORE);
  MPI_Ibarrier(world, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(sum == size - 1 && least == 0);
  // Nobody waits for those who need not come: the root of a broadcast goes on.
  // (MPICH itself makes it wait.)
#ifndef MPICH
  if (rank == 1) {
    MPI_Ibcast(data.data(), 3, MPI_INT, 1, world, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    send(3, 1, 0, 2);
  } else {
    if (rank == 0) receive(3, 1, 1, 2);
    FORETRACE_COMPUTE(5000);
    MPI_Ibcast(data.data(), 3, MPI_INT, 1, world, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
#endif
}

void posted_tested() {
  MPI_Request requests[2];
  int sum = 0;
  uneven(300);
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, world, &requests[0]);
  uneven(500);
  MPI_Ibarrier(world, &requests[1]);
  int flag = 0;
  while (!flag) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
  CHECK(sum == sum_of_ranks());
  MPI_Ibarrier(world, &requests[0]);
  for (flag = 0; !flag;) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
}

void persistent_collectives() {
#ifdef PERSISTENT
  int sum = 0;
  int mine = 0;
  Numbers data(100);
  MPI_Request requests[2];
  PERSISTENT(Allreduce)(&mine, &sum, 1, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &requests[0]);
  PERSISTENT(Bcast)(data.data(), 100, MPI_INT, 0, world, MPI_INFO_NULL, &requests[1]);
  for (int round = 1; round <= 3; ++round) {
    mine = rank * round;
    std::iota(data.begin(), data.end(), rank == 0 ? round : 0);
    uneven(100 * round);
    MPI_Startall(2, requests);
    uneven(40);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(sum == round * sum_of_ranks() && data == numbers(100, round));
  }
  MPI_Start(&requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
#endif
}

void duplicate_posted() {
  MPI_Comm copies[2];
  MPI_Request requests[2];
  uneven(100);
  MPI_Comm_idup(world, &copies[0], &requests[0]);
  uneven(300);
  MPI_Comm_idup(world, &copies[1], &requests[1]);
  if (rank == 1) {
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  } else {
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  for (MPI_Comm& copy : copies) {
    use(copy);
    MPI_Comm_free(&copy);
  }
}

void send_and_receive_posted() {
#if MPI_VERSION >= 4
  const int next = (rank + 1) % size;
  const int last = (rank + size - 1) % size;
  for (const int count : {5, kLarge}) {
    Numbers out = numbers(count, rank);
    Numbers in(out.size());
    MPI_Request request;
    uneven(100);
    MPI_Isendrecv(out.data(), count, MPI_INT, next, 3, in.data(), count, MPI_INT, last, 3, world,
                  &request);
    uneven(30);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in == numbers(count, last));
    MPI_Isendrecv_replace(out.data(), count, MPI_INT, next, 4, last, 4, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(out == in);
  }
#endif
}

namespace {

MPI_Comm grid() {
  const std::array<int, 2> dims{size, 1};
  const std::array<int, 2> periods{0, 1};
  MPI_Comm comm;
  MPI_Cart_create(world, 2, dims.data(), periods.data(), 0, &comm);
  return comm;
}

// Everybody to rank 0, and along a ring.
MPI_Comm directed_graph() {
  const int next = (rank + 1) % size;
  std::vector<int> sources{(rank + size - 1) % size};
  std::vector<int> destinations{next};
  if (rank != 0) destinations.push_back(0);
  for (int i = 1; rank == 0 && i < size; ++i) sources.push_back(i);
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(world, static_cast<int>(sources.size()), sources.data(),
                                 MPI_UNWEIGHTED, static_cast<int>(destinations.size()),
                                 destinations.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  return comm;
}

}  // namespace

void neighbours() {
  MPI_Comm line = grid();
  for (const int count : {3, kLarge}) {
    const Numbers out = numbers(count, 10 * rank);
    Numbers in(4 * out.size(), -1);
    uneven(200);
    MPI_Neighbor_allgather(out.data(), count, MPI_INT, in.data(), count, MPI_INT, line);
    CHECK(in[0] == (rank > 0 ? 10 * (rank - 1) : -1));
    CHECK(in[2 * out.size()] == 10 * rank);
    Numbers parts = numbers(4 * count, 100 * rank);
    uneven(100);
    MPI_Neighbor_alltoall(parts.data(), count, MPI_INT, in.data(), count, MPI_INT, line);
    MPI_Request request;
    uneven(150);
    MPI_Ineighbor_allgather(out.data(), count, MPI_INT, in.data(), count, MPI_INT, line, &request);
    uneven(50);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank > 0) CHECK(in[0] == 10 * (rank - 1));
  }
  MPI_Comm_free(&line);
  MPI_Comm directed = directed_graph();
  Numbers in(static_cast<std::size_t>(2 * size), -1);
  const Numbers counts(static_cast<std::size_t>(size), 1);
  const Numbers places = numbers(size, 0);
  uneven(300);
  MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, in.data(), counts.data(), places.data(), MPI_INT,
                          directed);
  CHECK(in[0] == (rank + size - 1) % size);
  if (rank == 0) CHECK(in[1] == 1);
  MPI_Comm_free(&directed);
}

}  // namespace odd_forms
