// Decoder: reads numbers across the blocks of one rank; and what a rank's
// stream has defined so far. Private to src/trace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/end_of_time.hpp"
#include "trace/block_index.hpp"
#include "trace/encoding.hpp"
#include "trace/event.hpp"

namespace foretrace::trace {

// Thrown inside a record: the stream ends before it.
struct Broken {
  const char* what;
  std::uint64_t offset = 0;  // in the file; 0: that of the record
};

class Decoder {
 public:
  // Throws Broken as all others do.
  Decoder(const BlockIndex& file, const std::vector<BlockIndex::Piece>& pieces, std::size_t piece,
          std::uint64_t at)
      : file_(file), pieces_(pieces), piece_(piece), at_(at) {
    // Within a piece it was looked at before.
    if (at_ == 0) skip_empty();
  }

  bool at_end() const { return piece_ == pieces_.size(); }
  std::size_t piece() const { return piece_; }
  std::uint64_t at() const { return at_; }

  std::uint8_t u8() {
    if (at_end()) throw Broken{"the record is cut off"};
    const std::uint8_t value = file_.data()[pieces_[piece_].offset + at_++];
    if (at_ == pieces_[piece_].used) {
      file_.leave(pieces_[piece_]);
      ++piece_;
      at_ = 0;
      skip_empty();
    }
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = u8();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80)) return value;
    }
    throw Broken{"a number is too long"};
  }
  std::int64_t svarint() { return unzigzag(varint()); }
  std::int32_t s32() {
    const std::int64_t value = svarint();
    if (value < INT32_MIN || value > INT32_MAX) throw Broken{"a number is out of range"};
    return static_cast<std::int32_t>(value);
  }
  std::uint32_t index(std::size_t size, const char* what) {
    const std::uint64_t value = varint();
    if (value >= size) throw Broken{what};
    return static_cast<std::uint32_t>(value);
  }
  // Picoseconds, at most kLongestSpan; time() is never negative.
  std::int64_t time() {
    return in_ps(varint(), [](std::uint64_t n) { return n; });
  }
  std::int64_t signed_time() { return in_ps(varint(), unzigzag); }
  double f64() {
    std::uint8_t bytes[sizeof(double)];
    for (std::uint8_t& byte : bytes) byte = u8();
    double value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  std::string string() {
    const std::uint64_t length = varint();
    if (length > kLongestName) throw Broken{"a name is too long"};
    std::string text;
    for (std::uint64_t i = 0; i < length; ++i) text.push_back(static_cast<char>(u8()));
    return text;
  }

  static constexpr std::int64_t kLongestSpan = kEndOfTime.count_ps();

 private:
  template <class Decode>
  static std::int64_t in_ps(std::uint64_t coded, Decode decode) {
    const auto number = static_cast<std::int64_t>(decode(coded >> 1));
    const std::int64_t most = coded & 1 ? kLongestSpan : kLongestSpan / 1000;
    if (number > most || number < -most) throw Broken{"a time is out of range"};
    return coded & 1 ? number : number * 1000;
  }
  void skip_empty() {
    for (; piece_ < pieces_.size(); ++piece_, at_ = 0) {
      if (!file_.intact(pieces_[piece_]))
        throw Broken{"the block is not as it was written: its checksum differs",
                     file_.header_of(pieces_[piece_])};
      if (at_ != pieces_[piece_].used) return;
    }
  }

  const BlockIndex& file_;
  const std::vector<BlockIndex::Piece>& pieces_;
  std::size_t piece_;
  std::uint64_t at_;
};

// What the records of a rank's stream may refer to.
struct Definitions {
  int ranks = 0;  // of the trace
  Clock clock = Clock::cpu;
  std::vector<std::string> names;
  std::vector<Communicator> comms;
  std::vector<Site> sites;
  std::vector<Counts> counts;
};

// Where the rank's clocks and its count of requests stand after the last event.
struct Position {
  Time last_leave;
  Time cpu;
  std::uint64_t last_request = 0;
};

}  // namespace foretrace::trace
