// MPI_Type_get_value_index: the pair types for MPI_MINLOC and MPI_MAXLOC by their parts.
#include "live_impl.hpp"
#include "mpi/core/error.hpp"
#include "mpi/core/object.hpp"

namespace foretrace::mpi::impl {

int Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
                         MPI_Datatype* pair_type) {
  struct Pair {
    MPI_Datatype value, index, pair;
  };
  static const Pair kPairs[] = {
      {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
      {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
      {MPI_LONG, MPI_INT, MPI_LONG_INT},
      {MPI_INT, MPI_INT, MPI_2INT},
      {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
      {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
      {MPI_REAL, MPI_REAL, MPI_2REAL},
      {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
      {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
  };
  if (!get<Datatype>(value_type) || !get<Datatype>(index_type)) {
    return raise(static_cast<Comm*>(nullptr), MPI_ERR_TYPE, "null or freed handle");
  }
  // Where MPI has no such pair, the answer is MPI_DATATYPE_NULL.
  *pair_type = MPI_DATATYPE_NULL;
  for (const Pair& known : kPairs) {
    if (known.value == value_type && known.index == index_type) *pair_type = known.pair;
  }
  return MPI_SUCCESS;
}

}  // namespace foretrace::mpi::impl
