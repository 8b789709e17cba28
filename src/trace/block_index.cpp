#include "trace/block_index.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>

#include "base/error.hpp"
#include "trace/seal.hpp"

namespace foretrace::trace {
namespace {

std::uint32_t read_u32(const std::uint8_t* at) {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

BlockIndex::BlockIndex(const std::string& path) : path_(path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
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

BlockHeader BlockIndex::header_at(std::uint64_t at) const {
  BlockHeader header{};
  std::memcpy(&header, data_ + at, header_bytes_);
  return header;
}

// Header and info block both hold the number of ranks. Memory is taken for
// each rank, so a header that the info block contradicts is refused; without
// a readable info block there cannot be more ranks than bytes.
void BlockIndex::check_ranks() const {
  auto most = static_cast<std::int64_t>(size_);
  const std::uint64_t payload = kPage + header_bytes_;
  if (payload <= size_) {
    const BlockHeader header = header_at(kPage);
    const bool is_info = std::memcmp(header.magic, kBlockMagic, sizeof header.magic) == 0 &&
                         header.rank == kNoRank && header.used <= size_ - payload;
    try {
      const auto* text = reinterpret_cast<const char*>(data_ + payload);
      if (is_info) most = parse_info(std::string(text, header.used)).ranks;
    } catch (const std::exception&) {
      // scan() reports it.
    }
  }
  if (info_.ranks > most)
    throw Error(path_ + ": offset 12: impossible number of ranks " + std::to_string(info_.ranks) +
                ", there can be " + std::to_string(most));
}

void BlockIndex::scan() {
  if (size_ < sizeof kFileMagic || std::memcmp(data_, kFileMagic, sizeof kFileMagic) != 0)
    throw Error(path_ + ": offset 0: not a Foretrace trace");
  if (size_ < kPage)
    throw Error(path_ + ": offset " + std::to_string(size_) + ": cut off in the header");
  version_ = read_u32(data_ + 8);
  if (version_ < kOldestVersion || version_ > kVersion)
    throw Error(path_ + ": offset 8: trace format version " + std::to_string(version_) +
                ", this tool reads versions " + std::to_string(kOldestVersion) + " to " +
                std::to_string(kVersion));
  header_bytes_ = version_ == 1 ? kHeaderBytesOfVersion1 : kHeaderBytes;
  const std::uint32_t ranks = read_u32(data_ + 12);
  if (ranks == 0 || ranks > std::uint32_t{kMostRanks})
    throw Error(path_ + ": offset 12: impossible number of ranks " + std::to_string(ranks));
  info_.ranks = static_cast<int>(ranks);
  check_ranks();
  pieces_.resize(ranks);
  open_.resize(ranks);

  std::uint64_t at = kPage;
  while (at + header_bytes_ <= size_) {
    const BlockHeader header = header_at(at);
    const bool good_magic = std::memcmp(header.magic, kBlockMagic, sizeof header.magic) == 0;
    if (!good_magic) {
      // A rank that died between reserving a block and heading it leaves
      // zeros; blocks of an unsealed file begin on pages.
      const std::uint64_t next = (at / kPage + 1) * kPage;
      const bool zeros = std::all_of(data_ + at, data_ + std::min(next, size_),
                                     [](std::uint8_t byte) { return byte == 0; });
      if (!zeros) {
        damage_.push_back({WorldRank(), at, "no block begins here"});
        return;
      }
      at = next;
      continue;
    }
    const std::uint64_t payload = at + header_bytes_;
    const std::uint64_t room = size_ - payload;
    const std::uint64_t used = std::min<std::uint64_t>({header.used, header.size, room});
    if (header.used > header.size || header.used > room)
      damage_.push_back(
          {header.rank < ranks ? WorldRank(static_cast<int>(header.rank)) : WorldRank(), at,
           "the block is cut off"});
    if (header.rank < ranks) {
      pieces_[header.rank].push_back({payload, used});
      open_[header.rank] = header.open;
    } else if (header.rank == kNoRank) {
      if (used == sizeof kEndPayload &&
          std::memcmp(data_ + payload, kEndPayload, sizeof kEndPayload) == 0) {
        sealed_ = true;
        return;
      }
      const std::string text(reinterpret_cast<const char*>(data_ + payload), used);
      try {
        info_ = parse_info(text);
      } catch (const std::exception&) {
        damage_.push_back({WorldRank(), at, "the info block makes no sense"});
      }
      info_.ranks = static_cast<int>(ranks);
    } else {
      damage_.push_back({WorldRank(), at, "a block of a rank that does not exist"});
      return;
    }
    if (header.size > room) return;
    at = payload + header.size;
  }
}

}  // namespace foretrace::trace
