// What a tile of a pyramid shows. Private to src/pyramid.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pyramid/arrangement.hpp"
#include "pyramid/before.hpp"
#include "pyramid/grid.hpp"
#include "pyramid/open_file.hpp"

namespace foretrace::pyramid {

struct TileEntry {
  std::uint8_t bin = 0;
  Class class_ = 0;
  float time = 0;  // ps
};

struct TilePlace {
  std::uint32_t time_level = 0;
  std::uint64_t column = 0;
  std::uint32_t rank_level = 0;
  std::uint64_t row = 0;
};

// The entries of each of its blocks, by bin and class. The place exists.
std::array<std::vector<TileEntry>, kTileBlocks> tile_of(const OpenFile& file,
                                                        const TilePlace& place);
// The same of rows in place of ranks.
std::array<std::vector<TileEntry>, kTileBlocks> tile_of(const OpenFile& file,
                                                        const TilePlace& place,
                                                        const Arrangement& rows);

// The events of a rank that touch [from, to).
struct EventCut {
  std::uint64_t event = 0;  // number of the first
  std::int64_t at = 0;      // where the computation before it begins, ps
  std::uint64_t count = 0;
  std::string_view bytes;
  Before before;
};

EventCut events_in(const OpenFile& file, std::uint64_t rank, std::int64_t from, std::int64_t to);

// The pieces [first, second) of a rank that touch [from, to); ps.
std::pair<std::size_t, std::size_t> pieces_in(std::span<const Piece> pieces, std::int64_t from,
                                              std::int64_t to);

}  // namespace foretrace::pyramid
