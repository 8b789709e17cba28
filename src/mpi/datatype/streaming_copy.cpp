#include "mpi/datatype/streaming_copy.hpp"

#include <cstddef>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace foretrace::mpi {

#ifdef __SSE2__
namespace {

constexpr std::size_t kLine = 64;
// A shorter one pushes little out, and is there sooner for who reads it from a cache.
constexpr std::uint64_t kLeast = 32 * 1024;
constexpr std::size_t kAhead = 8 * kLine;

// Bytes from there to the next line.
std::size_t to_next_line(const void* at) {
  return -reinterpret_cast<std::uintptr_t>(at) % kLine;
}

}  // namespace

void copy_out(void* to, const void* from, std::uint64_t bytes) {
  if (bytes < kLeast) {
    std::memcpy(to, from, bytes);
    return;
  }
  const std::size_t head = to_next_line(to);
  std::memcpy(to, from, head);
  auto* out = static_cast<std::byte*>(to) + head;
  const auto* in = static_cast<const std::byte*>(from) + head;
  std::uint64_t left = bytes - head;
  for (; left >= kLine; left -= kLine, in += kLine, out += kLine)
    for (std::size_t at = 0; at < kLine; at += sizeof(__m128i))
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + at),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + at)));
  _mm_sfence();  // who is told of the bytes has to find them
  std::memcpy(out, in, left);
}

void copy_in(void* to, const void* from, std::uint64_t bytes) {
  if (bytes < kLeast) {
    std::memcpy(to, from, bytes);
    return;
  }
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  std::uint64_t left = bytes;
  for (; left >= kLine; left -= kLine, in += kLine, out += kLine) {
    _mm_prefetch(in + kAhead, _MM_HINT_NTA);
    std::memcpy(out, in, kLine);
  }
  std::memcpy(out, in, left);
}
#else
void copy_out(void* to, const void* from, std::uint64_t bytes) {
  std::memcpy(to, from, bytes);
}

void copy_in(void* to, const void* from, std::uint64_t bytes) {
  std::memcpy(to, from, bytes);
}
#endif

}  // namespace foretrace::mpi
