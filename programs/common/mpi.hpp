// mpi.hpp - the one place where the example programs include the MPI header.
//
// Only the C interface is used, so the old C++ bindings of both libraries are
// switched off. mpi_type<T>() gives the datatype of a C++ element type.
#ifndef PROGRAMS_COMMON_MPI_HPP
#define PROGRAMS_COMMON_MPI_HPP

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <cstdint>
#include <type_traits>

namespace programs {

constexpr int kRoot = 0;

inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

template <typename T>
MPI_Datatype mpi_type() {
  if constexpr (std::is_same_v<T, double>) {
    return MPI_DOUBLE;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return MPI_INT;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return MPI_INT64_T;
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return MPI_UINT64_T;
  } else {
    static_assert(std::is_same_v<T, std::uint8_t>, "no MPI datatype for this element type");
    return MPI_UINT8_T;
  }
}

// `count` elements of `base` as one datatype: a matrix row, a point, a record.
class ContiguousType {
 public:
  ContiguousType(int count, MPI_Datatype base) {
    MPI_Type_contiguous(count, base, &type_);
    MPI_Type_commit(&type_);
  }
  ~ContiguousType() { MPI_Type_free(&type_); }
  ContiguousType(const ContiguousType&) = delete;
  ContiguousType& operator=(const ContiguousType&) = delete;

  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace programs

#endif  // PROGRAMS_COMMON_MPI_HPP
