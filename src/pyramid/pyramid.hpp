// A large run as pages for the time line: what blocks of ranks do in bins of time, at any
// scale, and the events of a window. All of it comes from a file beside the trace, of which
// only what is asked for is read; the file is made of the trace once.
//
// Draws nothing and serves nobody: cli/pages/timeline_server.cpp does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "pyramid/arrangement.hpp"
#include "trace/tell_place.hpp"

namespace foretrace::pyramid {

// How much was done: 0 to 1.
using Progress = std::function<void(double)>;

// Reads the trace twice, a rank at a time, and writes `path`. Throws Error.
void build_pyramid(const std::string& trace, const std::string& path, const trace::TellPlace& tell,
                   const Progress& progress);

// Whether the file is a view that another version of the tool made: it is to be made again.
bool is_other_version(const std::string& path);

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
  // With `rows` these stand in place of the ranks.
  std::string tile(std::uint64_t time_level, std::uint64_t column, std::uint64_t rank_level,
                   std::uint64_t row, const Arrangement* rows = nullptr) const;

  // The events of ranks [first, last) that touch [from, to): a 32-bit length, JSON
  // {"first": rank, "ranks": [[number of the first event, ps before it, events, bytes,
  // [[channel, messages before it]...], [[open phase's name, since when, ps]...]]...]}
  // (before.hpp), and their bytes. Where there may be more than `most`: JSON {"many": events}
  // alone.
  std::string events(std::int64_t from, std::int64_t to, std::uint64_t first, std::uint64_t last,
                     std::uint64_t most) const;

  // Ranks that do the same between two moments: JSON [{"ranks": [first, count, first, count ...],
  // "apart": part of the time}...], as web/src/arrange.ts has it.
  std::string alike(double from, double to) const;

  // Of each rank the time computing, in calls and waiting between two moments, and how long others
  // waited for it in the whole run (NaN: not known); ps, as 64-bit floats.
  std::string ranks(double from, double to) const;

  // How many messages are under way, then how many bytes: the means of `columns` equal parts of
  // the time between two moments, as 64-bit floats.
  std::string under_way(double from, double to, std::uint64_t columns) const;

  std::uint64_t rank_count() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace foretrace::pyramid
