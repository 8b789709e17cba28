// Types chosen by properties of numbers: MPI_Type_create_f90_*, MPI_Type_match_size.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "live_impl.hpp"
#include "mpi/datatype/description.hpp"

namespace foretrace::mpi {
namespace {

// gfortran's kinds, by what selected_real_kind and selected_int_kind promise.
struct RealKind {
  int precision, range;
  MPI_Datatype real, complex;
};

MPI_Datatype real_kind(int precision, int range, bool complex) {
  const RealKind kinds[] = {
      {6, 37, MPI_REAL4, MPI_COMPLEX8},
      {15, 307, MPI_REAL8, MPI_COMPLEX16},
      {33, 4931, MPI_REAL16, MPI_COMPLEX32},
  };
  for (const RealKind& kind : kinds) {
    if ((precision == MPI_UNDEFINED || precision <= kind.precision) &&
        (range == MPI_UNDEFINED || range <= kind.range))
      return complex ? kind.complex : kind.real;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Datatype integer_kind(int range) {
  if (range <= 2) return MPI_INTEGER1;
  if (range <= 4) return MPI_INTEGER2;
  if (range <= 9) return MPI_INTEGER4;
  if (range <= 18) return MPI_INTEGER8;
  return MPI_DATATYPE_NULL;
}

// The same request gets the same type each time (MPI 3.1, 17.1.9); the types live
// as long as the process and count as predefined.
int f90_type(int combiner, int precision, int range, MPI_Datatype like, MPI_Datatype* newtype) {
  static std::map<std::tuple<int, int, int>, Datatype*> made;
  Datatype*& type = made[{combiner, precision, range}];
  if (!type) {
    Datatype& basic = *static_cast<Datatype*>(get(like));
    TypeBuilder builder(combiner, false);
    if (combiner != MPI_COMBINER_F90_INTEGER) builder.integer(precision);
    builder.integer(range);
    builder.place(basic, 0, 0);
    type = builder.finish_object(layout_of(basic).map);
    type->predefined = true;
    type->committed = true;
  }
  *newtype = handle_of(type);
  return MPI_SUCCESS;
}

int real_type(int combiner, int precision, int range, MPI_Datatype* newtype) {
  if (int error = check_result(newtype, "newtype")) return error;
  if (precision == MPI_UNDEFINED && range == MPI_UNDEFINED)
    return raise(MPI_ERR_ARG, "precision and range are both MPI_UNDEFINED");
  const MPI_Datatype like = real_kind(precision, range, combiner == MPI_COMBINER_F90_COMPLEX);
  if (like == MPI_DATATYPE_NULL)
    return raise(MPI_ERR_ARG, "no kind has precision " + std::to_string(precision) + " and range " +
                                  std::to_string(range));
  return f90_type(combiner, precision, range, like, newtype);
}

// Which of two types with the same numbers: programs see the name.
constexpr bool kSizedNames =
#ifndef OPEN_MPI
    true;
#else
    false;
#endif

MPI_Datatype matching(int typeclass, int size) {
  if (typeclass == MPI_TYPECLASS_REAL) {
    if (size == 4) return kSizedNames ? MPI_REAL4 : MPI_REAL;
    if (size == 8) return MPI_REAL8;
    if (size == 16) return MPI_REAL16;
  } else if (typeclass == MPI_TYPECLASS_INTEGER) {
    if (size == 1) return MPI_INTEGER1;
    if (size == 2) return MPI_INTEGER2;
    if (size == 4) return kSizedNames ? MPI_INTEGER4 : MPI_INTEGER;
    if (size == 8) return MPI_INTEGER8;
  } else if (typeclass == MPI_TYPECLASS_COMPLEX) {
    if (size == 8) return kSizedNames ? MPI_COMPLEX8 : MPI_COMPLEX;
    if (size == 16) return MPI_COMPLEX16;
    if (size == 32) return MPI_COMPLEX32;
  }
  return MPI_DATATYPE_NULL;
}

}  // namespace

namespace impl {

int Type_create_f90_real(int precision, int range, MPI_Datatype* newtype) {
  return real_type(MPI_COMBINER_F90_REAL, precision, range, newtype);
}

int Type_create_f90_complex(int precision, int range, MPI_Datatype* newtype) {
  return real_type(MPI_COMBINER_F90_COMPLEX, precision, range, newtype);
}

int Type_create_f90_integer(int range, MPI_Datatype* newtype) {
  if (int error = check_result(newtype, "newtype")) return error;
  const MPI_Datatype like = integer_kind(range);
  if (like == MPI_DATATYPE_NULL)
    return raise(MPI_ERR_ARG, "no kind has range " + std::to_string(range));
  return f90_type(MPI_COMBINER_F90_INTEGER, 0, range, like, newtype);
}

int Type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
  if (int error = check_result(datatype, "datatype")) return error;
  if (typeclass != MPI_TYPECLASS_REAL && typeclass != MPI_TYPECLASS_INTEGER &&
      typeclass != MPI_TYPECLASS_COMPLEX)
    return raise(MPI_ERR_ARG, "no such type class");
  const MPI_Datatype match = matching(typeclass, size);
  if (match == MPI_DATATYPE_NULL)
    return raise(MPI_ERR_ARG, "no type of this class has " + std::to_string(size) + " bytes");
  *datatype = match;
  return MPI_SUCCESS;
}

}  // namespace impl
}  // namespace foretrace::mpi
