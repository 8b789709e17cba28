#include "capture/handlers/reductions.hpp"

#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "base/called_back.hpp"
#include "mpi_api/sizes.hpp"

namespace foretrace::capture {
namespace {

using machine::Combining;
using machine::integer_of;
using machine::Operand;
using machine::Reduction;

// An MPI's operations and types need not be constants that a table could hold.

std::optional<Combining> combining_of(MPI_Op op) {
  const auto is = [op](auto... ops) { return ((op == ops) || ...); };
  if (is(MPI_SUM)) return Combining::sum;
  if (is(MPI_PROD)) return Combining::prod;
  if (is(MPI_MAX, MPI_MIN)) return Combining::minmax;
  if (is(MPI_LAND, MPI_LOR, MPI_LXOR)) return Combining::logical;
  if (is(MPI_BAND, MPI_BOR, MPI_BXOR)) return Combining::bit;
  if (is(MPI_MAXLOC, MPI_MINLOC)) return Combining::minmaxloc;
  return std::nullopt;
}

std::optional<Operand> real_of(std::uint64_t bytes) {
  if (bytes == sizeof(float)) return Operand::float_;
  return bytes == sizeof(double) ? std::optional(Operand::double_) : std::nullopt;
}

std::optional<Operand> complex_of(std::uint64_t bytes) {
  if (bytes == 2 * sizeof(float)) return Operand::complex_float;
  return bytes == 2 * sizeof(double) ? std::optional(Operand::complex_double) : std::nullopt;
}

// Of a type with a name. Fortran's may be missing: then they are MPI_DATATYPE_NULL.
std::optional<Operand> named_operand(MPI_Datatype type) {
  const auto is = [type](auto... types) { return ((type == types) || ...); };
  const std::uint64_t bytes = mpi_api::type_bytes(type);
  if (is(MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG,
         MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_INT8_T, MPI_INT16_T,
         MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_AINT,
         MPI_OFFSET, MPI_COUNT, MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8,
         MPI_LOGICAL, MPI_C_BOOL, MPI_CXX_BOOL, MPI_BYTE))
    return integer_of(bytes);
  if (is(MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8))
    return real_of(bytes);
  if (is(MPI_LONG_DOUBLE)) return Operand::long_double;
  if (is(MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8,
         MPI_COMPLEX16, MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX))
    return complex_of(bytes);
  if (is(MPI_DOUBLE_INT, MPI_2DOUBLE_PRECISION)) return Operand::double_;
  if (is(MPI_FLOAT_INT, MPI_2REAL)) return Operand::float_;
  if (is(MPI_LONG_DOUBLE_INT)) return Operand::long_double;
  if (is(MPI_LONG_INT)) return integer_of(sizeof(long));
  if (is(MPI_2INT, MPI_2INTEGER)) return Operand::int32;
  if (is(MPI_SHORT_INT)) return Operand::int16;
  return std::nullopt;
}

// MPI_Type_create_f90_* gives types without names of their own.
std::optional<Operand> operand_of(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return std::nullopt;
  if (const auto named = named_operand(type)) return named;
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  switch (combiner) {
    case MPI_COMBINER_F90_REAL:
      return real_of(mpi_api::type_bytes(type));
    case MPI_COMBINER_F90_COMPLEX:
      return complex_of(mpi_api::type_bytes(type));
    case MPI_COMBINER_F90_INTEGER:
      return integer_of(mpi_api::type_bytes(type));
    default:
      return std::nullopt;
  }
}

}  // namespace

namespace {

// MPI tells such a function nothing by which it could know whom it stands in for: each has a
// function of ours for itself, as long as the program has it.
constexpr std::size_t kMostCombiners = 256;
std::array<std::atomic<Combiner*>, kMostCombiners> combiners;

template <std::size_t which>
void combine_for(void* in, void* inout, void* count, void* type) {
  Combiner* const function = combiners[which].load(std::memory_order_relaxed);
  call_back([&] { function(in, inout, count, type); });
}

template <std::size_t... which>
constexpr std::array<Combiner*, kMostCombiners> make_stand_ins(std::index_sequence<which...>) {
  return {combine_for<which>...};
}
constexpr auto kStandIns = make_stand_ins(std::make_index_sequence<kMostCombiners>());

}  // namespace

Combiner* measured(Combiner* function) {
  for (std::size_t i = 0; i < kMostCombiners; ++i) {
    Combiner* there = nullptr;
    if (combiners[i].compare_exchange_strong(there, function) || there == function)
      return kStandIns[i];
  }
  return function;
}

Reduction class_of(const Reduces& call) {
  if (call.op == MPI_OP_NULL) return Reduction::none;
  static Reduces last;
  static Reduction known = Reduction::none;
  if (call.op == last.op && call.type == last.type) return known;
  const auto what = combining_of(call.op);
  const auto of = what ? operand_of(call.type) : std::nullopt;
  last = call;
  known = what && of && machine::is_defined(*what, *of) ? machine::reduction_of(*what, *of)
                                                        : Reduction::other;
  return known;
}

}  // namespace foretrace::capture
