// Datatypes: layout, packing; and reduction operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "machine/reduction.hpp"
#include "mpi/core/keyvals.hpp"
#include "mpi/core/object.hpp"

namespace foretrace::mpi {

// datatype.cpp defines what else a type remembers: its envelope and its layout.
struct TypeLayout;
struct TypeContents;
struct BasicType;

struct Datatype : Object {
  Datatype();
  ~Datatype() override;

  MPI_Count size = 0;  // bytes of data in an element
  MPI_Count lb = 0;
  MPI_Count extent = 0;
  MPI_Count true_lb = 0;
  MPI_Count true_extent = 0;
  bool committed = false;
  // Elements in a row are their bytes in a row: lb is 0, size is extent, in order.
  bool dense = false;
  std::string name;
  AttributeSet attributes;
  TypeLayout* layout = nullptr;
  TypeContents* contents = nullptr;
  const BasicType* basic = nullptr;  // predefined types: what it is in the machine
};

// Its name, as an error says it; of one without a name, that it has none.
std::string described(const Datatype& type);

// Makes all predefined datatypes and operations and registers them with
// set_predefined; called once, before anything else, when the library is loaded.
void create_predefined_types();
void create_predefined_ops();

// Bytes of `count` elements when packed.
inline std::uint64_t packed_bytes(MPI_Count count, const Datatype& type) {
  return count > 0 ? static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(type.size) : 0;
}
// The bytes of a piece in the middle, where they do not lie together in memory (trace::Endpoint);
// else, or of too little to matter, 0.
std::uint16_t piece_of(MPI_Count count, const Datatype& type);
// The data of `count` elements at `buffer`, in the order of the type map, to `out`.
void pack(const void* buffer, MPI_Count count, const Datatype& type, void* out);
// The first `bytes` packed bytes at `in` (at most packed_bytes) to their places.
void unpack(const void* in, std::uint64_t bytes, void* buffer, MPI_Count count,
            const Datatype& type);
// As pack() and unpack(), of what one rank leaves for another: past the processor's caches, where
// it would take the place of the program's own data.
void pack_out(const void* buffer, MPI_Count count, const Datatype& type, void* out);
void unpack_in(const void* in, std::uint64_t bytes, void* buffer, MPI_Count count,
               const Datatype& type);
// The runs of bytes that `count` elements consist of, in the order of the type
// map, neighbouring ones merged: visit(displacement from the buffer's start, length).
void for_each_run(MPI_Count count, const Datatype& type,
                  const std::function<void(MPI_Aint, std::uint64_t)>& visit);
// How many basic elements the first `bytes` bytes of elements of this type hold;
// MPI_UNDEFINED where they end inside one.
MPI_Count elements_in(std::uint64_t bytes, const Datatype& type);
// The one predefined type that all its basic elements have; nullptr if several.
Datatype* basic_type(Datatype& type);
// A committed type of `count` consecutive elements (for large counts), to be released.
Datatype* make_contiguous(MPI_Count count, Datatype& type);

struct Op : Object {
  Op() : Object(ObjectKind::op) {}
  bool commutes = true;
  MPI_User_function* function = nullptr;  // the user's; nullptr: predefined
  int which = 0;                          // predefined: op.cpp's number
  bool is_fortran = false;                // `function` takes Fortran handles
  // Calls `function` if it is another language's than these; empty: it is not.
  std::function<void(const void* in, void* inout, int count, MPI_Datatype type)> foreign;
#if MPI_VERSION >= 4
  MPI_User_function_c* large_function = nullptr;  // the user's, from MPI_Op_create_c
#endif
};

// Whether the operation is defined for the type (predefined operations: MPI 3.1,
// 5.9.2, and MPI_Get_accumulate's MPI_REPLACE and MPI_NO_OP, which fit all).
bool fits(const Op& op, const Datatype& type);
// What the two are to the machine's [reduction].
machine::Reduction class_of(const Op& op, const Datatype& type);
// inout[i] = in[i] op inout[i]; both laid out as `count` elements of the type.
void combine(const Op& op, const void* in, void* inout, MPI_Count count, Datatype& type);

}  // namespace foretrace::mpi
