// Reduction: what a reduction computes, as far as its time depends on it: an operation on
// numbers of one type.
//
// The machine's file says what combining a byte takes, by these classes ([reduction]); traces and
// operations name the class of a call. What the classes are of MPI's handles is said where these
// are seen (capture, mpi, measure).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace foretrace::machine {

enum class Combining : std::uint8_t { sum, prod, minmax, logical, bit, minmaxloc, kCount };

// Integers with a sign or without. minmaxloc: the value's, beside which an index lies.
enum class Operand : std::uint8_t {
  double_,
  float_,
  long_double,
  complex_double,
  complex_float,
  int8,
  int16,
  int32,
  int64,
  kCount
};

// The integer of so many bytes; nothing if there is none.
constexpr std::optional<Operand> integer_of(std::uint64_t bytes) {
  switch (bytes) {
    case 1:
      return Operand::int8;
    case 2:
      return Operand::int16;
    case 4:
      return Operand::int32;
    case 8:
      return Operand::int64;
    default:
      return std::nullopt;
  }
}

// A number below kReductions: that of reduction_of(), or one of these.
enum class Reduction : std::uint8_t {
  none = 0,        // nothing is combined, or it is not known what
  sum_double = 1,  // what most programs do: where nothing is said, it is taken to be this one
  other = 127,     // operations of the program's own, and types that are not listed
};
inline constexpr std::size_t kReductions = 128;

inline constexpr int kOperandBits = 4;

constexpr Reduction reduction_of(Combining what, Operand of) {
  return static_cast<Reduction>(1 + (static_cast<int>(what) << kOperandBits) +
                                static_cast<int>(of));
}
static_assert(reduction_of(Combining::sum, Operand::double_) == Reduction::sum_double);
static_assert(reduction_of(Combining::kCount, Operand::double_) < Reduction::other);

// Whether MPI defines the operation for the type.
constexpr bool is_defined(Combining what, Operand of) {
  const bool integer = of >= Operand::int8;
  const bool complex = of == Operand::complex_double || of == Operand::complex_float;
  switch (what) {
    case Combining::sum:
    case Combining::prod:
      return true;
    case Combining::minmax:
      return !complex;
    case Combining::logical:
    case Combining::bit:
      return integer;
    case Combining::minmaxloc:
      return !complex && of != Operand::int8;
    default:
      return false;
  }
}

// Calls `use(what, of)` for all that are defined, in order.
template <class Use>
constexpr void for_each_reduction(Use use) {
  for (int what = 0; what < static_cast<int>(Combining::kCount); ++what)
    for (int of = 0; of < static_cast<int>(Operand::kCount); ++of)
      if (is_defined(static_cast<Combining>(what), static_cast<Operand>(of)))
        use(static_cast<Combining>(what), static_cast<Operand>(of));
}

inline std::string name_of(Operand of) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(Operand::kCount)> kNames{
      "double", "float", "long_double", "complex_double", "complex_float",
      "int8",   "int16", "int32",       "int64"};
  return std::string(kNames[static_cast<std::size_t>(of)]);
}
inline std::string name_of(Combining what, Operand of) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(Combining::kCount)> kNames{
      "sum", "prod", "minmax", "logical", "bit", "minmaxloc"};
  return std::string(kNames[static_cast<std::size_t>(what)]) + "_" + name_of(of);
}

// "sum_double", "other"; of no class "".
inline std::string name_of(Reduction reduction) {
  if (reduction == Reduction::other) return "other";
  std::string name;
  for_each_reduction([&](Combining what, Operand of) {
    if (reduction_of(what, of) == reduction) name = name_of(what, of);
  });
  return name;
}

inline std::optional<Reduction> parse_reduction(std::string_view name) {
  std::optional<Reduction> found;
  if (name == "other") found = Reduction::other;
  for_each_reduction([&](Combining what, Operand of) {
    if (name == name_of(what, of)) found = reduction_of(what, of);
  });
  return found;
}

// Whether the number is that of a class.
constexpr bool is_reduction(int number) {
  bool is = number == static_cast<int>(Reduction::other);
  for_each_reduction([&](Combining what, Operand of) {
    is = is || number == static_cast<int>(reduction_of(what, of));
  });
  return is;
}

// As a collective tells it: nothing where it is what it is taken to be.
constexpr Reduction told(Reduction reduction) {
  return reduction == Reduction::sum_double ? Reduction::none : reduction;
}

}  // namespace foretrace::machine
