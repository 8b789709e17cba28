#include "trace/block_index.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <iterator>
#include <string_view>

#include "base/error.hpp"
#include "trace/checksum.hpp"
#include "trace/seal.hpp"

namespace foretrace::trace {

BlockIndex::BlockIndex(const std::string& path) : path_(path) {
  // Of a pipe nobody may have the other end.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) throw Error(path + ": cannot open the trace: " + std::strerror(errno));
  struct stat status;
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(fd);
    throw Error(path + ": not a regular file; give a trace made by record, predict or simulate");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  if (size_ > 0) {
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    const int reason = errno;
    ::close(fd);
    if (mapped == MAP_FAILED)
      throw Error(path + ": cannot map the trace: " + std::strerror(reason));
    data_ = static_cast<const std::uint8_t*>(mapped);
  } else {
    ::close(fd);
  }
  try {
    scan();
  } catch (...) {
    if (data_) ::munmap(const_cast<std::uint8_t*>(data_), size_);
    throw;
  }
}

BlockIndex::~BlockIndex() {
  if (data_) ::munmap(const_cast<std::uint8_t*>(data_), size_);
}

void BlockIndex::leave(const Piece& piece) const {
  // Less is not worth a system call.
  constexpr std::uint64_t kWorthIt = 64 * 1024;
  if (piece.used < kWorthIt) return;
  // The pages at both ends hold what belongs to others, too.
  const std::uint64_t begin = (piece.offset + kPage - 1) / kPage * kPage;
  const std::uint64_t end = (piece.offset + piece.used) / kPage * kPage;
  ::madvise(const_cast<std::uint8_t*>(data_) + begin, end - begin, MADV_DONTNEED);
}

OpenCall BlockIndex::open(WorldRank rank) const {
  const Chain& of = chain(rank);
  return of.broken || of.pieces.empty() || !intact(of.pieces.back()) ? OpenCall() : of.open;
}

bool BlockIndex::all_zero(std::uint64_t from, std::uint64_t to) const {
  return std::all_of(data_ + from, data_ + to, [](std::uint8_t byte) { return byte == 0; });
}

void BlockIndex::scan() {
  read_header();
  if (version_ < 3) return scan_old_blocks();
  read_info();
  chains_.resize(static_cast<std::size_t>(info_.ranks));
  scan_blocks();
  tell_length();
  tell_missing();
}

void BlockIndex::read_header() {
  constexpr std::string_view kProfile = "FTPROF";
  if (std::string_view(reinterpret_cast<const char*>(data_), size_).starts_with(kProfile))
    throw Error(path_ + ": a profile, not a trace; foretrace profile --read " + path_ +
                " shows it");
  if (size_ < sizeof kFileMagic || std::memcmp(data_, kFileMagic, sizeof kFileMagic) != 0)
    throw Error(path_ + ": offset 0: not a Foretrace trace");
  if (size_ < kPage)
    throw Error(path_ + ": offset " + std::to_string(size_) +
                ": the file is cut off in its header; nothing of the run is left");
  FileHeader header;
  std::memcpy(&header, data_, sizeof header);
  version_ = header.version;
  if (version_ < kOldestVersion || version_ > kVersion)
    throw Error(path_ + ": offset 8: trace format version " + std::to_string(version_) +
                ", this tool reads versions " + std::to_string(kOldestVersion) + " to " +
                std::to_string(kVersion));
  // What is zero in versions 1 and 2 never is in later ones: none passes for another.
  const bool whole = version_ < 3 ? all_zero(offsetof(FileHeader, length), sizeof header)
                                  : header.check == checksum(&header, offsetof(FileHeader, check));
  if (!whole) throw Error(path_ + ": offset 8: the header is damaged");
  if (header.ranks == 0 || header.ranks > std::uint32_t{kMostRanks})
    throw Error(path_ + ": offset 12: impossible number of ranks " + std::to_string(header.ranks));
  info_.ranks = static_cast<int>(header.ranks);
  length_ = header.length;
  sealed_ = length_ != 0;
  header_bytes_ = version_ == 1   ? kHeaderBytesOfVersion1
                  : version_ == 2 ? sizeof(OldBlockHeader)
                                  : sizeof(BlockHeader);
}

// The info block is the first. Without it nobody knows what the others hold.
void BlockIndex::read_info() {
  const auto refuse = [this](std::uint64_t offset, const std::string& what) {
    throw Error(path_ + ": offset " + std::to_string(offset) + ": " + what);
  };
  BlockHeader header;
  const std::uint64_t payload = kPage + sizeof header;
  const bool framed = frame_at(kPage, header) && header.rank == kNoRank;
  if (size_ < payload || (framed && header.size > size_ - payload))
    refuse(size_, "the file is cut off before its first event; nothing of the run is left");
  const Piece info{payload, framed ? header.used : 0};
  if (!framed || header.used > header.size || !intact(info))
    refuse(kPage, "what the trace says of itself is damaged; the rest cannot be read without it");
  const int ranks = info_.ranks;
  try {
    info_ = parse_info(std::string(reinterpret_cast<const char*>(data_ + payload), header.used));
  } catch (const std::exception&) {
    refuse(kPage, "what the trace says of itself makes no sense");
  }
  // Memory is taken for each rank: none for those that are not there.
  const std::uint64_t most = sealed_ ? length_ / sizeof(BlockHeader) : UINT64_MAX;
  if (info_.ranks != ranks || static_cast<std::uint64_t>(ranks) > most)
    refuse(12, "impossible number of ranks " + std::to_string(ranks));
  blocks_begin_ = payload + header.size;
}

bool BlockIndex::frame_at(std::uint64_t at, BlockHeader& header) const {
  if (at + sizeof header > size_) return false;
  std::memcpy(&header, data_ + at, sizeof header);
  return std::memcmp(header.magic, kBlockMagic, sizeof header.magic) == 0 &&
         header.frame == frame_of(header, at);
}

// Where a block may begin after a place where none does. Blocks of an unsealed
// file begin on pages.
std::uint64_t BlockIndex::next_frame(std::uint64_t at) const {
  if (!sealed_) return std::min((at / kPage + 1) * kPage, size_);
  BlockHeader header;
  const std::uint8_t* const end = data_ + size_;
  for (const std::uint8_t* next = data_ + at + 1; next < end; ++next) {
    next = std::search(next, end, std::begin(kBlockMagic), std::end(kBlockMagic));
    const auto found = static_cast<std::uint64_t>(next - data_);
    if (next < end && frame_at(found, header)) return found;
  }
  return size_;
}

void BlockIndex::scan_blocks() {
  const std::uint64_t end = sealed_ ? std::min(size_, length_) : size_;
  BlockHeader header;
  for (std::uint64_t at = blocks_begin_; at < end;) {
    if (frame_at(at, header)) {
      take_block(at, header);
      at += sizeof header + std::uint64_t{header.size};
      continue;
    }
    const std::uint64_t next = std::min(next_frame(at), end);
    // A rank that died between reserving a block and heading it leaves zeros.
    if (sealed_ || !all_zero(at, next)) {
      // Unsealed files have whole pages.
      cut_off_ = cut_off_ || (!sealed_ && next % kPage != 0);
      if (!holes_.empty() && holes_.back().offset + holes_.back().bytes == at)
        holes_.back().bytes += next - at;
      else
        holes_.push_back({at, next - at});
    }
    at = next;
  }
}

void BlockIndex::take_block(std::uint64_t at, const BlockHeader& header) {
  const std::uint64_t payload = at + sizeof header;
  const std::uint64_t room = size_ - payload;
  cut_off_ = cut_off_ || header.size > room;
  if (header.rank >= chains_.size()) {
    holes_.push_back({at, sizeof header + std::min<std::uint64_t>(header.size, room)});
    return;
  }
  Chain& chain = chains_[header.rank];
  const bool over = chain.state == BlockState::last || chain.state == BlockState::lost;
  if (header.number != chain.pieces.size() || (over && !chain.pieces.empty())) chain.broken = true;
  if (chain.broken) return;
  const std::uint64_t used = std::min<std::uint64_t>({header.used, header.size, room});
  // The checksum is of more than there is.
  const bool unchecked = header.size > room && header.used > room;
  chain.pieces.push_back({payload, used, unchecked});
  chain.open = header.open;
  chain.state = unchecked ? BlockState::full : header.state;
}

bool BlockIndex::check(const Piece& piece) const {
  if (version_ < 3) return true;
  BlockHeader header;
  std::memcpy(&header, data_ + header_of(piece), sizeof header);
  piece.checked =
      header.state == BlockState::open
          ? !sealed_
          : header.used == piece.used && header.check == check_of(header, data_ + piece.offset);
  return piece.checked;
}

void BlockIndex::tell_length() {
  if (sealed_ && size_ < length_)
    damage_.push_back({WorldRank(), size_,
                       "the file is cut off here, " + std::to_string(length_ - size_) +
                           " of its bytes are missing"});
  else if (!sealed_ && cut_off_)
    damage_.push_back({WorldRank(), size_, "the file is cut off here, inside a block"});
  else if (sealed_ && size_ > length_)
    damage_.push_back({WorldRank(), length_,
                       "the trace ends here, but the file goes on for " +
                           std::to_string(size_ - length_) + " bytes"});
}

void BlockIndex::tell_missing() {
  std::uint64_t end = blocks_begin_;  // of the known blocks of this rank and, if sealed, before
  for (std::size_t rank = 0; rank < chains_.size(); ++rank) {
    const Chain& chain = chains_[rank];
    const WorldRank who(static_cast<std::int32_t>(rank));
    if (!chain.pieces.empty()) end = chain.pieces.back().offset + chain.pieces.back().used;
    if (chain.state == BlockState::lost)
      damage_.push_back({who, header_of(chain.pieces.back()),
                         "what the rank did after this block found no room and was not written"});
    if (!chain.broken && chain.state != BlockState::full && (!sealed_ || !chain.pieces.empty()))
      continue;
    const auto hole = std::ranges::lower_bound(holes_, end, {}, &Hole::offset);
    if (hole != holes_.end()) {
      hole->told = true;
      damage_.push_back({who, hole->offset, "the header of a block of this rank is damaged"});
    } else if (sealed_ ? size_ < length_ : cut_off_ || !chain.broken) {
      damage_.push_back({who, size_, "what this rank did next is in the part that is cut off"});
    } else {
      damage_.push_back({who, end, "a block of this rank is missing, or there are two of it"});
    }
  }
  for (const Hole& hole : holes_)
    if (!hole.told)
      damage_.push_back(
          {WorldRank(), hole.offset, std::to_string(hole.bytes) + " bytes here are no block"});
}

}  // namespace foretrace::trace
