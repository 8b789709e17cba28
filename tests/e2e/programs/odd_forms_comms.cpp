// Cases of odd_forms: communicators, shared handles, completion in odd orders.
#include "odd_forms.hpp"

namespace odd_forms {

// Messages and collectives on every kind of communicator.
void use(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return;
  int local = 0;
  int members = 0;
  MPI_Comm_rank(comm, &local);
  MPI_Comm_size(comm, &members);
  FORETRACE_COMPUTE(10 * rank);
  const int next = (local + 1) % members;
  const int last = (local + members - 1) % members;
  MPI_Request request;
  int got = -1;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 6, comm, &request);
  send(1, local, next, 6, comm);
  MPI_Status status;
  MPI_Wait(&request, &status);
  CHECK(got == last && status.MPI_SOURCE == last);
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == members);
}

void communicators() {
  MPI_Comm split, dup, created, group_made, cart, row, none;
  MPI_Comm_split(world, rank % 2, -rank, &split);
  MPI_Comm_split(world, rank == 1 ? MPI_UNDEFINED : 0, 0, &none);
  CHECK((none == MPI_COMM_NULL) == (rank == 1));
  MPI_Comm_dup(split, &dup);
  MPI_Group all, some;
  MPI_Comm_group(world, &all);
  const int members[2] = {2, 0};
  MPI_Group_incl(all, 2, members, &some);
  MPI_Comm_create(world, some, &created);
  group_made = MPI_COMM_NULL;
  if (rank != 1) MPI_Comm_create_group(world, some, 7, &group_made);
  const int dims[2] = {size, 1};
  const int periods[2] = {1, 0};
  MPI_Cart_create(world, 2, dims, periods, 0, &cart);
  const int remain[2] = {1, 0};
  MPI_Cart_sub(cart, remain, &row);
  MPI_Comm comms[] = {split, none, dup, created, group_made, cart, row, MPI_COMM_SELF};
  for (const MPI_Comm comm : comms) use(comm);
  // The same tags at the same time on all of them.
  MPI_Request requests[8];
  int got[8] = {};
  int count = 0;
  for (const MPI_Comm comm : comms)
    if (comm != MPI_COMM_NULL)
      MPI_Irecv(&got[count], 1, MPI_INT, MPI_ANY_SOURCE, 6, comm, &requests[count]), ++count;
  count = 0;
  for (const MPI_Comm comm : comms) {
    if (comm == MPI_COMM_NULL) continue;
    int local = 0;
    MPI_Comm_rank(comm, &local);
    send(1, 100 + count++, local, 6, comm);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) CHECK(got[i] == 100 + i);
  for (int i = 0; i < 7; ++i)
    if (comms[i] != MPI_COMM_NULL) MPI_Comm_free(&comms[i]);
  MPI_Group_free(&all);
  MPI_Group_free(&some);
}

// A communicator is freed while receives are posted on it.
void comm_free() {
  for (const int source : {0, MPI_ANY_SOURCE}) {
    for (const int count : {1, kLarge}) {
      MPI_Comm comm;
      MPI_Comm_dup(world, &comm);
      if (rank == 1) {
        Numbers data(static_cast<std::size_t>(count));
        MPI_Request request;
        MPI_Status status;
        MPI_Irecv(data.data(), count, MPI_INT, source, 1, comm, &request);
        MPI_Comm_free(&comm);
        MPI_Barrier(world);
        MPI_Wait(&request, &status);
        check_status(status, 0, 1, count, __LINE__);
        CHECK(data == numbers(count, 5));
      } else if (rank == 0) {
        const Numbers data = numbers(count, 5);
        MPI_Request request;
        FORETRACE_COMPUTE(400);
        MPI_Isend(data.data(), count, MPI_INT, 1, 1, comm, &request);
        MPI_Comm_free(&comm);
        MPI_Barrier(world);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        MPI_Comm_free(&comm);
        MPI_Barrier(world);
      }
    }
  }
}

