// A pyramid's file as it is mapped and was checked. Private to src/pyramid.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pyramid/file.hpp"

namespace foretrace::pyramid {

// Bytes that are read from the front. Throws Error at their end.
class Bytes {
 public:
  Bytes(std::string_view bytes, std::string_view path) : bytes_(bytes), path_(path) {}
  std::size_t at() const { return at_; }
  bool at_end() const { return at_ >= bytes_.size(); }
  std::uint8_t byte() {
    if (at_ >= bytes_.size()) refuse();
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t digit = byte();
      value |= std::uint64_t{digit & 0x7fu} << shift;
      if (digit < 0x80) return value;
    }
    refuse();
  }
  void skip(std::size_t count) {
    if (count > bytes_.size() - at_) refuse();
    at_ += count;
  }
  // They make no sense.
  [[noreturn]] void refuse() const;

 private:
  std::string_view bytes_;
  std::string_view path_;
  std::size_t at_ = 0;
};

class OpenFile {
 public:
  // Throws Error.
  explicit OpenFile(std::string path);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const std::string& path() const { return path_; }
  const Footer& footer() const { return footer_; }
  std::span<const ShapeKind> shapes() const { return shapes_; }
  std::span<const RankEntry> ranks() const { return ranks_; }
  std::span<const std::int64_t> delays() const { return delays_; }  // by rank, or none
  std::span<const double> areas() const { return areas_; }          // two of them, or none
  // Of a rank, at least one where it has events.
  std::span<const Piece> pieces(std::uint64_t rank) const;
  // The stream of a rank's piece `i` and those after it up to `end`.
  std::string_view stream(std::uint64_t rank, std::size_t i, std::size_t end) const;
  // What was before a piece that has a Before.
  Bytes before(std::uint64_t rank, std::size_t piece) const;
  Bytes segment(std::uint32_t level, std::uint64_t block, std::uint64_t tile) const;
  std::string_view text(std::uint64_t offset, std::uint64_t size) const;
  std::uint32_t top_level() const { return static_cast<std::uint32_t>(first_segment_.size() - 1); }
  std::uint64_t blocks(std::uint32_t level) const;

 private:
  [[noreturn]] void refuse(const std::string& what) const;
  template <typename T>
  std::span<const T> table(std::uint64_t offset, std::uint64_t count) const;
  void check();

  std::string path_;
  std::string_view bytes_;
  Footer footer_;
  std::span<const ShapeKind> shapes_;
  std::span<const Piece> pieces_;
  std::span<const RankEntry> ranks_;
  std::span<const Segment> segments_;
  std::span<const std::int64_t> delays_;
  std::span<const double> areas_;
  std::vector<std::uint64_t> first_segment_;  // by level of ranks
};

}  // namespace foretrace::pyramid
