// The layout of a pyramid's file, RUN.ftr.view. Private to src/pyramid.
//
//   "FTRVIEW3"
//   for each rank  its events as views/timeline/data.hpp describes them, a Before for every
//                  eighth piece, and the rows of cells that became complete with it
//   head           JSON for the page
//   shapes         ShapeKind for each shape of the events
//   pieces         Piece, by rank
//   ranks          RankEntry
//   segments       Segment, by level of ranks, block of ranks, and 256 bins
//   delays         how long others waited for each rank in the whole run, ps; none: not known
//   areas          of messages, then of bytes under way, the area up to the borders of
//                  2^area_level bins; none: not known
//   Footer
//
// A row is a block of 2^level ranks on the grid of Footer::time_level; level 0 is one rank. Its
// segments hold, for each cell's class: bin (distance to the one before) as a varint, class,
// time in ps as a varint. Numbers have the machine's own order of bytes: the file is made where it
// is read.
#pragma once

#include <array>
#include <cstdint>

namespace foretrace::pyramid {

inline constexpr std::array<char, 8> kMagic{'F', 'T', 'R', 'V', 'I', 'E', 'W', '3'};
inline constexpr std::uint64_t kPieceLength = 512;  // events
inline constexpr std::uint64_t kPiecesPerBefore = 8;

struct ShapeKind {
  std::uint8_t kind = 0;       // trace::EventKind
  std::uint8_t class_ = 0;     // of its time; 0 also where it is no call
  std::uint32_t name = 0;      // number of it
  std::uint32_t sends = 0;     // channel (before.hpp); 0: none
  std::uint32_t receives = 0;  // likewise
};

struct Piece {
  std::int64_t at = 0;      // ps
  std::uint64_t event = 0;  // number in its rank
  std::uint64_t offset = 0;
  std::uint64_t before = 0;  // where its Before is; 0: it has none
};

struct RankEntry {
  std::uint64_t first_piece = 0;
  std::uint64_t events = 0;
  std::uint64_t stream_end = 0;
  std::int64_t end = 0;  // ps
};

struct Segment {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct Footer {
  std::uint64_t head = 0, head_size = 0;
  std::uint64_t shapes = 0, shape_count = 0;
  std::uint64_t pieces = 0, piece_count = 0;
  std::uint64_t ranks = 0, rank_count = 0;
  std::uint64_t segments = 0, segment_count = 0;
  std::uint64_t delays = 0, delay_count = 0;
  std::uint64_t areas = 0, area_count = 0;
  std::uint32_t area_level = 0;
  std::uint32_t unused = 0;
  std::int64_t end = 0;           // of the run, ps
  std::uint32_t time_level = 0;   // 2^time_level bins
  std::uint32_t first_level = 0;  // the lowest level of ranks that has rows
  std::uint64_t source_size = 0;  // the trace that it was made of
  std::int64_t source_time = 0;
  std::array<char, 8> magic = kMagic;
};

}  // namespace foretrace::pyramid
