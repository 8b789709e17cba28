// result.hpp - what a program says about its result: a digest that must be
// the same at any number of ranks, and the comparison that --check asks for.
#ifndef PROGRAMS_COMMON_RESULT_HPP
#define PROGRAMS_COMMON_RESULT_HPP

#include <bit>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

namespace programs {

// A 64-bit hash of a sequence of numbers, in their order.
class Digest {
 public:
  template <typename T>
  Digest& add(T value) {
    std::uint64_t word = 0;
    if constexpr (std::is_floating_point_v<T>) {
      word = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : static_cast<double>(value));
    } else {
      word = static_cast<std::uint64_t>(value);
    }
    state_ = mix(state_ + 0x9e3779b97f4a7c15u + mix(word));
    return *this;
  }

  template <typename T>
  Digest& add_all(const std::vector<T>& values) {
    add(values.size());
    for (const T& value : values) add(value);
    return *this;
  }

  std::uint64_t value() const { return state_; }

 private:
  static std::uint64_t mix(std::uint64_t word) {
    word = (word ^ (word >> 31)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 29)) * 0x94d049bb133111ebu;
    return word ^ (word >> 32);
  }

  std::uint64_t state_ = 0;
};

// The line that each program prints on its root; `facts` are "key=value" words.
inline void print_result(const char* program, const Digest& digest, const std::string& facts) {
  std::printf("%s: digest=%016" PRIx64 " %s\n", program, digest.value(), facts.c_str());
}

inline std::string fact(const char* key, double value) {
  char text[80];
  std::snprintf(text, sizeof text, "%s=%.10g", key, value);
  return text;
}

// Returns the exit status: 0 when the two are equal to the last bit, else 1.
template <typename T>
int check_equal(const char* program, const char* what, const std::vector<T>& expected,
                const std::vector<T>& found) {
  if (expected.size() != found.size()) {
    std::fprintf(stderr, "%s: check failed: %s: expected %zu values, found %zu\n", program, what,
                 expected.size(), found.size());
    return 1;
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!(expected[i] == found[i])) {
      std::fprintf(stderr, "%s: check failed: %s: value %zu: expected %.17g, found %.17g\n",
                   program, what, i, static_cast<double>(expected[i]),
                   static_cast<double>(found[i]));
      return 1;
    }
  }
  std::printf("%s: check passed: %s: %zu values\n", program, what, found.size());
  return 0;
}

}  // namespace programs

#endif  // PROGRAMS_COMMON_RESULT_HPP
