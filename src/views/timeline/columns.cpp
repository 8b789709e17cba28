#include "views/timeline/columns.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace foretrace::views {

namespace {

using trace::EventKind;

std::uint64_t take_varint(const std::string& stream, std::size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(stream[at++]);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
}

class Column {
 public:
  void add(std::uint64_t value) {
    std::size_t bytes = 0;
    for (; value > 0; value >>= 8) {
      if (planes_.size() == ++bytes) planes_.emplace_back();
      planes_[bytes] += static_cast<char>(value & 0xff);
    }
    planes_[0] += static_cast<char>(bytes);
  }

  void write(std::string& out) const {
    put_varint(out, planes_.size());
    for (const std::string& plane : planes_) put_varint(out, plane.size());
    for (const std::string& plane : planes_) out += plane;
  }

 private:
  std::vector<std::string> planes_ = std::vector<std::string>(1);
};

}  // namespace

std::string stream_columns(const std::string& stream, const std::vector<TimelineShape>& shapes) {
  Column words, gaps, own, waits, done;
  std::string values;
  for (std::size_t at = 0; at < stream.size();) {
    const std::uint64_t word = take_varint(stream, at);
    words.add(word);
    gaps.add(take_varint(stream, at));
    const std::uint64_t duration = take_varint(stream, at);
    // What a damaged trace says of a wait may be longer than its call.
    const std::uint64_t wait =
        word % 2 == 1 ? std::min(duration, take_varint(stream, at)) : std::uint64_t{0};
    own.add(duration - wait);
    if (word % 2 == 1) waits.add(wait);
    const auto kind = static_cast<EventKind>(shapes[word / 2][0]);
    if (kind == EventKind::irecv) done.add(take_varint(stream, at));
    if (kind == EventKind::mark) {
      values.append(stream, at, 8);
      at += 8;
    }
  }
  std::string out;
  for (const Column* column : {&words, &gaps, &own, &waits, &done}) column->write(out);
  return out + values;
}

}  // namespace foretrace::views
