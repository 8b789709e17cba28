// MPI_Status under Open MPI's ABI, in C and Fortran (where it is the same bytes, as
// six integers).
#include <cstdint>
#include <cstring>

#include "live_impl.hpp"
#include "mpi/core/error.hpp"
#include "mpi/core/object.hpp"

namespace foretrace::mpi {

void set_status_bytes(MPI_Status& status, std::uint64_t bytes, bool cancelled) {
  status._ucount = bytes;
  status._cancelled = cancelled ? 1 : 0;
}

std::uint64_t status_bytes(const MPI_Status& status) {
  return status._ucount;
}

bool status_cancelled(const MPI_Status& status) {
  return status._cancelled != 0;
}

namespace impl {

static_assert(sizeof(MPI_Status) == 6 * sizeof(MPI_Fint));

int Status_c2f(const MPI_Status* c_status, MPI_Fint* f_status) {
  if (!c_status || is_ignored(c_status) || !f_status) {
    return raise(static_cast<Comm*>(nullptr), MPI_ERR_IN_STATUS, "the status is MPI_STATUS_IGNORE");
  }
  std::memcpy(f_status, c_status, sizeof(MPI_Status));
  return MPI_SUCCESS;
}

int Status_f2c(const MPI_Fint* f_status, MPI_Status* c_status) {
  if (!f_status || f_status == MPI_F_STATUS_IGNORE || f_status == MPI_F_STATUSES_IGNORE) {
    return raise(static_cast<Comm*>(nullptr), MPI_ERR_IN_STATUS,
                 "the status is MPI_F_STATUS_IGNORE");
  }
  std::memcpy(c_status, f_status, sizeof(MPI_Status));
  return MPI_SUCCESS;
}

}  // namespace impl

}  // namespace foretrace::mpi
