// The bytes of the trace format: constants, varints and times
// (docs/trace-format.md). Shared by writer and readers; private to src/trace.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "trace/event.hpp"

namespace foretrace::trace {

inline constexpr char kFileMagic[8] = {'F', 'O', 'R', 'E', 'T', 'R', 'C', '\n'};
inline constexpr std::uint32_t kVersion = 8;  // the newest: before an event threads waited
inline constexpr std::uint32_t kVersionWithPieces = 7;      // before none, but data lies in pieces
inline constexpr std::uint32_t kVersionWithUntouched = 6;   // of none, but one sends untouched data
inline constexpr std::uint32_t kVersionWithReductions = 5;  // none does, but tells what it combines
inline constexpr std::uint32_t kVersionWithCounts = 4;      // nor that, but a collective its counts
inline constexpr std::uint32_t kPlainVersion = 3;           // none of them
inline constexpr std::uint32_t kOldestVersion = 1;
inline constexpr int kMostRanks = 1 << 26;
inline constexpr std::size_t kPage = 4096;
inline constexpr std::uint32_t kNoRank = 0xffffffff;

// The first page begins with it; the rest of the page is zeros.
struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t ranks;
  // Zeros in files of versions 1 and 2.
  std::uint64_t length;  // of the sealed file, bytes; 0: it is not sealed
  std::uint32_t check;   // of what stands before
  std::uint32_t unused;
};
static_assert(sizeof(FileHeader) == 32);

// The call that a rank is in.
struct OpenCall {
  std::uint32_t name = 0;  // its number, plus one; 0: none
  std::uint32_t site = 0;  // 0: not known
  bool operator==(const OpenCall&) const = default;
};

// What became of a block. All but an open one have a checksum.
enum class BlockState : std::uint32_t {
  open = 0,  // being filled, or its process was killed meanwhile
  full,      // the rank's next block follows somewhere
  last,      // its process has closed it
  lost,      // the rank had no room for what it recorded next
};

inline constexpr char kBlockMagic[4] = {'F', 'T', 'B', '3'};
struct BlockHeader {
  char magic[4];
  std::uint32_t rank;
  std::uint32_t number;  // of the rank's blocks, from 0
  std::uint32_t size;    // payload area
  std::uint32_t frame;   // checksum of what stands before, and of the place in the file
  std::uint32_t used;    // filled payload
  BlockState state;
  OpenCall open;
  std::uint32_t check;  // of frame, used, state, open and the filled payload
};
static_assert(sizeof(BlockHeader) == 40);

// In files of versions 1 and 2; in the first, without `open`.
inline constexpr char kOldBlockMagic[4] = {'F', 'T', 'B', '1'};
struct OldBlockHeader {
  char magic[4];
  std::uint32_t rank;
  std::uint32_t size;
  std::uint32_t used;
  OpenCall open;
};
inline constexpr std::size_t kHeaderBytesOfVersion1 = 16;
// The payload of the block that ends a sealed one.
inline constexpr char kOldEnd[4] = "END";

// How a record begins. From kFirstShape on: an event of that shape.
enum Head : std::uint64_t {
  kDefineName = 1,
  kDefineComm = 2,
  kDefineSite = 3,
  kDefineShape = 4,
  kSingleEvent = 5,  // its shape follows and is not kept
  kDefineCounts = 6,
  kJoin = 7,  // of the next event
  kFirstShape = 8,
};

// A rank keeps this many shapes, and lists of counts; one more takes the place of an old one.
inline constexpr std::size_t kMostShapes = 512;
inline constexpr std::size_t kMostCounts = 64;

inline constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// Appends to a buffer that is large enough.
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
  // Whole nanoseconds are the common case: clocks count them. The low bit
  // tells those from picoseconds.
  void time(std::int64_t ps) {
    const auto value = static_cast<std::uint64_t>(ps);
    varint(value % 1000 == 0 ? value / 1000 << 1 : value << 1 | 1);
  }
  void signed_time(std::int64_t ps) {
    varint(ps % 1000 == 0 ? zigzag(ps / 1000) << 1 : zigzag(ps) << 1 | 1);
  }
  void f64(double value) { bytes(&value, sizeof value); }
  void bytes(const void* from, std::size_t count) {
    std::memcpy(out_, from, count);
    out_ += count;
  }
  std::size_t size() const { return static_cast<std::size_t>(out_ - begin_); }
  std::span<const std::uint8_t> written() const { return {begin_, size()}; }

 private:
  std::uint8_t* begin_;
  std::uint8_t* out_;
};

// Longer names are cut by the writer and refused by the reader.
inline constexpr std::uint64_t kLongestName = 4096;

}  // namespace foretrace::trace
