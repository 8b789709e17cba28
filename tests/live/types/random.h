// A generator of our own: the same numbers with every C++ library.
#pragma once

#include <cstdint>

inline std::uint64_t state;
inline std::uint64_t next() {
  state += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
