#include "pyramid/tiles.hpp"

#include <algorithm>

#include "pyramid/event_walk.hpp"

namespace foretrace::pyramid {
namespace {

// Times of the tile's bins by class.
class Sums {
 public:
  Sums() : times_(kTileBins * 256) {}

  void add(std::uint64_t bin, Class class_, double time) {
    double& sum = times_[bin * 256 + class_];
    if (sum == 0) used_.push_back(static_cast<std::uint32_t>(bin * 256 + class_));
    sum += time * part;
  }

  std::vector<TileEntry> take() {
    std::sort(used_.begin(), used_.end());
    std::vector<TileEntry> entries;
    entries.reserve(used_.size());
    for (const std::uint32_t at : used_)
      entries.push_back({static_cast<std::uint8_t>(at / 256), static_cast<Class>(at % 256),
                         static_cast<float>(std::exchange(times_[at], 0))});
    used_.clear();
    return entries;
  }

  double part = 1;  // of what is added

 private:
  std::vector<double> times_;
  std::vector<std::uint32_t> used_;
};

// From the rows of the file: those bins may be several of its own.
void add_row(const OpenFile& file, const TilePlace& place, std::uint32_t rank_level,
             std::uint64_t block, Sums& sums) {
  const std::uint32_t finer = file.footer().time_level - place.time_level;
  const std::uint64_t tiles = std::uint64_t{1} << finer;
  for (std::uint64_t i = 0; i < tiles; ++i) {
    const std::uint64_t tile = place.column * tiles + i;
    Bytes in = file.segment(rank_level, block, tile);
    std::uint64_t bin = i * kTileBins;  // from where the place begins
    while (!in.at_end()) {
      bin += in.varint();
      const Class class_ = in.byte();
      const std::uint64_t time = in.varint();
      if (bin >= (i + 1) * kTileBins) in.refuse();
      sums.add(bin >> finer, class_, static_cast<double>(time));
    }
  }
}

// The events of a rank's pieces [begin, end).
EventWalk walk(const OpenFile& file, std::uint64_t rank, std::size_t begin, std::size_t end) {
  return {{file.stream(rank, begin, end), file.path()}, file.shapes(), file.pieces(rank)[begin].at};
}

// From the events of a rank.
void add_events(const OpenFile& file, std::uint64_t rank, const Grid& grid, std::uint64_t first_bin,
                Sums& sums) {
  const std::int64_t from = grid.at(first_bin);
  const std::int64_t to = grid.at(first_bin + kTileBins);
  const auto [begin, end] = pieces_in(file.pieces(rank), from, to);
  if (begin == end) return;
  Cutter cutter(grid, first_bin, first_bin + kTileBins);
  const auto span = [&](Class class_, std::int64_t start, std::int64_t stop) {
    cutter.cut(start, stop, [&](std::uint64_t bin, std::int64_t time) {
      sums.add(bin - first_bin, class_, static_cast<double>(time));
    });
  };
  EventWalk step = walk(file, rank, begin, end);
  while (step.next()) {
    const Class class_ = step.shape->class_;
    span(0, step.start, step.enter);
    span(class_ == 0 ? Class(0) : static_cast<Class>(class_ + 1), step.enter, step.ready);
    span(class_, step.ready, step.leave);
    if (step.leave >= to) break;
  }
}

// The ranks [first, last), of the rows of the file as far as there are such.
void add_ranks(const OpenFile& file, const TilePlace& place, const Grid& grid, std::uint64_t first,
               std::uint64_t last, Sums& sums) {
  const Footer& footer = file.footer();
  while (first < last) {
    std::uint32_t level = 0;
    while (level < file.top_level() && first % (std::uint64_t{2} << level) == 0 &&
           std::min<std::uint64_t>(first + (std::uint64_t{2} << level), file.ranks().size()) <=
               last)
      ++level;
    const std::uint64_t end =
        std::min<std::uint64_t>(first + (std::uint64_t{1} << level), file.ranks().size());
    if (place.time_level <= footer.time_level && level >= footer.first_level)
      add_row(file, place, level, first >> level, sums);
    else
      for (std::uint64_t rank = first; rank < end; ++rank)
        add_events(file, rank, grid, place.column * kTileBins, sums);
    first = end;
  }
}

}  // namespace

std::pair<std::size_t, std::size_t> pieces_in(std::span<const Piece> pieces, std::int64_t from,
                                              std::int64_t to) {
  const auto before = [](const Piece& piece, std::int64_t time) { return piece.at < time; };
  const auto begin = std::lower_bound(pieces.begin(), pieces.end(), from, before);
  const auto end = std::lower_bound(begin, pieces.end(), to, before);
  const auto first = static_cast<std::size_t>(begin - pieces.begin());
  const std::size_t one = first > 0 ? first - 1 : 0;
  return {one, std::max(one, static_cast<std::size_t>(end - pieces.begin()))};
}

EventCut events_in(const OpenFile& file, std::uint64_t rank, std::int64_t from, std::int64_t to) {
  const auto pieces = file.pieces(rank);
  const auto [touching, end] = pieces_in(pieces, from, to);
  EventCut cut;
  if (touching == end) return cut;
  const std::size_t begin = touching / kPiecesPerBefore * kPiecesPerBefore;
  Bytes before = file.before(rank, begin);
  cut.before = Before::read(before);
  std::size_t first_byte = 0;
  std::size_t last_byte = 0;
  std::uint64_t number = pieces[begin].event;
  EventWalk step = walk(file, rank, begin, end);
  while (step.next() && step.start < to) {
    if (cut.count == 0 && step.leave < from) {
      first_byte = step.bytes;
      cut.before.take(*step.shape, step.enter, step.done);
      ++number;
      continue;
    }
    if (cut.count++ == 0) cut.event = number, cut.at = step.start;
    last_byte = step.bytes;
  }
  if (cut.count > 0)
    cut.bytes = file.stream(rank, begin, end).substr(first_byte, last_byte - first_byte);
  return cut;
}

std::array<std::vector<TileEntry>, kTileBlocks> tile_of(const OpenFile& file,
                                                        const TilePlace& place) {
  std::array<std::vector<TileEntry>, kTileBlocks> all;
  const Grid grid(file.footer().end, place.time_level);
  Sums sums;
  for (std::uint64_t i = 0; i < kTileBlocks; ++i) {
    const std::uint64_t block = place.row * kTileBlocks + i;
    if (block >= file.blocks(place.rank_level)) break;
    const std::uint64_t end =
        std::min<std::uint64_t>(file.ranks().size(), (block + 1) << place.rank_level);
    add_ranks(file, place, grid, block << place.rank_level, end, sums);
    all[i] = sums.take();
  }
  return all;
}

std::array<std::vector<TileEntry>, kTileBlocks> tile_of(const OpenFile& file,
                                                        const TilePlace& place,
                                                        const Arrangement& rows) {
  std::array<std::vector<TileEntry>, kTileBlocks> all;
  const Grid grid(file.footer().end, place.time_level);
  Sums sums;
  for (std::uint64_t i = 0; i < kTileBlocks; ++i) {
    const std::uint64_t first = (place.row * kTileBlocks + i) << place.rank_level;
    const std::uint64_t end =
        std::min<std::uint64_t>(rows.rows(), first + (std::uint64_t{1} << place.rank_level));
    for (std::uint64_t row = first; row < end; ++row) {
      const auto ranks = rows.ranks(row);
      sums.part = 1.0 / static_cast<double>(ranks.size());
      for (std::size_t from = 0, to = 0; from < ranks.size(); from = to) {
        while (to < ranks.size() && ranks[to] == ranks[from] + (to - from)) ++to;
        add_ranks(file, place, grid, ranks[from], std::uint64_t{ranks[to - 1]} + 1, sums);
      }
    }
    all[i] = sums.take();
  }
  return all;
}

}  // namespace foretrace::pyramid
