#include "pyramid/open_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "pyramid/grid.hpp"

namespace foretrace::pyramid {

void Bytes::refuse() const {
  throw Error(std::string(path_) + ": the view is damaged; remove it, and it is made again");
}

OpenFile::OpenFile(std::string path) : path_(std::move(path)) {
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw Error(path_ + ": cannot read the view: " + std::strerror(errno));
  struct stat about {};
  if (::fstat(fd, &about) != 0 || about.st_size < static_cast<off_t>(sizeof(Footer) + 8)) {
    ::close(fd);
    refuse("it is too short");
  }
  const auto size = static_cast<std::size_t>(about.st_size);
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  if (at == MAP_FAILED) throw Error(path_ + ": cannot map the view: " + std::strerror(errno));
  bytes_ = {static_cast<const char*>(at), size};
  try {
    check();
  } catch (...) {
    ::munmap(at, size);
    throw;
  }
}

OpenFile::~OpenFile() {
  ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

void OpenFile::refuse(const std::string& what) const {
  throw Error(path_ + ": this is no view of a trace: " + what +
              "; remove it, and it is made again");
}

std::string_view OpenFile::text(std::uint64_t offset, std::uint64_t size) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset)
    refuse("it points outside of itself");
  return bytes_.substr(offset, size);
}

template <typename T>
std::span<const T> OpenFile::table(std::uint64_t offset, std::uint64_t count) const {
  if (offset % alignof(T) != 0 || count > bytes_.size() / sizeof(T))
    refuse("a table of it makes no sense");
  const std::string_view bytes = text(offset, count * sizeof(T));
  return {reinterpret_cast<const T*>(bytes.data()), count};
}

void OpenFile::check() {
  std::memcpy(&footer_, bytes_.data() + bytes_.size() - sizeof footer_, sizeof footer_);
  if (footer_.magic != kMagic || bytes_.substr(0, 8) != std::string_view(kMagic.data(), 8))
    refuse("it begins or ends with something else");
  text(footer_.head, footer_.head_size);
  shapes_ = table<ShapeKind>(footer_.shapes, footer_.shape_count);
  pieces_ = table<Piece>(footer_.pieces, footer_.piece_count);
  ranks_ = table<RankEntry>(footer_.ranks, footer_.rank_count);
  segments_ = table<Segment>(footer_.segments, footer_.segment_count);
  if (footer_.end < 1 || footer_.time_level < kLeastLevel || footer_.time_level > kMostLevel ||
      ranks_.empty() || ranks_.size() > (std::uint64_t{1} << 31))
    refuse("its size makes no sense");
  delays_ = table<std::int64_t>(footer_.delays, footer_.delay_count);
  areas_ = table<double>(footer_.areas, footer_.area_count);
  if ((!delays_.empty() && delays_.size() != ranks_.size()) || footer_.area_level > kMostLevel ||
      (!areas_.empty() && areas_.size() != 2 * ((std::uint64_t{1} << footer_.area_level) + 1)))
    refuse("its tracks make no sense");
  std::uint64_t before = 0;
  for (const RankEntry& rank : ranks_) {
    if (rank.first_piece < before || rank.first_piece > pieces_.size() ||
        rank.stream_end > bytes_.size())
      refuse("a rank's events make no sense");
    before = rank.first_piece;
  }
  std::uint64_t next = 0;
  const std::uint64_t tiles = (std::uint64_t{1} << footer_.time_level) / kTileBins;
  for (std::uint32_t level = 0;; ++level) {
    first_segment_.push_back(next);
    if (level >= footer_.first_level) {
      if (tiles > segments_.size()) refuse("it lacks rows");
      next += blocks(level) * tiles;
    }
    if (blocks(level) == 1) break;
  }
  if (footer_.first_level > top_level() || next != segments_.size()) refuse("it lacks rows");
}

std::uint64_t OpenFile::blocks(std::uint32_t level) const {
  return ((ranks_.size() - 1) >> level) + 1;
}

std::span<const Piece> OpenFile::pieces(std::uint64_t rank) const {
  const std::uint64_t first = ranks_[rank].first_piece;
  const std::uint64_t end =
      rank + 1 < ranks_.size() ? ranks_[rank + 1].first_piece : pieces_.size();
  return pieces_.subspan(first, end - first);
}

std::string_view OpenFile::stream(std::uint64_t rank, std::size_t i, std::size_t end) const {
  const auto own = pieces(rank);
  const std::uint64_t from = own[i].offset;
  const std::uint64_t to = end < own.size() ? own[end].offset : ranks_[rank].stream_end;
  if (to < from) refuse("a piece ends before it begins");
  return text(from, to - from);
}

Bytes OpenFile::before(std::uint64_t rank, std::size_t piece) const {
  const std::uint64_t at = pieces(rank)[piece].before;
  if (at == 0 || at >= bytes_.size()) refuse("it does not say what was before a rank's events");
  return {bytes_.substr(at), path_};
}

Bytes OpenFile::segment(std::uint32_t level, std::uint64_t block, std::uint64_t tile) const {
  const std::uint64_t tiles = (std::uint64_t{1} << footer_.time_level) / kTileBins;
  const Segment& at = segments_[first_segment_[level] + block * tiles + tile];
  return {text(at.offset, at.size), path_};
}

}  // namespace foretrace::pyramid
