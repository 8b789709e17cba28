#include "mpi/datatype/basic.hpp"

#include <iterator>
#include <new>

#ifdef OPEN_MPI
// Handles that Fortran has, or that mpi.h hides.
extern "C" {
extern struct ompi_predefined_datatype_t ompi_mpi_integer16;
extern struct ompi_predefined_datatype_t ompi_mpi_lb;
extern struct ompi_predefined_datatype_t ompi_mpi_ub;
}
#endif

namespace foretrace::mpi {
namespace {

struct Widths {
  std::uint8_t size, alignment, external;
};

// In external32 as MPI 3.1, 13.5.2 has it.
constexpr Widths widths_of(Scalar scalar) {
  switch (scalar) {
    case Scalar::int8:
    case Scalar::uint8:
    case Scalar::logical8:
    case Scalar::boolean:
    case Scalar::byte:
    case Scalar::packed:
      return {1, 1, 1};
    case Scalar::int16:
    case Scalar::uint16:
    case Scalar::logical16:
    case Scalar::float16:
      return {2, 2, 2};
    case Scalar::int32:
    case Scalar::uint32:
    case Scalar::float32:
    case Scalar::logical32:
      return {4, 4, 4};
    case Scalar::wide:
      return {4, 4, 2};
    case Scalar::int64:
    case Scalar::uint64:
    case Scalar::float64:
    case Scalar::logical64:
      return {8, 8, 8};
    case Scalar::extended:
    case Scalar::float128:
      return {16, 16, 16};
    case Scalar::complex_float32:
      return {8, 4, 8};
    case Scalar::complex_float64:
      return {16, 8, 16};
    case Scalar::complex_extended:
    case Scalar::complex_float128:
      return {32, 16, 32};
    case Scalar::two_complex_float32:
      return {16, 4, 16};
    case Scalar::two_complex_float64:
      return {32, 8, 32};
    case Scalar::none:
    case Scalar::lower_marker:
    case Scalar::upper_marker:
      break;
  }
  return {0, 1, 0};
}

consteval BasicType plain(const char* name, Scalar value) {
  const Widths w = widths_of(value);
  return {name, value, Scalar::none, w.size, w.size, w.alignment, 0, w.external};
}

// MPI_LONG and MPI_UNSIGNED_LONG have 4 bytes in external32.
consteval BasicType long_integer(const char* name, Scalar value) {
  BasicType type = plain(name, value);
  type.external = 4;
  return type;
}

// struct { value; index; }
consteval BasicType pair(const char* name, Scalar value, Scalar index) {
  const Widths v = widths_of(value);
  const Widths i = widths_of(index);
  const int index_at = (v.size + i.alignment - 1) / i.alignment * i.alignment;
  const int alignment = v.alignment > i.alignment ? v.alignment : i.alignment;
  const int extent = (index_at + i.size + alignment - 1) / alignment * alignment;
  return {name,
          value,
          index,
          static_cast<std::uint8_t>(v.size + i.size),
          static_cast<std::uint8_t>(extent),
          static_cast<std::uint8_t>(alignment),
          static_cast<std::uint8_t>(index_at),
          static_cast<std::uint8_t>(v.external + i.external)};
}

using enum Scalar;

struct Row {
  BasicType basic;  // first: predefined_type() relies on it
  MPI_Datatype handle;
};

// Filled in by the compiler: the library's constructor needs it before others run.
constinit const Row kTypes[] = {
    {plain("MPI_CHAR", int8), MPI_CHAR},
    {plain("MPI_SIGNED_CHAR", int8), MPI_SIGNED_CHAR},
    {plain("MPI_UNSIGNED_CHAR", uint8), MPI_UNSIGNED_CHAR},
    {plain("MPI_BYTE", Scalar::byte), MPI_BYTE},
    {plain("MPI_PACKED", packed), MPI_PACKED},
    {plain("MPI_WCHAR", wide), MPI_WCHAR},
    {plain("MPI_SHORT", int16), MPI_SHORT},
    {plain("MPI_UNSIGNED_SHORT", uint16), MPI_UNSIGNED_SHORT},
    {plain("MPI_INT", int32), MPI_INT},
    {plain("MPI_UNSIGNED", uint32), MPI_UNSIGNED},
    {long_integer("MPI_LONG", int64), MPI_LONG},
    {long_integer("MPI_UNSIGNED_LONG", uint64), MPI_UNSIGNED_LONG},
    {plain("MPI_LONG_LONG_INT", int64), MPI_LONG_LONG_INT},
    {plain("MPI_UNSIGNED_LONG_LONG", uint64), MPI_UNSIGNED_LONG_LONG},
    {plain("MPI_FLOAT", float32), MPI_FLOAT},
    {plain("MPI_DOUBLE", float64), MPI_DOUBLE},
    {plain("MPI_LONG_DOUBLE", extended), MPI_LONG_DOUBLE},
    {plain("MPI_INT8_T", int8), MPI_INT8_T},
    {plain("MPI_INT16_T", int16), MPI_INT16_T},
    {plain("MPI_INT32_T", int32), MPI_INT32_T},
    {plain("MPI_INT64_T", int64), MPI_INT64_T},
    {plain("MPI_UINT8_T", uint8), MPI_UINT8_T},
    {plain("MPI_UINT16_T", uint16), MPI_UINT16_T},
    {plain("MPI_UINT32_T", uint32), MPI_UINT32_T},
    {plain("MPI_UINT64_T", uint64), MPI_UINT64_T},
    {plain("MPI_AINT", int64), MPI_AINT},
    {plain("MPI_OFFSET", int64), MPI_OFFSET},
    {plain("MPI_COUNT", int64), MPI_COUNT},
    {plain("MPI_C_BOOL", boolean), MPI_C_BOOL},
    {plain("MPI_C_COMPLEX", complex_float32), MPI_C_FLOAT_COMPLEX},
    {plain("MPI_C_DOUBLE_COMPLEX", complex_float64), MPI_C_DOUBLE_COMPLEX},
    {plain("MPI_C_LONG_DOUBLE_COMPLEX", complex_extended), MPI_C_LONG_DOUBLE_COMPLEX},
    {plain("MPI_CXX_BOOL", boolean), MPI_CXX_BOOL},
    {plain("MPI_CXX_FLOAT_COMPLEX", complex_float32), MPI_CXX_FLOAT_COMPLEX},
    {plain("MPI_CXX_DOUBLE_COMPLEX", complex_float64), MPI_CXX_DOUBLE_COMPLEX},
    {plain("MPI_CXX_LONG_DOUBLE_COMPLEX", complex_extended), MPI_CXX_LONG_DOUBLE_COMPLEX},
    {pair("MPI_FLOAT_INT", float32, int32), MPI_FLOAT_INT},
    {pair("MPI_DOUBLE_INT", float64, int32), MPI_DOUBLE_INT},
    {pair("MPI_LONG_INT", int64, int32), MPI_LONG_INT},
    {pair("MPI_SHORT_INT", int16, int32), MPI_SHORT_INT},
    {pair("MPI_2INT", int32, int32), MPI_2INT},
    {pair("MPI_LONG_DOUBLE_INT", extended, int32), MPI_LONG_DOUBLE_INT},
    {plain("MPI_CHARACTER", int8), MPI_CHARACTER},
    {plain("MPI_LOGICAL", logical32), MPI_LOGICAL},
    {plain("MPI_INTEGER", int32), MPI_INTEGER},
    {plain("MPI_INTEGER1", int8), MPI_INTEGER1},
    {plain("MPI_INTEGER2", int16), MPI_INTEGER2},
    {plain("MPI_INTEGER4", int32), MPI_INTEGER4},
    {plain("MPI_INTEGER8", int64), MPI_INTEGER8},
    {plain("MPI_REAL", float32), MPI_REAL},
    {plain("MPI_REAL4", float32), MPI_REAL4},
    {plain("MPI_REAL8", float64), MPI_REAL8},
    {plain("MPI_REAL16", float128), MPI_REAL16},
    {plain("MPI_DOUBLE_PRECISION", float64), MPI_DOUBLE_PRECISION},
    {plain("MPI_COMPLEX", complex_float32), MPI_COMPLEX},
    {plain("MPI_COMPLEX8", complex_float32), MPI_COMPLEX8},
    {plain("MPI_COMPLEX16", complex_float64), MPI_COMPLEX16},
    {plain("MPI_COMPLEX32", complex_float128), MPI_COMPLEX32},
    {plain("MPI_DOUBLE_COMPLEX", complex_float64), MPI_DOUBLE_COMPLEX},
    {pair("MPI_2REAL", float32, float32), MPI_2REAL},
    {pair("MPI_2DOUBLE_PRECISION", float64, float64), MPI_2DOUBLE_PRECISION},
    {pair("MPI_2INTEGER", int32, int32), MPI_2INTEGER},
#ifdef MPICH_VERSION
    {plain("MPI_LB", lower_marker), MPI_LB},
    {plain("MPI_UB", upper_marker), MPI_UB},
    {plain("MPIX_C_FLOAT16", float16), MPIX_C_FLOAT16},
#elif defined OPEN_MPI
    {plain("MPI_LB", lower_marker), OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_lb)},
    {plain("MPI_UB", upper_marker), OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_ub)},
    {plain("MPI_LOGICAL1", logical8), MPI_LOGICAL1},
    {plain("MPI_LOGICAL2", logical16), MPI_LOGICAL2},
    {plain("MPI_LOGICAL4", logical32), MPI_LOGICAL4},
    {plain("MPI_LOGICAL8", logical64), MPI_LOGICAL8},
    {plain("MPI_2COMPLEX", two_complex_float32), MPI_2COMPLEX},
    {plain("MPI_2DOUBLE_COMPLEX", two_complex_float64), MPI_2DOUBLE_COMPLEX},
    {plain("MPI_LONG_DOUBLE_COMPLEX", complex_extended),
     OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_ldblcplex)},
    // Debian's Open MPI has neither: handles of size 0.
    {plain("MPI_REAL2", none), OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_real2)},
    {plain("MPI_INTEGER16", none), OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_integer16)},
