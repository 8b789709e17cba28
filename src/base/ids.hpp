// Distinct integer types for the numbers that must not be mixed up.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace foretrace {

template <class Tag>
struct Id {
  std::int32_t value = -1;

  constexpr Id() = default;
  explicit constexpr Id(std::int32_t v) : value(v) {}
  constexpr auto operator<=>(const Id&) const = default;
  constexpr bool valid() const { return value >= 0; }
};

// Rank in MPI_COMM_WORLD.
using WorldRank = Id<struct WorldRankTag>;
// Rank within one communicator.
using LocalRank = Id<struct LocalRankTag>;

// A message size or file position, in bytes.
struct Bytes {
  std::uint64_t count = 0;

  constexpr Bytes() = default;
  explicit constexpr Bytes(std::uint64_t n) : count(n) {}
  constexpr auto operator<=>(const Bytes&) const = default;
};

}  // namespace foretrace

template <class Tag>
struct std::hash<foretrace::Id<Tag>> {
  std::size_t operator()(foretrace::Id<Tag> id) const noexcept {
    return std::hash<std::int32_t>{}(id.value);
  }
};
