#include "pyramid/pyramid.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "pyramid/grid.hpp"
#include "pyramid/open_file.hpp"
#include "pyramid/tiles.hpp"

namespace foretrace::pyramid {
namespace {

constexpr std::uint64_t kMostWalked = 50;  // events that are read for one that is told

void put_number(std::string& out, std::size_t value) {
  const auto number = static_cast<std::uint32_t>(value);
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::uint64_t pieces_between(const OpenFile& file, std::int64_t from, std::int64_t to,
                             std::uint64_t first, std::uint64_t last) {
  std::uint64_t count = 0;
  for (std::uint64_t rank = first; rank < last; ++rank) {
    const auto [begin, end] = pieces_in(file.pieces(rank), from, to);
    count += end - begin;
  }
  return count;
}

}  // namespace

struct Pyramid::Impl {
  OpenFile file;
};

Pyramid::Pyramid(const std::string& path) : impl_(new Impl{OpenFile(path)}) {}
Pyramid::~Pyramid() = default;

bool Pyramid::is_of(const std::string& trace) const {
  const Footer& footer = impl_->file.footer();
  return std::filesystem::file_size(trace) == footer.source_size &&
         std::filesystem::last_write_time(trace).time_since_epoch().count() == footer.source_time;
}

std::string Pyramid::head() const {
  const Footer& footer = impl_->file.footer();
  return std::string(impl_->file.text(footer.head, footer.head_size));
}

std::string Pyramid::tile(std::uint64_t time_level, std::uint64_t column, std::uint64_t rank_level,
                          std::uint64_t row) const {
  const OpenFile& file = impl_->file;
  if (time_level < kLeastLevel || time_level > kMostLevel ||
      column >= (std::uint64_t{1} << time_level) / kTileBins || rank_level > file.top_level() ||
      row > (file.blocks(static_cast<std::uint32_t>(rank_level)) - 1) / kTileBlocks)
    throw Error("there is no such tile");
  const auto blocks = tile_of(file, {static_cast<std::uint32_t>(time_level), column,
                                     static_cast<std::uint32_t>(rank_level), row});
  std::string counts, bins, classes, times;
  for (const auto& block : blocks) {
    put_number(counts, block.size());
    for (const TileEntry& entry : block) {
      bins += static_cast<char>(entry.bin);
      classes += static_cast<char>(entry.class_);
      times.append(reinterpret_cast<const char*>(&entry.time), sizeof entry.time);
    }
  }
  std::string all = counts + bins + classes;
  all.resize((all.size() + 3) / 4 * 4);
  return all + times;
}

std::string Pyramid::events(std::int64_t from, std::int64_t to, std::uint64_t first,
                            std::uint64_t last, std::uint64_t most) const {
  const OpenFile& file = impl_->file;
  if (first >= last || last > file.ranks().size() || from < 0 || from >= to)
    throw Error("there is no such window");
  std::uint64_t total = pieces_between(file, from, to, first, last) * kPieceLength;
  nlohmann::json about{{"many", total}};
  std::string streams;
  // Of more than that the answer takes too long.
  if (total / kMostWalked <= most) {
    total = 0;
    nlohmann::json ranks = nlohmann::json::array();
    for (std::uint64_t rank = first; rank < last; ++rank) {
      const EventCut cut = events_in(file, rank, from, to);
      total += cut.count;
      if (total > most) continue;
      streams += cut.bytes;
      nlohmann::json messages = nlohmann::json::array();
      for (const auto& [channel, count] : cut.before.messages) messages.push_back({channel, count});
      ranks.push_back({cut.event, cut.at, cut.count, cut.bytes.size(), std::move(messages),
                       cut.before.open_phases});
    }
    about = total > most ? nlohmann::json{{"many", total}}
                         : nlohmann::json{{"first", first}, {"ranks", std::move(ranks)}};
  }
  const std::string text = about.dump();
  std::string all;
  put_number(all, text.size());
  all += text;
  return total > most ? all : all + streams;
}

}  // namespace foretrace::pyramid
