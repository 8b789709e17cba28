#include "trace/checksum.hpp"

#include "trace/encoding.hpp"

// The library's functions become part of this file: no program that is traced
// needs the library itself.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace foretrace::trace {

std::uint32_t checksum(const void* bytes, std::size_t count, std::uint64_t seed) {
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(bytes, count, seed));
}

std::uint32_t frame_of(const BlockHeader& header, std::uint64_t offset) {
  return checksum(&header, offsetof(BlockHeader, frame), offset);
}

std::uint32_t check_of(const BlockHeader& header, const void* payload) {
  constexpr std::size_t kFrom = offsetof(BlockHeader, frame);
  const auto* fields = reinterpret_cast<const std::uint8_t*>(&header) + kFrom;
  const std::uint32_t of_fields = checksum(fields, offsetof(BlockHeader, check) - kFrom);
  return checksum(payload, header.used, of_fields);
}

}  // namespace foretrace::trace
