// MPI_Status under MPICH's ABI, in C and Fortran (where it is the same five
// integers).
#include <cstdint>
#include <cstring>

#include "live_impl.hpp"
#include "mpi/core/error.hpp"
#include "mpi/core/object.hpp"

namespace foretrace::mpi {

// The count's upper bits share their field with the mark of a cancelled request,
// which is its lowest bit.
void set_status_bytes(MPI_Status& status, std::uint64_t bytes, bool cancelled) {
  status.count_lo = static_cast<int>(bytes & 0xffffffff);
  status.count_hi_and_cancelled = static_cast<int>(bytes >> 32 << 1 | (cancelled ? 1 : 0));
}

std::uint64_t status_bytes(const MPI_Status& status) {
  const auto high = static_cast<std::uint32_t>(status.count_hi_and_cancelled) >> 1;
  return std::uint64_t{high} << 32 | static_cast<std::uint32_t>(status.count_lo);
}

bool status_cancelled(const MPI_Status& status) {
  return (status.count_hi_and_cancelled & 1) != 0;
}

namespace impl {

static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint));

int Status_c2f(const MPI_Status* c_status, MPI_Fint* f_status) {
  if (is_ignored(c_status)) {
    return raise(static_cast<Comm*>(nullptr), MPI_ERR_OTHER, "the status is MPI_STATUS_IGNORE");
  }
  std::memcpy(f_status, c_status, sizeof(MPI_Status));
  return MPI_SUCCESS;
}

int Status_f2c(const MPI_Fint* f_status, MPI_Status* c_status) {
  if (f_status == MPI_F_STATUS_IGNORE || f_status == MPI_F_STATUSES_IGNORE) {
    return raise(static_cast<Comm*>(nullptr), MPI_ERR_OTHER, "the status is MPI_F_STATUS_IGNORE");
  }
  std::memcpy(c_status, f_status, sizeof(MPI_Status));
  return MPI_SUCCESS;
}

}  // namespace impl

}  // namespace foretrace::mpi
