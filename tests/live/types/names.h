// The names of constants, whose values each ABI has for itself.
#pragma once

#include <mpi.h>

struct Constant {
  int value;
  const char* name;
};
#define CONSTANT(name) \
  { MPI_##name, #name }

template <int kCount>
const char* name_in(const Constant (&constants)[kCount], int value) {
  for (const Constant& constant : constants)
    if (constant.value == value) return constant.name;
  return "unknown";
}

inline const char* combiner_name(int combiner) {
  static const Constant kCombiners[] = {
      CONSTANT(COMBINER_NAMED),          CONSTANT(COMBINER_DUP),
      CONSTANT(COMBINER_CONTIGUOUS),     CONSTANT(COMBINER_VECTOR),
      CONSTANT(COMBINER_HVECTOR),        CONSTANT(COMBINER_INDEXED),
      CONSTANT(COMBINER_HINDEXED),       CONSTANT(COMBINER_INDEXED_BLOCK),
      CONSTANT(COMBINER_HINDEXED_BLOCK), CONSTANT(COMBINER_STRUCT),
      CONSTANT(COMBINER_SUBARRAY),       CONSTANT(COMBINER_DARRAY),
      CONSTANT(COMBINER_F90_REAL),       CONSTANT(COMBINER_F90_COMPLEX),
      CONSTANT(COMBINER_F90_INTEGER),    CONSTANT(COMBINER_RESIZED)};
  return name_in(kCombiners, combiner);
}

inline const char* distribution_name(int distribution) {
  static const Constant kDistributions[] = {CONSTANT(DISTRIBUTE_NONE), CONSTANT(DISTRIBUTE_BLOCK),
                                            CONSTANT(DISTRIBUTE_CYCLIC)};
  return name_in(kDistributions, distribution);
}

inline const char* typeclass_name(int typeclass) {
  static const Constant kTypeclasses[] = {CONSTANT(TYPECLASS_REAL), CONSTANT(TYPECLASS_INTEGER),
                                          CONSTANT(TYPECLASS_COMPLEX)};
  return name_in(kTypeclasses, typeclass);
}

inline const char* order_name(int order) {
  static const Constant kOrders[] = {CONSTANT(ORDER_C), CONSTANT(ORDER_FORTRAN)};
  return name_in(kOrders, order);
}
