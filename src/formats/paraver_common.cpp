#include "formats/paraver_common.hpp"

#include <string>

#include "mpi_api/names.hpp"

namespace foretrace::formats {
namespace {

struct CallRow {
  int value;
  std::string_view name;
};

constexpr CallRow kCalls[] = {{1, "MPI_Send"},         {2, "MPI_Recv"},
                              {3, "MPI_Isend"},        {4, "MPI_Irecv"},
                              {5, "MPI_Wait"},         {6, "MPI_Waitall"},
                              {7, "MPI_Bcast"},        {8, "MPI_Barrier"},
                              {9, "MPI_Reduce"},       {10, "MPI_Allreduce"},
                              {11, "MPI_Alltoall"},    {12, "MPI_Alltoallv"},
                              {13, "MPI_Gather"},      {14, "MPI_Gatherv"},
                              {15, "MPI_Scatter"},     {16, "MPI_Scatterv"},
                              {17, "MPI_Allgather"},   {18, "MPI_Allgatherv"},
                              {19, "MPI_Comm_rank"},   {20, "MPI_Comm_size"},
                              {21, "MPI_Comm_create"}, {22, "MPI_Comm_dup"},
                              {23, "MPI_Comm_split"},  {24, "MPI_Comm_group"},
                              {25, "MPI_Comm_free"},   {30, "MPI_Scan"},
                              {31, "MPI_Init"},        {32, "MPI_Finalize"},
                              {33, "MPI_Bsend"},       {34, "MPI_Ssend"},
                              {35, "MPI_Rsend"},       {36, "MPI_Ibsend"},
                              {37, "MPI_Issend"},      {38, "MPI_Irsend"},
                              {39, "MPI_Test"},        {40, "MPI_Cancel"},
                              {41, "MPI_Sendrecv"},    {42, "MPI_Sendrecv_replace"}};

}  // namespace

int value_of_call(std::string_view name) {
  for (const CallRow& row : kCalls)
    if (row.name == name) return row.value;
  return 0;
}

std::string_view call_of_value(std::int64_t value) {
  for (const CallRow& row : kCalls)
    if (row.value == value) return row.name;
  return {};
}

std::optional<machine::Cost> collective_called(std::string_view name) {
  if (!name.starts_with("MPI_")) return std::nullopt;
  const std::string ours = mpi_api::model_name(name);
  for (int cost = static_cast<int>(machine::Cost::barrier);
       cost <= static_cast<int>(machine::Cost::comm_dup); ++cost)
    if (machine::name_of(static_cast<machine::Cost>(cost)) == ours)
      return static_cast<machine::Cost>(cost);
  return std::nullopt;
}

}  // namespace foretrace::formats
