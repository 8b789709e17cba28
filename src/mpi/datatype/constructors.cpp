// The constructors of derived datatypes (MPI 3.1, 4.1.2), for int and for large
// counts; subarrays and distributed arrays are in datatype_array.cpp.
#include <algorithm>
#include <string>
#include <utility>

#include "live_impl.hpp"
#include "mpi/core/block.hpp"
#include "mpi/datatype/description.hpp"

namespace foretrace::mpi {
namespace {

template <class Number>
constexpr bool kLarge = sizeof(Number) > sizeof(int);

// Checks what all constructors have; the type is nullptr if there is an error.
struct Arguments {
  Arguments(MPI_Count count, MPI_Datatype old, const MPI_Datatype* newtype) {
    if ((error = check_result(newtype, "newtype")) != MPI_SUCCESS) return;
    if (count < 0) {
      error = raise(MPI_ERR_COUNT, "count " + std::to_string(count) + ", expected at least 0");
      return;
    }
    type = old_type(old, error);
  }
  Datatype* type = nullptr;
  int error = MPI_SUCCESS;
};

int negative_blocklength(MPI_Count blocklength) {
#ifndef OPEN_MPI
  constexpr int error_class = MPI_ERR_COUNT;
#else
  constexpr int error_class = MPI_ERR_ARG;
#endif
  return raise(error_class,
               "block length " + std::to_string(blocklength) + ", expected at least 0");
}

template <class Number>
int check_lists(MPI_Count count, const Number* blocklengths, const void* displacements) {
  if (count == 0) return MPI_SUCCESS;
  if (!blocklengths || !displacements)
    return raise(MPI_ERR_ARG, "the array of block lengths or displacements is a null pointer");
  for (MPI_Count i = 0; i < count; ++i)
    if (blocklengths[i] < 0) return negative_blocklength(blocklengths[i]);
  return MPI_SUCCESS;
}

template <class Number>
int contiguous(Number count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  const Arguments arguments(count, oldtype, newtype);
  if (!arguments.type) return arguments.error;
  Datatype& old = *arguments.type;
  TypeBuilder builder(MPI_COMBINER_CONTIGUOUS, kLarge<Number>);
  builder.integer(count).type(old);
  builder.place_row(old, 0, count);
  *newtype = builder.finish(map_of_repeat(count, old.extent, layout_of(old).map));
  return MPI_SUCCESS;
}

// `stride` in bytes; `builder` knows the contents already.
MPI_Datatype finish_vector(TypeBuilder& builder, MPI_Count count, MPI_Count blocklength,
                           MPI_Count stride, Datatype& old) {
  if (count > 0 && blocklength > 0) {
    const MPI_Count rows = (count - 1) * stride;
    const MPI_Count row = (blocklength - 1) * old.extent;
    builder.place(old, std::min<MPI_Count>(0, rows) + std::min<MPI_Count>(0, row),
                  std::max<MPI_Count>(0, rows) + std::max<MPI_Count>(0, row));
  }
  return builder.finish(
      map_of_repeat(count, stride, map_of_repeat(blocklength, old.extent, layout_of(old).map)));
}

template <class Number>
int vector(Number count, Number blocklength, Number stride, MPI_Datatype oldtype,
           MPI_Datatype* newtype) {
  const Arguments arguments(count, oldtype, newtype);
  if (!arguments.type) return arguments.error;
  if (blocklength < 0) return negative_blocklength(blocklength);
  Datatype& old = *arguments.type;
  TypeBuilder builder(MPI_COMBINER_VECTOR, kLarge<Number>);
  builder.integer(count).integer(blocklength).integer(stride).type(old);
  *newtype = finish_vector(builder, count, blocklength, stride * old.extent, old);
  return MPI_SUCCESS;
}

template <class Number>
int hvector(Number count, Number blocklength, MPI_Count stride, MPI_Datatype oldtype,
            MPI_Datatype* newtype) {
  const Arguments arguments(count, oldtype, newtype);
  if (!arguments.type) return arguments.error;
  if (blocklength < 0) return negative_blocklength(blocklength);
  Datatype& old = *arguments.type;
  TypeBuilder builder(MPI_COMBINER_HVECTOR, kLarge<Number>);
  builder.integer(count).integer(blocklength).address(stride).type(old);
  *newtype = finish_vector(builder, count, blocklength, stride, old);
  return MPI_SUCCESS;
}

// Blocks of lengths and at displacements (in bytes) that functions tell.
template <class Length, class At>
MPI_Datatype finish_blocks(TypeBuilder& builder, MPI_Count count, Length length, At at,
                           Datatype& old) {
  std::vector<TypeMap::Block> blocks;
  blocks.reserve(static_cast<std::size_t>(count));
  for (MPI_Count i = 0; i < count; ++i) {
    if (length(i) == 0) continue;
    blocks.push_back({at(i), length(i)});
    builder.place_row(old, at(i), length(i));
  }
  return builder.finish(map_of_blocks(std::move(blocks), old.extent, layout_of(old).map));
}

template <class Number>
int indexed(Number count, const Number* blocklengths, const Number* displacements,
            MPI_Datatype oldtype, MPI_Datatype* newtype) {
  const Arguments arguments(count, oldtype, newtype);
  if (!arguments.type) return arguments.error;
  if (int error = check_lists(count, blocklengths, displacements)) return error;
  Datatype& old = *arguments.type;
  TypeBuilder builder(MPI_COMBINER_INDEXED, kLarge<Number>);
  builder.integer(count).integers(blocklengths, count).integers(displacements, count).type(old);
  *newtype = finish_blocks(
      builder, count, [&](MPI_Count i) { return MPI_Count{blocklengths[i]}; },
      [&](MPI_Count i) { return displacements[i] * old.extent; }, old);
  return MPI_SUCCESS;
}

template <class Number, class Displacement>
int hindexed(Number count, const Number* blocklengths, const Displacement* displacements,
             MPI_Datatype oldtype, MPI_Datatype* newtype) {
  const Arguments arguments(count, oldtype, newtype);
  if (!arguments.type) return arguments.error;
  if (int error = check_lists(count, blocklengths, displacements)) return error;
  Datatype& old = *arguments.type;
  TypeBuilder builder(MPI_COMBINER_HINDEXED, kLarge<Number>);
  builder.integer(count).integers(blocklengths, count).addresses(displacements, count).type(old);
  *newtype = finish_blocks(
      builder, count, [&](MPI_Count i) { return MPI_Count{blocklengths[i]}; },
      [&](MPI_Count i) { return MPI_Count{displacements[i]}; }, old);
  return MPI_SUCCESS;
}

template <class Number>
int indexed_block(Number count, Number blocklength, const Number* displacements,
                  MPI_Datatype oldtype, MPI_Datatype* newtype) {
  const Arguments arguments(count, oldtype, newtype);
  if (!arguments.type) return arguments.error;
  if (int error = check_lists(count > 0 ? 1 : 0, &blocklength, displacements)) return error;
  Datatype& old = *arguments.type;
  TypeBuilder builder(MPI_COMBINER_INDEXED_BLOCK, kLarge<Number>);
  builder.integer(count).integer(blocklength).integers(displacements, count).type(old);
  *newtype = finish_blocks(
      builder, count, [&](MPI_Count) { return MPI_Count{blocklength}; },
      [&](MPI_Count i) { return displacements[i] * old.extent; }, old);
  return MPI_SUCCESS;
}

template <class Number, class Displacement>
int hindexed_block(Number count, Number blocklength, const Displacement* displacements,
                   MPI_Datatype oldtype, MPI_Datatype* newtype) {
  const Arguments arguments(count, oldtype, newtype);
  if (!arguments.type) return arguments.error;
  if (int error = check_lists(count > 0 ? 1 : 0, &blocklength, displacements)) return error;
  Datatype& old = *arguments.type;
  TypeBuilder builder(MPI_COMBINER_HINDEXED_BLOCK, kLarge<Number>);
  builder.integer(count).integer(blocklength).addresses(displacements, count).type(old);
  *newtype = finish_blocks(
      builder, count, [&](MPI_Count) { return MPI_Count{blocklength}; },
      [&](MPI_Count i) { return MPI_Count{displacements[i]}; }, old);
  return MPI_SUCCESS;
}

// MPICH makes a struct of blocks of one type as it makes MPI_Type_create_hindexed's,
// without padding; one type to it is also a copy, and an integer of the same length.
const Datatype& original(const Datatype& type) {
  const Datatype* found = &type;
  while (found->contents && found->contents->combiner == MPI_COMBINER_DUP)
    found = found->contents->types[0];
  return *found;
}

bool are_alike(const Datatype& a, const Datatype& b) {
  if (&a == &b) return true;
  if (!a.basic || !b.basic || a.size != b.size) return false;
  return is_integer(a.basic->value) && is_integer(b.basic->value);
}

template <class Number, class Displacement>
int structure(Number count, const Number* blocklengths, const Displacement* displacements,
              const MPI_Datatype* oldtypes, MPI_Datatype* newtype) {
  if (int error = check_result(newtype, "newtype")) return error;
  if (count < 0)
    return raise(MPI_ERR_COUNT, "count " + std::to_string(count) + ", expected at least 0");
  if (int error = check_lists(count, blocklengths, displacements)) return error;
  if (count > 0 && !oldtypes) return raise(MPI_ERR_ARG, "the array of types is a null pointer");
  TypeBuilder builder(MPI_COMBINER_STRUCT, kLarge<Number>);
  builder.integer(count).integers(blocklengths, count).addresses(displacements, count);
  std::vector<TypeMap::Field> fields;
  const Datatype* first = nullptr;
  bool all_alike = true;
  for (Number i = 0; i < count; ++i) {
    int error = MPI_SUCCESS;
    Datatype* old = old_type(oldtypes[i], error);
    if (!old) return error;
    builder.type(*old);
    builder.place_row(*old, displacements[i], blocklengths[i]);
    if (i == 0) first = &original(*old);
    all_alike = all_alike && are_alike(*first, original(*old));
    if (blocklengths[i] > 0 && old->size > 0)
      fields.push_back({displacements[i], blocklengths[i], old->extent, layout_of(*old).map});
  }
  if (!kPadsAlways && !all_alike) builder.pad();
  *newtype = builder.finish(map_of_fields(std::move(fields)));
  return MPI_SUCCESS;
}

int resized(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, bool large,
            MPI_Datatype* newtype) {
  const Arguments arguments(0, oldtype, newtype);
  if (!arguments.type) return arguments.error;
  Datatype& old = *arguments.type;
  TypeBuilder builder(MPI_COMBINER_RESIZED, large);
  builder.address(lb).address(extent).type(old);
  builder.place(old, 0, 0);
  builder.resize(lb, extent);
  *newtype = builder.finish(layout_of(old).map);
  return MPI_SUCCESS;
}

}  // namespace

Datatype* make_contiguous(MPI_Count count, Datatype& type) {
  TypeBuilder builder(MPI_COMBINER_CONTIGUOUS, true);
  builder.integer(count).type(type);
  builder.place_row(type, 0, count);
  Datatype* made = builder.finish_object(map_of_repeat(count, type.extent, layout_of(type).map));
  made->committed = true;
  return made;
}

namespace impl {

int Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return contiguous(count, oldtype, newtype);
}

int Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype,
                MPI_Datatype* newtype) {
  return vector(count, blocklength, stride, oldtype, newtype);
}

int Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                        MPI_Datatype* newtype) {
  return hvector(count, blocklength, stride, oldtype, newtype);
}

int Type_indexed(int count, const int blocklengths[], const int displacements[],
                 MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return indexed(count, blocklengths, displacements, oldtype, newtype);
}

int Type_create_hindexed(int count, const int blocklengths[], const MPI_Aint displacements[],
                         MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return hindexed(count, blocklengths, displacements, oldtype, newtype);
}

int Type_create_indexed_block(int count, int blocklength, const int displacements[],
                              MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return indexed_block(count, blocklength, displacements, oldtype, newtype);
}

int Type_create_hindexed_block(int count, int blocklength, const MPI_Aint displacements[],
                               MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return hindexed_block(count, blocklength, displacements, oldtype, newtype);
}

int Type_create_struct(int count, const int blocklengths[], const MPI_Aint displacements[],
                       const MPI_Datatype types[], MPI_Datatype* newtype) {
  return structure(count, blocklengths, displacements, types, newtype);
}

int Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype* newtype) {
  return resized(oldtype, lb, extent, false, newtype);
}

int Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                 MPI_Datatype* newtype) {
  return hvector(count, blocklength, stride, oldtype, newtype);
}

int Type_hindexed(int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype oldtype,
                  MPI_Datatype* newtype) {
  return hindexed(count, blocklengths, displacements, oldtype, newtype);
}

