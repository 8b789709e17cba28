// MPI_Status under MPI's standard ABI: eight integers, of which the last five are
// ours. Its alignment is an integer's.
#include <cstdint>
#include <cstring>

#include "live_impl.hpp"
#include "mpi/core/object.hpp"

namespace foretrace::mpi {

static_assert(sizeof(MPI_Status) == 8 * sizeof(int));

namespace {
constexpr int kBytes = 0;  // and the next one
constexpr int kCancelled = 2;
}  // namespace

void set_status_bytes(MPI_Status& status, std::uint64_t bytes, bool cancelled) {
  std::memcpy(&status.MPI_internal[kBytes], &bytes, sizeof bytes);
  status.MPI_internal[kCancelled] = cancelled ? 1 : 0;
}

std::uint64_t status_bytes(const MPI_Status& status) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, &status.MPI_internal[kBytes], sizeof bytes);
  return bytes;
}

bool status_cancelled(const MPI_Status& status) {
  return status.MPI_internal[kCancelled] != 0;
}

namespace impl {

int Status_get_source(const MPI_Status* status, int* source) {
  *source = status->MPI_SOURCE;
  return MPI_SUCCESS;
}

int Status_get_tag(const MPI_Status* status, int* tag) {
  *tag = status->MPI_TAG;
  return MPI_SUCCESS;
}

int Status_get_error(const MPI_Status* status, int* error) {
  *error = status->MPI_ERROR;
  return MPI_SUCCESS;
}

int Status_set_source(MPI_Status* status, int source) {
  status->MPI_SOURCE = source;
  return MPI_SUCCESS;
}

int Status_set_tag(MPI_Status* status, int tag) {
  status->MPI_TAG = tag;
  return MPI_SUCCESS;
}

int Status_set_error(MPI_Status* status, int error) {
  status->MPI_ERROR = error;
  return MPI_SUCCESS;
}

}  // namespace impl

}  // namespace foretrace::mpi
