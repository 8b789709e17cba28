// The bytes of the trace format: constants, varints and the layout of each
// record (docs/trace-format.md). Shared by writer and reader; private to
// src/trace.
#pragma once

#include <cstdint>
#include <cstring>

#include "trace/event.hpp"

namespace foretrace::trace {

inline constexpr char kFileMagic[8] = {'F', 'O', 'R', 'E', 'T', 'R', 'C', '\n'};
inline constexpr char kBlockMagic[4] = {'F', 'T', 'B', '1'};
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::uint32_t kOldestVersion = 1;
inline constexpr std::size_t kPage = 4096;
inline constexpr std::uint32_t kNoRank = 0xffffffff;
inline constexpr char kEndPayload[4] = "END";

struct BlockHeader {
  char magic[4];
  std::uint32_t rank;
  std::uint32_t size;  // payload area
  std::uint32_t used;  // filled payload
};
static_assert(sizeof(BlockHeader) == 16);

inline constexpr std::uint8_t kKindMask = 0x3f;
inline constexpr std::uint8_t kHasSteps = 0x40;
inline constexpr std::uint8_t kHasWait = 0x80;
inline constexpr std::uint8_t kDefineName = 32;
inline constexpr std::uint8_t kDefineComm = 33;
inline constexpr std::uint8_t kDefineSite = 34;
// The byte after an event's head: which of the rarer fields follow.
inline constexpr std::uint8_t kHasSite = 1;
inline constexpr std::uint8_t kHasTaken = 2;
inline constexpr std::uint8_t kHasMove = 4;

inline constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// Appends to a buffer that is large enough: kMaxRecord for a record without
// completions or members.
class Encoder {
 public:
  explicit Encoder(std::uint8_t* out) : begin_(out), out_(out) {}

  void u8(std::uint8_t value) { *out_++ = value; }
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      *out_++ = static_cast<std::uint8_t>(value | 0x80);
      value >>= 7;
    }
    *out_++ = static_cast<std::uint8_t>(value);
  }
  void svarint(std::int64_t value) { varint(zigzag(value)); }
  void f64(double value) {
    std::memcpy(out_, &value, sizeof value);
    out_ += sizeof value;
  }
  std::size_t size() const { return static_cast<std::size_t>(out_ - begin_); }

 private:
  std::uint8_t* begin_;
  std::uint8_t* out_;
};

// Longer names are cut by the writer and refused by the reader.
inline constexpr std::uint64_t kLongestName = 4096;

// Longest possible record without completions and members: 17 varints.
inline constexpr std::size_t kMaxRecord = 192;

}  // namespace foretrace::trace
