// The blocks of files of versions 1 and 2, which have no checksums.
#include <algorithm>
#include <cstring>
#include <exception>

#include "base/error.hpp"
#include "trace/block_index.hpp"
#include "trace/seal.hpp"

namespace foretrace::trace {

OldBlockHeader BlockIndex::old_header_at(std::uint64_t at) const {
  OldBlockHeader header{};
  std::memcpy(&header, data_ + at, header_bytes_);
  return header;
}

// Header and info block both hold the number of ranks. Memory is taken for
// each rank, so a header that the info block contradicts is refused; without
// a readable info block there cannot be more ranks than bytes.
void BlockIndex::check_old_ranks() const {
  auto most = static_cast<std::int64_t>(size_);
  const std::uint64_t payload = kPage + header_bytes_;
  if (payload <= size_) {
    const OldBlockHeader header = old_header_at(kPage);
    const bool is_info = std::memcmp(header.magic, kOldBlockMagic, sizeof header.magic) == 0 &&
                         header.rank == kNoRank && header.used <= size_ - payload;
    try {
      const auto* text = reinterpret_cast<const char*>(data_ + payload);
      if (is_info) most = parse_info(std::string(text, header.used)).ranks;
    } catch (const std::exception&) {
      // Reported with the blocks.
    }
  }
  if (info_.ranks > most)
    throw Error(path_ + ": offset 12: impossible number of ranks " + std::to_string(info_.ranks) +
                ", there can be " + std::to_string(most));
}

// False: nothing that follows can be read.
bool BlockIndex::take_old_block(std::uint64_t at, const OldBlockHeader& header) {
  const std::uint64_t payload = at + header_bytes_;
  const std::uint64_t room = size_ - payload;
  const std::uint64_t used = std::min<std::uint64_t>({header.used, header.size, room});
  const bool known = header.rank < chains_.size();
  const WorldRank rank = known ? WorldRank(static_cast<std::int32_t>(header.rank)) : WorldRank();
  if (header.used > header.size || header.used > room)
    damage_.push_back({rank, at, "the block is cut off"});
  if (known) {
    chains_[header.rank].pieces.push_back({payload, used});
    chains_[header.rank].open = header.open;
    // Sealing leaves no slack, and so blocks that begin anywhere.
    if ((payload + header.size) % kPage != 0) length_ = payload + header.size;
  } else if (header.rank != kNoRank) {
    damage_.push_back({WorldRank(), at, "a block of a rank that does not exist"});
    return false;
  } else if (used == sizeof kOldEnd && std::memcmp(data_ + payload, kOldEnd, sizeof kOldEnd) == 0) {
    sealed_ = true;
    return false;
  } else {
    const int ranks = info_.ranks;
    try {
      info_ = parse_info(std::string(reinterpret_cast<const char*>(data_ + payload), used));
    } catch (const std::exception&) {
      damage_.push_back({WorldRank(), at, "what the trace says of itself makes no sense"});
    }
    info_.ranks = ranks;
  }
  return header.size <= room;
}

void BlockIndex::scan_old_blocks() {
  check_old_ranks();
  chains_.resize(static_cast<std::size_t>(info_.ranks));
  std::uint64_t zeros = 0;  // where the first stand in the place of a block
  for (std::uint64_t at = kPage; at + header_bytes_ <= size_;) {
    const OldBlockHeader header = old_header_at(at);
    if (std::memcmp(header.magic, kOldBlockMagic, sizeof header.magic) == 0) {
      if (!take_old_block(at, header)) break;
      at += header_bytes_ + header.size;
      continue;
    }
    // A rank that died between reserving a block and heading it leaves zeros;
    // blocks of an unsealed file begin on pages.
    const std::uint64_t next = (at / kPage + 1) * kPage;
    if (!all_zero(at, std::min(next, size_))) {
      damage_.push_back({WorldRank(), at, "no block begins here"});
      return;
    }
    if (zeros == 0) zeros = at;
    at = next;
  }
  if (sealed_ && zeros != 0) damage_.push_back({WorldRank(), zeros, "no block begins here"});
  if (sealed_ || length_ == 0) return;
  sealed_ = true;
  damage_.push_back({WorldRank(), size_, "the file is cut off here, its end is missing"});
}

}  // namespace foretrace::trace
