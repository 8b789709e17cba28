#include <mpi.h>

#include <memory>
#include <vector>

#include "measure/experiments/clock.hpp"
#include "measure/experiments/experiments.hpp"

namespace foretrace::measure {
namespace {

// A single one may take less than the clock can tell.
constexpr int kRow = 16;

template <class Handle>
using Call = void (*)(Handle*);

template <class Handle>
void nothing(Handle*) {}

// `before` and `after` are off the record.
template <class Handle>
Experiment row(const Group& group, const char* name, Call<Handle> before, Call<Handle> call,
               Call<Handle> after) {
  const auto handles = std::make_shared<std::vector<Handle>>(kRow);
  const bool measures = group.rank == 0;
  return {.functions = {name},
          .prepare =
              [=] {
                for (Handle& handle : *handles) before(&handle);
              },
          .repeat =
              [=](std::int64_t entry, std::int64_t, Span* spans) {
                for (Handle& handle : *handles) call(&handle);
                if (measures) spans[0] = {entry, now_ns()};
                for (Handle& handle : *handles) after(&handle);
              },
          .calls = kRow};
}

// In none of the experiments there is a message of that tag.
constexpr int kNever = 4711;

void expect_message(MPI_Request* request) {
  MPI_Irecv(nullptr, 0, MPI_INT, MPI_ANY_SOURCE, kNever, MPI_COMM_WORLD, request);
}

void test(MPI_Request* request) {
  int done = 0;
  MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

void withdraw(MPI_Request* request) {
  MPI_Cancel(request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

void look_for_message(int* there) {
  MPI_Iprobe(MPI_ANY_SOURCE, kNever, MPI_COMM_WORLD, there, MPI_STATUS_IGNORE);
}

void make_vector(MPI_Datatype* type) {
  MPI_Type_vector(8, 1, 16, MPI_DOUBLE, type);
}

void make_vector_and_commit(MPI_Datatype* type) {
  make_vector(type);
  MPI_Type_commit(type);
}

void make_contiguous(MPI_Datatype* type) {
  MPI_Type_contiguous(8, MPI_DOUBLE, type);
}

void make_struct(MPI_Datatype* type) {
  const int lengths[]{1, 2, 3};
  const MPI_Aint places[]{0, 8, 32};
  const MPI_Datatype members[]{MPI_INT, MPI_DOUBLE, MPI_CHAR};
  MPI_Type_create_struct(3, lengths, places, members, type);
}

void commit(MPI_Datatype* type) {
  MPI_Type_commit(type);
}

void free_type(MPI_Datatype* type) {
  MPI_Type_free(type);
}

void add(void*, void*, int*, MPI_Datatype*) {}

void make_operation(MPI_Op* operation) {
  MPI_Op_create(add, 1, operation);
}

void free_operation(MPI_Op* operation) {
  MPI_Op_free(operation);
}

void make_group(MPI_Group* group) {
  MPI_Comm_group(MPI_COMM_WORLD, group);
}

void free_group(MPI_Group* group) {
  MPI_Group_free(group);
}

}  // namespace

std::vector<Experiment> local_experiments(const Group& group) {
  return {
      row<MPI_Request>(group, "test", expect_message, test, withdraw),
      row<int>(group, "iprobe", nothing, look_for_message, nothing),
      row<MPI_Datatype>(group, "type_contiguous", nothing, make_contiguous, free_type),
      row<MPI_Datatype>(group, "type_vector", nothing, make_vector, free_type),
      row<MPI_Datatype>(group, "type_create_struct", nothing, make_struct, free_type),
      row<MPI_Datatype>(group, "type_commit", make_vector, commit, free_type),
      row<MPI_Datatype>(group, "type_free", make_vector_and_commit, free_type, nothing),
      row<MPI_Op>(group, "op_create", nothing, make_operation, free_operation),
      row<MPI_Op>(group, "op_free", make_operation, free_operation, nothing),
      row<MPI_Group>(group, "comm_group", nothing, make_group, free_group),
      row<MPI_Group>(group, "group_free", make_group, free_group, nothing),
  };
}

}  // namespace foretrace::measure