void many_comms() {
  for (int i = 0; i < 2000; ++i) {
    MPI_Comm comm;
    if (i % 2)
      MPI_Comm_dup(world, &comm);
    else
      MPI_Comm_split(world, 0, rank, &comm);
    if (i % 500 == 0) use(comm);
    MPI_Comm_free(&comm);
  }
}

// Sends that are done at once may share one handle; the program moves them
// about before it waits.
void shared_handles() {
  constexpr int kCount = 40;
  if (rank == 0) {
    std::vector<MPI_Request> requests(kCount);
    int values[kCount];
    for (int i = 0; i < kCount; ++i) {
      values[i] = i;
      MPI_Request request;
      MPI_Isend(&values[i], 1, MPI_INT, 1, i, world, &request);
      requests[static_cast<std::size_t>(i)] = request;
    }
    std::vector<MPI_Request> moved(requests.begin(), requests.begin() + kCount / 2);
    MPI_Waitall(kCount / 2, moved.data(), MPI_STATUSES_IGNORE);
    for (int i = kCount / 2; i < kCount; ++i) {
      MPI_Request one = requests[static_cast<std::size_t>(i)];
      MPI_Wait(&one, MPI_STATUS_IGNORE);
    }
  } else if (rank == 1) {
    for (int i = 0; i < kCount; ++i) receive(1, i, 0, i);
  }
}

// Every completing call, one message at a time, so that their order is fixed.
void completion() {
  for (int form = 0; form < 6; ++form) {
    if (rank == 0) {
      for (int i = 0; i < 3; ++i) {
        receive(0, 0, 1, 50);
        FORETRACE_COMPUTE(100);
        send(i == 1 ? kLarge : 10, i, 1, i);
      }
    } else if (rank == 1) {
      Numbers data[3] = {Numbers(10), Numbers(kLarge), Numbers(10)};
      MPI_Request requests[4];
      requests[3] = MPI_REQUEST_NULL;
      for (int i = 0; i < 3; ++i)
        MPI_Irecv(data[i].data(), static_cast<int>(data[i].size()), MPI_INT, 0, i, world,
                  &requests[i]);
      for (int i = 0; i < 3; ++i) {
        send(0, 0, 0, 50);
        int index = -1, flag = 0, count = 0;
        int indices[4] = {-1, -1, -1, -1};
        MPI_Status status;
        if (form == 0) {
          MPI_Waitany(4, requests, &index, &status);
        } else if (form == 1) {
          while (!flag) MPI_Testany(4, requests, &index, &flag, MPI_STATUS_IGNORE);
        } else if (form == 2) {
          MPI_Waitsome(4, requests, &count, indices, MPI_STATUSES_IGNORE);
          index = indices[0];
        } else if (form == 3) {
          while (count == 0) MPI_Testsome(4, requests, &count, indices, MPI_STATUSES_IGNORE);
          index = indices[0];
        } else if (form == 4) {
          while (!flag) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
          index = i;
        } else {
          while (!flag) MPI_Testall(1, &requests[i], &flag, MPI_STATUSES_IGNORE);
          index = i;
        }
        CHECK(index == i && data[i] == numbers(static_cast<int>(data[i].size()), i));
      }
      int index = 0;
      MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
      CHECK(index == MPI_UNDEFINED);
    }
  }
}

void self() {
  for (const MPI_Comm comm : {world, MPI_COMM_SELF}) {
    const int me = comm == world ? rank : 0;
    const Numbers out = numbers(kLarge, 3);
    Numbers in(kLarge);
    MPI_Sendrecv(out.data(), kLarge, MPI_INT, me, 1, in.data(), kLarge, MPI_INT, me, 1, comm,
                 MPI_STATUS_IGNORE);
    CHECK(in == out);
    in.assign(kLarge, 0);
    MPI_Request request;
    MPI_Irecv(in.data(), kLarge, MPI_INT, MPI_ANY_SOURCE, 2, comm, &request);
    MPI_Send(out.data(), kLarge, MPI_INT, me, 2, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in == out);
  }
  int value = rank;
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_SELF);
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  CHECK(value == rank);
}

}  // namespace odd_forms
