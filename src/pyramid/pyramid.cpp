#include "pyramid/pyramid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "pyramid/file.hpp"
#include "pyramid/grid.hpp"
#include "pyramid/open_file.hpp"
#include "pyramid/rank_times.hpp"
#include "pyramid/tiles.hpp"

namespace foretrace::pyramid {
namespace {

constexpr std::uint64_t kMostColumns = 16384;
constexpr std::uint64_t kMostWalked = 50;  // events that are read for one that is told

void put_number(std::string& out, std::size_t value) {
  const auto number = static_cast<std::uint32_t>(value);
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put_double(std::string& out, double value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void check_span(double from, double to) {
  if (!(from >= 0 && from < to && to <= 1e19)) throw Error("there is no such time");
}

// The area up to `time`; between two borders it is taken to grow evenly.
double area_upto(std::span<const double> areas, double bin, double time) {
  const double at = std::clamp(time / bin, 0.0, static_cast<double>(areas.size() - 1));
  const auto i = std::min(areas.size() - 2, static_cast<std::size_t>(at));
  return areas[i] + (areas[i + 1] - areas[i]) * (at - static_cast<double>(i));
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

bool is_other_version(const std::string& path) {
  std::array<char, kMagic.size()> begins{};
  std::ifstream(path, std::ios::binary).read(begins.data(), begins.size());
  return begins != kMagic && std::equal(begins.begin(), begins.end() - 1, kMagic.begin());
}

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
                          std::uint64_t row, const Arrangement* rows) const {
  const OpenFile& file = impl_->file;
  const std::uint64_t count = rows != nullptr ? rows->rows() : file.ranks().size();
  if (time_level < kLeastLevel || time_level > kMostLevel ||
      column >= (std::uint64_t{1} << time_level) / kTileBins || rank_level > file.top_level() ||
      row > ((count - 1) >> rank_level) / kTileBlocks)
    throw Error("there is no such tile");
  const TilePlace place{static_cast<std::uint32_t>(time_level), column,
                        static_cast<std::uint32_t>(rank_level), row};
  const auto blocks = rows != nullptr ? tile_of(file, place, *rows) : tile_of(file, place);
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

std::uint64_t Pyramid::rank_count() const {
  return impl_->file.ranks().size();
}

std::string Pyramid::alike(double from, double to) const {
  check_span(from, to);
  nlohmann::json all = nlohmann::json::array();
  for (const AlikeGroup& group : pyramid::alike(impl_->file, from, to)) {
    nlohmann::json spans = nlohmann::json::array();
    for (std::size_t i = 0, next = 0; i < group.ranks.size(); i = next) {
      while (next < group.ranks.size() && group.ranks[next] == group.ranks[i] + (next - i)) ++next;
      spans.push_back(group.ranks[i]);
      spans.push_back(next - i);
    }
    all.push_back({{"ranks", std::move(spans)}, {"apart", group.apart}});
  }
  return all.dump();
}

std::string Pyramid::ranks(double from, double to) const {
  check_span(from, to);
  const auto delays = impl_->file.delays();
  std::string all;
  std::size_t rank = 0;
  for (const RankMeasure& measure : rank_measures(impl_->file, from, to)) {
    for (const double value : {measure.compute, measure.calls, measure.wait})
      put_double(all, value);
    put_double(all, delays.empty() ? std::numeric_limits<double>::quiet_NaN()
                                   : static_cast<double>(delays[rank]));
    ++rank;
  }
  return all;
}

std::string Pyramid::under_way(double from, double to, std::uint64_t columns) const {
  check_span(from, to);
  const auto areas = impl_->file.areas();
  if (columns == 0 || columns > kMostColumns || areas.empty())
    throw Error("there are no such columns");
  const Footer& footer = impl_->file.footer();
  const std::size_t borders = areas.size() / 2;
  const double bin = static_cast<double>(footer.end) / static_cast<double>(borders - 1);
  const double width = (to - from) / static_cast<double>(columns);
  std::string all;
  for (const auto own : {areas.first(borders), areas.last(borders)})
    for (std::uint64_t x = 0; x < columns; ++x) {
      const double start = from + static_cast<double>(x) * width;
      const double more = area_upto(own, bin, start + width) - area_upto(own, bin, start);
      put_double(all, std::max(0.0, more / width));
    }
  return all;
}

}  // namespace foretrace::pyramid
