// Reads the events of a stream (views/timeline/data.hpp) one by one. Private to src/pyramid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "pyramid/file.hpp"
#include "pyramid/grid.hpp"
#include "pyramid/open_file.hpp"
#include "trace/event.hpp"

namespace foretrace::pyramid {

class EventWalk {
 public:
  // `at`: where the computation before the first event begins, ps.
  EventWalk(Bytes in, std::span<const ShapeKind> shapes, std::int64_t at)
      : leave(at), in_(in), shapes_(shapes) {}

  // False at the end. Throws Error where the bytes make no sense.
  bool next() {
    if (in_.at_end()) return false;
    const std::uint64_t word = in_.varint();
    if (word / 2 >= shapes_.size()) in_.refuse();
    shape = &shapes_[word / 2];
    start = leave;
    enter = later(start);
    leave = later(enter);
    ready = word % 2 == 1 ? std::min(leave, later(enter)) : enter;
    const auto kind = static_cast<trace::EventKind>(shape->kind);
    done = kind == trace::EventKind::irecv ? in_.varint() : 0;
    if (kind == trace::EventKind::mark) in_.skip(8);
    bytes = in_.at();
    return true;
  }

  const ShapeKind* shape = nullptr;
  std::int64_t start = 0;  // of the computation before it, ps
  std::int64_t enter = 0;
  std::int64_t ready = 0;  // waited until then
  std::int64_t leave = 0;
  std::uint64_t done = 0;  // of a posted receive
  std::size_t bytes = 0;   // where it ends

 private:
  std::int64_t later(std::int64_t time) {
    const std::uint64_t length = in_.varint();
    if (length > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() - time))
      in_.refuse();
    return time + static_cast<std::int64_t>(length);
  }

  Bytes in_;
  std::span<const ShapeKind> shapes_;
};

}  // namespace foretrace::pyramid
