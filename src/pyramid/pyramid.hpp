// A large run as pages for the time line: what blocks of ranks do in bins of time, at any
// scale, and the events of a window. All of it comes from a file beside the trace, of which
// only what is asked for is read; the file is made of the trace once.
//
// Draws nothing and serves nobody: cli/timeline_server.cpp does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "trace/tell_place.hpp"

namespace foretrace::pyramid {

// How much was done: 0 to 1.
using Progress = std::function<void(double)>;

// Reads the trace twice, a rank at a time, and writes `path`. Throws Error.
void build_pyramid(const std::string& trace, const std::string& path, const trace::TellPlace& tell,
                   const Progress& progress);

class Pyramid {
 public:
  // Throws Error where the file cannot be read or makes no sense.
  explicit Pyramid(const std::string& path);
  ~Pyramid();
  Pyramid(const Pyramid&) = delete;
  Pyramid& operator=(const Pyramid&) = delete;

  // Whether it was made of that trace, as it is now.
  bool is_of(const std::string& trace) const;

  // JSON, as views::timeline_head() with "served" (web/src/served/remote.ts).
  std::string head() const;

  // The times of 64 blocks of 2^rank_level ranks in 256 of 2^time_level bins: for each block a
  // 32-bit number of entries; all entries' bins, their classes (a byte each), nothing up to a
  // multiple of 4, their times in ps as 32-bit floats. Throws Error where there is no such tile.
  std::string tile(std::uint64_t time_level, std::uint64_t column, std::uint64_t rank_level,
                   std::uint64_t row) const;

  // The events of ranks [first, last) that touch [from, to): a 32-bit length, JSON
  // {"first": rank, "ranks": [[number of the first event, ps before it, events, bytes,
  // [[channel, messages before it]...], [[open phase's name, since when, ps]...]]...]}
  // (before.hpp), and their bytes. Where there may be more than `most`: JSON {"many": events}
  // alone.
  std::string events(std::int64_t from, std::int64_t to, std::uint64_t first, std::uint64_t last,
                     std::uint64_t most) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace foretrace::pyramid
