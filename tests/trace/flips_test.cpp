// One wrong bit anywhere: what is read is either as it was, or the reader says
// which block is wrong, and the other ranks are whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "samples.hpp"
#include "scratch.hpp"
#include "trace/damage.hpp"
#include "trace/encoding.hpp"

namespace foretrace::trace {
namespace {

constexpr int kFlipsRanks = 3;
constexpr std::size_t kFlipsInfoAt = 4096;
constexpr std::size_t kFlipsBlocksAt = 8192;

// Everything that a file says.
struct Contents {
  std::string refused;
  TraceInfo info;
  bool sealed = false;
  std::vector<std::vector<Event>> ranks;
  std::vector<std::string> open;
  std::vector<Damage> damage;

  bool tells_of(int rank) const {
    return std::ranges::any_of(damage, [rank](const Damage& d) { return d.rank.value == rank; });
  }
};

bool same_text(const TraceInfo& a, const TraceInfo& b) {
  return a.ranks == b.ranks && a.clock == b.clock && a.program == b.program &&
         a.origin == b.origin && a.machine == b.machine && a.options == b.options &&
         a.mpi == b.mpi && a.clocks == b.clocks;
}

bool same(const Contents& a, const Contents& b) {
  return same_text(a.info, b.info) && a.sealed == b.sealed && a.ranks == b.ranks &&
         a.open == b.open;
}

// A file of which one bit after the other is turned.
class Flipped {
 public:
  explicit Flipped(std::string bytes) : bytes_(std::move(bytes)) { file_.write(bytes_); }

  Contents with_flip(std::size_t byte, int bit) {
    file_.put(byte, static_cast<char>(bytes_[byte] ^ (1 << bit)));
    Contents contents = read();
    file_.put(byte, bytes_[byte]);
    return contents;
  }

  Contents read() const {
    Contents contents;
    try {
      TraceReader reader(file_.path());
      contents.info = reader.info();
      contents.sealed = reader.sealed();
      for (int rank = 0; rank < reader.ranks(); ++rank) {
        contents.ranks.push_back(read_all(reader, rank));
        const std::string* open = reader.open_call(WorldRank(rank));
        contents.open.push_back(open ? *open : "");
      }
      contents.damage = reader.damage();
    } catch (const Error& error) {
      contents.refused = error.what();
    }
    return contents;
  }

 private:
  MemoryFile file_;
  std::string bytes_;
};

class Flips : public ScratchFolder {
 protected:
  // Rank 0 has several blocks, rank 1 a short stream and an open call, rank 2 nothing.
  void write_file(const std::string& name, bool closed) {
    create_trace_file(path(name), sample_info(kFlipsRanks, Clock::virtual_));
    for (int rank = 0; rank < kFlipsRanks; ++rank) {
      writers_[rank] = TraceWriter(path(name), WorldRank(rank), Clock::virtual_);
      if (rank == 2) continue;
      define(writers_[rank], kFlipsRanks);
      for (const Event& event :
           many_events(kFlipsRanks, rank, rank == 0 ? 250 : 20, Clock::virtual_))
        writers_[rank].write(event);
    }
    writers_[1].enter(0);
    if (closed)
      for (TraceWriter& writer : writers_) writer.close();
  }

  std::string sealed_file() {
    write_file("a.part", true);
    seal_trace_file(path("a.part"), path("a.ftr"));
    return read_bytes(path("a.ftr"));
  }

