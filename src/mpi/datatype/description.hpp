// What the constructors of derived datatypes share: bounds, envelope, contents.
#pragma once

#include <string>
#include <vector>

#include "mpi/core/error.hpp"
#include "mpi/datatype/layout.hpp"

namespace foretrace::mpi {

// What MPI_Type_get_envelope and MPI_Type_get_contents tell.
struct TypeContents {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> large_counts;  // of types made by MPI_Type_..._c: all but `types`
  std::vector<Datatype*> types;         // owned: one reference each
};

// Makes one derived type. Numbers are told twice: as the program said them, for
// the contents, and as what they mean.
class TypeBuilder {
 public:
  TypeBuilder(int combiner, bool large);
  ~TypeBuilder();
  TypeBuilder(const TypeBuilder&) = delete;
  TypeBuilder& operator=(const TypeBuilder&) = delete;

  // --- contents
  TypeBuilder& integer(MPI_Count value);  // an int, or in a large type a count
  TypeBuilder& address(MPI_Count value);  // an address, or in a large type a count
  TypeBuilder& plain(int value);          // an int, in large types too
  TypeBuilder& type(Datatype& child);
  template <class Number>
  TypeBuilder& integers(const Number* values, MPI_Count count) {
    for (MPI_Count i = 0; i < count; ++i) integer(values[i]);
    return *this;
  }
  template <class Number>
  TypeBuilder& addresses(const Number* values, MPI_Count count) {
    for (MPI_Count i = 0; i < count; ++i) address(values[i]);
    return *this;
  }
  TypeBuilder& plains(const int* values, int count) {
    for (int i = 0; i < count; ++i) plain(values[i]);
    return *this;
  }

  // --- bounds: elements of `child` lie between these displacements, and at them
  void place(const Datatype& child, MPI_Count lowest, MPI_Count highest);
  // `count` in a row at a displacement.
  void place_row(const Datatype& child, MPI_Count at, MPI_Count count);
  // lb and extent whatever the bounds are (resized, subarray, darray).
  void resize(MPI_Count lb, MPI_Count extent);

  // Pads the extent to the alignment of what is in the type, where no marker sets
  // it (MPI 3.1, 4.1: the epsilon of extent).
  void pad();

  // The type, with one reference: the program's.
  MPI_Datatype finish(TypeMapRef map);
  Datatype* finish_object(TypeMapRef map);

 private:
  struct Bound {
    MPI_Count lower = 0, upper = 0;
    bool has_lower = false, has_upper = false;
    void include(MPI_Count low, MPI_Count high);
  };

  TypeContents* contents_;
  TypeLayout* layout_;
  bool large_;
  Bound natural_;  // lb and ub of what has no markers
  Bound marked_;   // of markers
  Bound true_;     // of the data
};

// The types that arguments name; nullptr: an error was raised, in `error`.
Datatype* old_type(MPI_Datatype handle, int& error);
// For `newtype` and other results: MPI_ERR_ARG if it is null.
int check_result(const void* result, const char* name);

// MPI's rules for bounds leave little, but what they leave programs see.
#ifndef OPEN_MPI
inline constexpr bool kPadsAlways = false;        // only structs
inline constexpr bool kMarkersInherited = false;  // only MPI_LB and MPI_UB in a struct itself
#else
inline constexpr bool kPadsAlways = true;  // after each block, so that their order matters
inline constexpr bool kMarkersInherited = true;
#endif

}  // namespace foretrace::mpi
