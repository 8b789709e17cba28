// BlockIndex: maps a trace file and finds the blocks of each rank.
//
// Private to src/trace. Checks the framing only; what the blocks hold is
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
    std::uint64_t offset;  // of the payload, in the file
    std::uint64_t used;    // bytes
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
  const std::vector<Piece>& pieces(WorldRank rank) const {
    return pieces_[static_cast<std::size_t>(rank.value)];
  }
  // Of the rank's last block: BlockHeader::open.
  OpenCall open(WorldRank rank) const { return open_[static_cast<std::size_t>(rank.value)]; }
  const std::vector<Damage>& damage() const { return damage_; }
  // Whoever read the piece goes on: it need not stay in memory, and comes back if
  // it is read again. So a trace larger than the memory is read in little of it.
  void leave(const Piece& piece) const;

 private:
  void scan();
  void check_ranks() const;
  BlockHeader header_at(std::uint64_t at) const;

  std::string path_;
  const std::uint8_t* data_ = nullptr;
  std::uint64_t size_ = 0;
  TraceInfo info_;
  std::uint32_t version_ = 0;
  bool sealed_ = false;
  std::size_t header_bytes_ = 0;
  std::vector<std::vector<Piece>> pieces_;
  std::vector<OpenCall> open_;
  std::vector<Damage> damage_;
};

}  // namespace foretrace::trace