int Type_struct(int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype types[],
                MPI_Datatype* newtype) {
  return structure(count, blocklengths, displacements, types, newtype);
}

#if MPI_VERSION >= 4
int Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return contiguous(count, oldtype, newtype);
}

int Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                  MPI_Datatype* newtype) {
  return vector(count, blocklength, stride, oldtype, newtype);
}

int Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                          MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return hvector(count, blocklength, stride, oldtype, newtype);
}

int Type_indexed_c(MPI_Count count, const MPI_Count blocklengths[], const MPI_Count displacements[],
                   MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return indexed(count, blocklengths, displacements, oldtype, newtype);
}

int Type_create_hindexed_c(MPI_Count count, const MPI_Count blocklengths[],
                           const MPI_Count displacements[], MPI_Datatype oldtype,
                           MPI_Datatype* newtype) {
  return hindexed(count, blocklengths, displacements, oldtype, newtype);
}

int Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
                                const MPI_Count displacements[], MPI_Datatype oldtype,
                                MPI_Datatype* newtype) {
  return indexed_block(count, blocklength, displacements, oldtype, newtype);
}

int Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
                                 const MPI_Count displacements[], MPI_Datatype oldtype,
                                 MPI_Datatype* newtype) {
  return hindexed_block(count, blocklength, displacements, oldtype, newtype);
}

int Type_create_struct_c(MPI_Count count, const MPI_Count blocklengths[],
                         const MPI_Count displacements[], const MPI_Datatype types[],
                         MPI_Datatype* newtype) {
  return structure(count, blocklengths, displacements, types, newtype);
}

int Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
                          MPI_Datatype* newtype) {
  return resized(oldtype, lb, extent, true, newtype);
}
#endif

}  // namespace impl
}  // namespace foretrace::mpi