  TraceWriter writers_[kFlipsRanks];
};

// The headers of the blocks after the info block, by where they stand.
std::vector<std::pair<std::size_t, BlockHeader>> blocks_of(const std::string& bytes) {
  std::vector<std::pair<std::size_t, BlockHeader>> blocks;
  BlockHeader header;
  for (std::size_t at = kFlipsBlocksAt; at < bytes.size(); at += sizeof header + header.size) {
    std::memcpy(&header, bytes.data() + at, sizeof header);
    blocks.emplace_back(at, header);
  }
  return blocks;
}

TEST_F(Flips, OfASealedFileAreFound) {
  const std::string bytes = sealed_file();
  Flipped file(bytes);
  const Contents whole = file.read();
  ASSERT_TRUE(whole.damage.empty());
  ASSERT_EQ(whole.open[1], "MPI_Something");
  const auto blocks = blocks_of(bytes);
  ASSERT_GE(blocks.size(), 4u);
  for (const auto& [at, header] : blocks)
    for (std::size_t byte = at; byte < at + sizeof header + header.size; ++byte) {
      const auto rank = static_cast<int>(header.rank);
      const Contents found = file.with_flip(byte, static_cast<int>(byte % 8));
      ASSERT_EQ(found.refused, "") << byte;
      ASSERT_TRUE(found.tells_of(rank)) << byte;
      ASSERT_EQ(found.damage.size(), 1u) << byte;
      ASSERT_EQ(found.damage[0].offset, at) << byte;
      for (int other = 0; other < kFlipsRanks; ++other) {
        const auto& events = found.ranks[static_cast<std::size_t>(other)];
        const auto& expected = whole.ranks[static_cast<std::size_t>(other)];
        if (other != rank)
          ASSERT_EQ(events, expected) << byte;
        else
          ASSERT_TRUE(std::equal(events.begin(), events.end(), expected.begin())) << byte;
      }
    }
}

// Every bit, headers included; some of those that fill up the first two pages and mean
// nothing.
TEST_F(Flips, OfASealedFileAreFoundOrChangeNothing) {
  const std::string bytes = sealed_file();
  Flipped file(bytes);
  const Contents whole = file.read();
  BlockHeader info;
  std::memcpy(&info, bytes.data() + kFlipsInfoAt, sizeof info);
  for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
    const bool padding = (byte >= 28 && byte < kFlipsInfoAt) ||
                         (byte >= kFlipsInfoAt + sizeof info + info.used && byte < kFlipsBlocksAt);
    if (padding && byte % 61 != 0) continue;
    for (int bit = 0; bit < 8; ++bit) {
      const Contents found = file.with_flip(byte, bit);
      if (padding)
        ASSERT_TRUE(found.damage.empty() && same(found, whole)) << byte << " bit " << bit;
      else
        ASSERT_TRUE(!found.refused.empty() || !found.damage.empty()) << byte << " bit " << bit;
    }
  }
}

// Of what a killed run leaves, the blocks that are full or closed.
TEST_F(Flips, OfAnUnsealedFileAreFoundOutsideOfOpenBlocks) {
  write_file("a.part", false);
  const std::string bytes = read_bytes(path("a.part"));
  Flipped file(bytes);
  const Contents whole = file.read();
  ASSERT_FALSE(whole.sealed);
  ASSERT_TRUE(whole.damage.empty());
  int full = 0;
  for (const auto& [at, header] : blocks_of(bytes)) {
    full += header.state == BlockState::full;
    for (std::size_t byte = at; byte < at + sizeof header + header.used; ++byte) {
      const bool framing = byte < at + offsetof(BlockHeader, used);
      if (header.state == BlockState::open && !framing) continue;
      const int bit = static_cast<int>(byte % 8);
      const Contents found = file.with_flip(byte, bit);
      ASSERT_TRUE(!found.damage.empty() || same(found, whole)) << byte << " bit " << bit;
    }
  }
  EXPECT_GE(full, 1);
}

TEST_F(Flips, ZerosInThePlaceOfABlock) {
  const std::string bytes = sealed_file();
  for (const auto& [at, header] : blocks_of(bytes)) {
    std::string wiped = bytes;
    std::fill_n(wiped.begin() + static_cast<std::ptrdiff_t>(at), sizeof header + header.size, '\0');
    const Contents found = Flipped(wiped).read();
    EXPECT_TRUE(found.tells_of(static_cast<int>(header.rank))) << at;
    EXPECT_EQ(found.damage.size(), 1u) << at;
  }
}

// A block that is right, but not where it belongs; as when a disk's sectors are mixed up.
TEST_F(Flips, ABlockOfAnotherPlace) {
  const std::string bytes = sealed_file();
  const auto blocks = blocks_of(bytes);
  const std::size_t first = blocks[0].first;
  const std::size_t length = blocks[1].first - first;
  const std::string moved =
      bytes.substr(0, first) + bytes.substr(first + length) + bytes.substr(first, length);
  const Contents found = Flipped(moved).read();
  EXPECT_TRUE(found.tells_of(0));
  EXPECT_TRUE(found.ranks[0].empty());
}

TEST_F(Flips, BytesAfterTheEnd) {
  const Contents found = Flipped(sealed_file() + "more").read();
  ASSERT_EQ(found.damage.size(), 1u);
  EXPECT_NE(found.damage[0].what.find("goes on for 4 bytes"), std::string::npos);
}

// What cannot be trusted is neither sealed nor computed with.
TEST_F(Flips, DamageIsNotSealedNorComputedWith) {
  write_file("a.part", true);
  std::string bytes = read_bytes(path("a.part"));
  bytes[kFlipsBlocksAt + 100] ^= 1;
  write_bytes(path("a.part"), bytes);
  EXPECT_THROW(seal_trace_file(path("a.part"), path("a.ftr")), Error);
  EXPECT_EQ(read_bytes(path("a.part")), bytes);
  EXPECT_FALSE(std::filesystem::exists(path("a.ftr")));
  TraceReader reader(path("a.part"));
  look_through(reader);
  try {
    refuse_damaged(reader);
    ADD_FAILURE() << "computed with damage";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("rank 0, file offset 8192: the block is not as it was written"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("left are 20 events of 1 of 3 ranks, until "), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace foretrace::trace