#else
    {plain("MPI_LOGICAL1", logical8), MPI_LOGICAL1},
    {plain("MPI_LOGICAL2", logical16), MPI_LOGICAL2},
    {plain("MPI_LOGICAL4", logical32), MPI_LOGICAL4},
    {plain("MPI_LOGICAL8", logical64), MPI_LOGICAL8},
    // The standard's ABI names what a compiler may lack; MPI_Type_size says so.
    {plain("MPI_LOGICAL16", none), MPI_LOGICAL16},
    {plain("MPI_INTEGER16", none), MPI_INTEGER16},
    {plain("MPI_REAL2", none), MPI_REAL2},
    {plain("MPI_COMPLEX4", none), MPI_COMPLEX4},
#endif
};

constexpr std::size_t kCount = std::size(kTypes);

// In static memory: thousands of processes start, and most use two or three of them.
alignas(Datatype) std::byte objects[kCount * sizeof(Datatype)];

Datatype* object(std::size_t row) {
  return std::launder(reinterpret_cast<Datatype*>(objects + row * sizeof(Datatype)));
}

}  // namespace

int size_of(Scalar scalar) {
  return widths_of(scalar).size;
}
int external_size_of(Scalar scalar) {
  return widths_of(scalar).external;
}
int alignment_of(Scalar scalar) {
  return widths_of(scalar).alignment;
}

Datatype* predefined_type(const BasicType& basic) {
  return object(static_cast<std::size_t>(reinterpret_cast<const Row*>(&basic) - kTypes));
}

void create_predefined_types() {
  for (std::size_t row = 0; row < kCount; ++row) {
    const BasicType& basic = kTypes[row].basic;
    auto* type = new (objects + row * sizeof(Datatype)) Datatype;
    type->predefined = true;
    type->committed = true;
    type->basic = &basic;
    type->size = basic.size;
    type->extent = basic.extent;
    type->true_extent = basic.is_pair() ? basic.index_at + size_of(basic.index) : basic.size;
    type->dense = basic.size == basic.extent;
    set_predefined(kTypes[row].handle, type);
  }
}

}  // namespace foretrace::mpi
