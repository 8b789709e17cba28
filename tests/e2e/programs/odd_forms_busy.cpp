// Cases of odd_forms: a receiver of a synchronous send that is busy elsewhere.
#include "odd_forms.hpp"

namespace odd_forms {

// Rank 0 sends synchronously to a posted receive of rank 1, which meanwhile
// waits for something else that rank 0 does afterwards: `first` of rank 1.
void busy_receiver(const std::function<void()>& first, const std::function<void()>& after) {
  if (rank == 1) {
    Numbers data(kLarge);
    MPI_Request request;
    MPI_Irecv(data.data(), kLarge, MPI_INT, 0, 1, world, &request);
    first();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(data == numbers(kLarge, 8));
    return;
  }
  if (rank == 0) {
    const Numbers data = numbers(kLarge, 8);
    MPI_Ssend(data.data(), kLarge, MPI_INT, 1, 1, world);
  }
  after();
}

void busy_iprobe() {
  busy_receiver(
      [] {
        for (int flag = 0; !flag;) MPI_Iprobe(0, 2, world, &flag, MPI_STATUS_IGNORE);
        receive(1, 0, 0, 2);
      },
      [] {
        if (rank == 0) send(1, 0, 1, 2);
      });
}

void busy_ibarrier() {
  const auto barrier = [] {
    MPI_Request request;
    MPI_Ibarrier(world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
  busy_receiver(barrier, barrier);
}

void busy_test_ibarrier() {
  const auto barrier = [] {
    MPI_Request request;
    MPI_Ibarrier(world, &request);
    for (int flag = 0; !flag;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  };
  busy_receiver(barrier, barrier);
}

void busy_create_group() {
  const auto create = [] {
    MPI_Group group;
    MPI_Comm comm;
    MPI_Comm_group(world, &group);
    MPI_Comm_create_group(world, group, 0, &comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
  };
  busy_receiver(create, create);
}

void busy_barrier() {
  const auto barrier = [] { MPI_Barrier(world); };
  busy_receiver(barrier, barrier);
}

void busy_window() {
  const auto window = [] {
    int value = 0;
    MPI_Win win;
    MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, world, &win);
    MPI_Win_free(&win);
  };
  busy_receiver(window, window);
}

}  // namespace odd_forms
