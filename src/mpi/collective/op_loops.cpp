#include "mpi/collective/op_loops.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace foretrace::mpi {
namespace {

// --- numbers that C++ does not have ---------------------------------------------

__extension__ using Quad = __float128;

// IEEE binary16; computed as float, which rounds each result once.
struct Half {
  std::uint16_t bits;
};

float widen(Half half) {
  const std::uint32_t sign = (half.bits & 0x8000u) << 16;
  const std::uint32_t exponent = (half.bits >> 10) & 0x1fu;
  const std::uint32_t fraction = half.bits & 0x3ffu;
  if (exponent == 0) {
    const float tiny = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -tiny : tiny;
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

Half narrow(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t rest = bits & 0x7fffffffu;
  const auto signed_half = [sign](std::uint32_t half) {
    return Half{static_cast<std::uint16_t>(sign | half)};
  };
  if (rest > 0x7f800000u) return signed_half(0x7e00u);   // not a number
  if (rest >= 0x477ff000u) return signed_half(0x7c00u);  // rounds to infinity
  if (rest < 0x38800000u) {
    // Subnormal: adding 0.5 makes the float unit round at the right place.
    const float shifted = std::bit_cast<float>(rest) + 0.5f;
    return signed_half(std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u);
  }
  const std::uint32_t odd = (rest >> 13) & 1u;
  return signed_half((rest - 0x38000000u + 0xfffu + odd) >> 13);
}

template <class Part>
struct Complex {
  Part real, imaginary;
};

template <class Value, class Index>
struct Located {
  Value value;
  Index index;
};

// --- operations -----------------------------------------------------------------

// Wraps around where C++ would say that signed overflow is undefined.
template <class T>
auto wrapping(T value) {
  if constexpr (!std::is_integral_v<T>)
    return value;
  else if constexpr (sizeof(T) < sizeof(unsigned))
    return static_cast<unsigned>(value);
  else
    return static_cast<std::make_unsigned_t<T>>(value);
}

// Results where values are equal or not comparable are the right operand's, as
// in both MPIs.
struct Max {
  template <class T>
  static T of(T left, T right) {
    return right > left ? right : left;
  }
  static Half of(Half left, Half right) { return widen(right) > widen(left) ? right : left; }
};

struct Min {
  template <class T>
  static T of(T left, T right) {
    return right < left ? right : left;
  }
  static Half of(Half left, Half right) { return widen(right) < widen(left) ? right : left; }
};

struct Sum {
  template <class T>
  static T of(T left, T right) {
    return static_cast<T>(wrapping(left) + wrapping(right));
  }
  static Half of(Half left, Half right) { return narrow(widen(left) + widen(right)); }
  template <class Part>
  static Complex<Part> of(Complex<Part> left, Complex<Part> right) {
    return {left.real + right.real, left.imaginary + right.imaginary};
  }
};

struct Prod {
  template <class T>
  static T of(T left, T right) {
    return static_cast<T>(wrapping(left) * wrapping(right));
  }
  static Half of(Half left, Half right) { return narrow(widen(left) * widen(right)); }
  template <class Part>
  static Complex<Part> of(Complex<Part> left, Complex<Part> right) {
    return {left.real * right.real - left.imaginary * right.imaginary,
            left.real * right.imaginary + left.imaginary * right.real};
  }
};

template <class T>
bool is_true(T value) {
  return value != T{};
}

template <class T>
T from_bool(bool value) {
  return static_cast<T>(value ? 1 : 0);
}

struct LogicalAnd {
  template <class T>
  static T of(T left, T right) {
    return from_bool<T>(is_true(left) & is_true(right));
  }
};

struct LogicalOr {
  template <class T>
  static T of(T left, T right) {
    return from_bool<T>(is_true(left) | is_true(right));
  }
};

struct LogicalXor {
  template <class T>
  static T of(T left, T right) {
    return from_bool<T>(is_true(left) != is_true(right));
  }
};

struct BitAnd {
  template <class T>
  static T of(T left, T right) {
    return static_cast<T>(left & right);
  }
};

struct BitOr {
  template <class T>
  static T of(T left, T right) {
    return static_cast<T>(left | right);
  }
};

struct BitXor {
  template <class T>
  static T of(T left, T right) {
    return static_cast<T>(left ^ right);
  }
};

// Whether the left pair is the result: of equal values the one with the lower index
// (MPI 3.1, 5.9.4).
template <class Better>
struct Locate {
  template <class Value, class Index>
  static bool takes_left(Value left, Index left_index, Value right, Index right_index) {
    if (left == right) return left_index < right_index;
    return Better::of(left, right) == left;
  }
};

// --- loops ----------------------------------------------------------------------

// Numbers in the program's memory, which may lie anywhere in a packed buffer or a
// window; on x86 that costs nothing.
template <class T>
struct [[gnu::packed, gnu::may_alias]] Stored {
  T value;
};

template <class Operate, class T>
void loop(const void* in, void* inout, std::size_t count) {
  const auto* __restrict left = static_cast<const Stored<T>*>(in);
  auto* __restrict right = static_cast<Stored<T>*>(inout);
  for (std::size_t i = 0; i < count; ++i)
    right[i].value = Operate::of(T{left[i].value}, T{right[i].value});
}

// Pairs: only the two numbers are touched, the padding is the program's.
template <class Operate, class Value, class Index>
void pair_loop(const void* in, void* inout, std::size_t count) {
  using Pair = Located<Value, Index>;
  const auto* left = static_cast<const std::byte*>(in);
  auto* right = static_cast<std::byte*>(inout);
  for (std::size_t i = 0; i < count; ++i, left += sizeof(Pair), right += sizeof(Pair)) {
    const auto* value = reinterpret_cast<const Stored<Value>*>(left);
    const auto* index = reinterpret_cast<const Stored<Index>*>(left + offsetof(Pair, index));
    auto* to_value = reinterpret_cast<Stored<Value>*>(right);
    auto* to_index = reinterpret_cast<Stored<Index>*>(right + offsetof(Pair, index));
    if (!Operate::takes_left(Value{value->value}, Index{index->value}, Value{to_value->value},
                             Index{to_index->value}))
      continue;
    to_value->value = value->value;
    to_index->value = index->value;
  }
}

template <class Operate>
Loop for_integers(Scalar value) {
  switch (value) {
    case Scalar::int8:
      return loop<Operate, std::int8_t>;
    case Scalar::uint8:
      return loop<Operate, std::uint8_t>;
    case Scalar::int16:
      return loop<Operate, std::int16_t>;
    case Scalar::uint16:
      return loop<Operate, std::uint16_t>;
    case Scalar::int32:
      return loop<Operate, std::int32_t>;
    case Scalar::uint32:
      return loop<Operate, std::uint32_t>;
    case Scalar::int64:
      return loop<Operate, std::int64_t>;
    case Scalar::uint64:
      return loop<Operate, std::uint64_t>;
#ifdef OPEN_MPI
    case Scalar::byte:
      return loop<Operate, std::uint8_t>;
#endif
    default:
      return nullptr;
  }
}

template <class Operate>
Loop for_reals(Scalar value) {
  switch (value) {
    case Scalar::float16:
      return loop<Operate, Half>;
    case Scalar::float32:
      return loop<Operate, float>;
    case Scalar::float64:
      return loop<Operate, double>;
    case Scalar::extended:
      return loop<Operate, long double>;
    case Scalar::float128:
      return loop<Operate, Quad>;
    default:
      return nullptr;
  }
}

template <class Operate>
Loop for_complexes(Scalar value) {
  switch (value) {
    case Scalar::complex_float32:
      return loop<Operate, Complex<float>>;
    case Scalar::complex_float64:
      return loop<Operate, Complex<double>>;
    case Scalar::complex_extended:
      return loop<Operate, Complex<long double>>;
    case Scalar::complex_float128:
      return loop<Operate, Complex<Quad>>;
    default:
      return nullptr;
  }
}

template <class Operate>
Loop for_logicals(Scalar value) {
  switch (value) {
    case Scalar::logical8:
    case Scalar::boolean:
      return loop<Operate, std::uint8_t>;
    case Scalar::logical16:
      return loop<Operate, std::uint16_t>;
    case Scalar::logical32:
      return loop<Operate, std::uint32_t>;
    case Scalar::logical64:
      return loop<Operate, std::uint64_t>;
#ifndef OPEN_MPI
    // Beyond the standard, but in MPICH's own tests.
    case Scalar::float32:
      return loop<Operate, float>;
    case Scalar::float64:
      return loop<Operate, double>;
    case Scalar::extended:
      return loop<Operate, long double>;
#endif
    default:
      return for_integers<Operate>(value);
  }
}

template <class Operate>
Loop for_bits(Scalar value) {
  if (value == Scalar::byte) return loop<Operate, std::uint8_t>;
  return for_integers<Operate>(value);
}

template <class Operate>
Loop for_ordered(Scalar value) {
  if (Loop real = for_reals<Operate>(value)) return real;
  return for_integers<Operate>(value);
}

template <class Operate>
Loop for_numbers(Scalar value) {
  if (Loop complex = for_complexes<Operate>(value)) return complex;
  return for_ordered<Operate>(value);
}

template <class Operate>
Loop for_pairs(Scalar value, Scalar index) {
  if (index == Scalar::float32) return pair_loop<Operate, float, float>;
  if (index == Scalar::float64) return pair_loop<Operate, double, double>;
  switch (value) {
    case Scalar::int16:
      return pair_loop<Operate, std::int16_t, std::int32_t>;
    case Scalar::int32:
      return pair_loop<Operate, std::int32_t, std::int32_t>;
    case Scalar::int64:
      return pair_loop<Operate, std::int64_t, std::int32_t>;
    case Scalar::float32:
      return pair_loop<Operate, float, std::int32_t>;
    case Scalar::float64:
      return pair_loop<Operate, double, std::int32_t>;
    case Scalar::extended:
      return pair_loop<Operate, long double, std::int32_t>;
    default:
      return nullptr;
  }
}

}  // namespace

Loop loop_of(Operation operation, Scalar value, Scalar index) {
  if (index != Scalar::none) {
    if (operation == Operation::minloc) return for_pairs<Locate<Min>>(value, index);
    if (operation == Operation::maxloc) return for_pairs<Locate<Max>>(value, index);
    return nullptr;
  }
  switch (operation) {
    case Operation::max:
      return for_ordered<Max>(value);
    case Operation::min:
      return for_ordered<Min>(value);
    case Operation::sum:
      return for_numbers<Sum>(value);
    case Operation::prod:
      return for_numbers<Prod>(value);
    case Operation::land:
      return for_logicals<LogicalAnd>(value);
    case Operation::band:
      return for_bits<BitAnd>(value);
    case Operation::lor:
      return for_logicals<LogicalOr>(value);
    case Operation::bor:
      return for_bits<BitOr>(value);
    case Operation::lxor:
      return for_logicals<LogicalXor>(value);
    case Operation::bxor:
      return for_bits<BitXor>(value);
    case Operation::minloc:
    case Operation::maxloc:
    case Operation::replace:
    case Operation::no_op:
      break;
  }
  return nullptr;
}

}  // namespace foretrace::mpi
