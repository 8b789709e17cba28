// BlockIndex: maps a trace file and finds the blocks of each rank.
//
// Private to src/trace. Checks framing and checksums; what the blocks hold is
// decoded by TraceReader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/encoding.hpp"
#include "trace/event.hpp"
#include "trace/trace_reader.hpp"

namespace foretrace::trace {

class BlockIndex {
 public:
  struct Piece {
    std::uint64_t offset;          // of the payload, in the file
    std::uint64_t used;            // bytes
    mutable bool checked = false;  // its checksum was found to be right
  };

  // Throws Error when the file cannot be read or its header is wrong.
  explicit BlockIndex(const std::string& path);
  ~BlockIndex();
  BlockIndex(const BlockIndex&) = delete;
  BlockIndex& operator=(const BlockIndex&) = delete;

  const std::string& path() const { return path_; }
  const TraceInfo& info() const { return info_; }
  std::uint32_t version() const { return version_; }
  bool sealed() const { return sealed_; }
  const std::uint8_t* data() const { return data_; }
  // Up to the first that is missing.
  const std::vector<Piece>& pieces(WorldRank rank) const { return chain(rank).pieces; }
  // Of the rank's last block: BlockHeader::open; none where the block is damaged.
  OpenCall open(WorldRank rank) const;
  // Found in the framing.
  const std::vector<Damage>& damage() const { return damage_; }
  // Whether the piece is as it was written, as far as its checksum tells: one
  // that was open when its process died has none.
  bool intact(const Piece& piece) const { return piece.checked || check(piece); }
  // Where the header of the piece's block stands in the file.
  std::uint64_t header_of(const Piece& piece) const { return piece.offset - header_bytes_; }
  // Whoever read the piece goes on: it need not stay in memory, and comes back if
  // it is read again. So a trace larger than the memory is read in little of it.
  void leave(const Piece& piece) const;

 private:
  // The blocks of one rank.
  struct Chain {
    std::vector<Piece> pieces;
    OpenCall open;
    BlockState state = BlockState::open;  // of the last one
    bool broken = false;                  // the one after `pieces` is not the next
  };
  // A part of the file where no block can be recognised.
  struct Hole {
    std::uint64_t offset;
    std::uint64_t bytes;
    bool told = false;  // a rank lacks a block because of it
  };

  const Chain& chain(WorldRank rank) const { return chains_[static_cast<std::size_t>(rank.value)]; }
  void scan();
  void read_header();
  void read_info();

  void scan_blocks();
  bool frame_at(std::uint64_t at, BlockHeader& header) const;
  std::uint64_t next_frame(std::uint64_t at) const;
  void take_block(std::uint64_t at, const BlockHeader& header);
  void tell_length();
  void tell_missing();
  bool check(const Piece& piece) const;
  bool all_zero(std::uint64_t from, std::uint64_t to) const;

  // Versions 1 and 2.
  void check_old_ranks() const;
  OldBlockHeader old_header_at(std::uint64_t at) const;
  void scan_old_blocks();
  bool take_old_block(std::uint64_t at, const OldBlockHeader& header);

  std::string path_;
  const std::uint8_t* data_ = nullptr;
  std::uint64_t size_ = 0;
  // Of a sealed file, as its header tells; 0: not sealed. Versions 1 and 2: not 0
  // if the blocks show that the file was sealed.
  std::uint64_t length_ = 0;
  std::uint64_t blocks_begin_ = 0;
  TraceInfo info_;
  std::uint32_t version_ = 0;
  bool sealed_ = false;
  bool cut_off_ = false;
  std::size_t header_bytes_ = 0;
  std::vector<Chain> chains_;
  std::vector<Hole> holes_;
  std::vector<Damage> damage_;
};

}  // namespace foretrace::trace
