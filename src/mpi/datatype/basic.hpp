// The predefined datatypes: what each is in the machine's memory.
//
// One row for each handle of mpi.h, in basic.cpp. Everything that
// depends on the kind of a number (reductions, external32) asks here.
#pragma once

#include <cstdint>

#include "mpi/datatype/datatype.hpp"

namespace foretrace::mpi {

enum class Scalar : std::uint8_t {
  none,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  extended,  // long double
  float128,  // REAL*16
  complex_float32,
  complex_float64,
  complex_extended,
  complex_float128,
  two_complex_float32,  // Open MPI's MPI_2COMPLEX
  two_complex_float64,
  logical8,  // Fortran
  logical16,
  logical32,
  logical64,
  boolean,
  byte,
  packed,
  wide,
  lower_marker,  // MPI_LB
  upper_marker,  // MPI_UB
};

struct BasicType {
  const char* name;
  Scalar value;
  Scalar index;       // of (value, index) pairs; else none
  std::uint8_t size;  // bytes of data
  std::uint8_t extent;
  std::uint8_t alignment;  // in a C struct
  std::uint8_t index_at;   // where a pair's index lies
  std::uint8_t external;   // bytes in external32; both parts of a pair together

  bool is_pair() const { return index != Scalar::none; }
};

// Bytes of a number in memory, in external32, and to what C aligns it.
int size_of(Scalar scalar);
int external_size_of(Scalar scalar);
int alignment_of(Scalar scalar);

// C's and Fortran's integers.
inline bool is_integer(Scalar scalar) {
  return scalar >= Scalar::int8 && scalar <= Scalar::uint64;
}

// How many basic elements MPI_Get_elements counts for a pair type.
#ifndef OPEN_MPI
inline constexpr int kElementsOfPair = 2;
#else
inline constexpr int kElementsOfPair = 1;
#endif

// The object of a row.
Datatype* predefined_type(const BasicType& basic);

}  // namespace foretrace::mpi
