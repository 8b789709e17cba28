// The file of a profile: written as a whole, and as ranks leave it that die.
#include "trace/counters_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "scratch.hpp"

namespace foretrace::trace {
namespace {

class CountersFile : public ScratchFolder {
 protected:
  static CountersInfo info(int ranks) {
    CountersInfo info;
    info.ranks = ranks;
    info.program = "./app 1 2";
    info.mpi = "openmpi";
    info.functions = {"MPI_Send", "MPI_Recv"};
    return info;
  }
  static std::string bytes_of(const std::string& path) { return read_if_possible(path); }
};

SiteRecord site(std::uint16_t function, std::uint64_t address, std::uint64_t calls) {
  SiteRecord record;
  record.used = 1;
  record.function = function;
  record.depth = 1;
  record.frames[0] = address;
  record.calls = calls;
  return record;
}

RankCounters counters(std::uint64_t calls) {
  RankCounters rank;
  rank.rank.used = 1;
  rank.rank.state = RankState::finalized;
  rank.sites.push_back(site(1, 0x1234, calls));
  rank.comms.emplace_back();
  rank.comms.back().used = 1;
  rank.comms.back().size = 2;
  SizeRecord size;
  size.used = 1;
  size.direction = Direction::received;
  size.bin = 4;
  size.function = 1;
  size.comm = 1;
  size.calls = calls;
  rank.sizes.push_back(size);
  PeerRecord peer;
  peer.used = 1;
  peer.rank = 1;
  peer.messages = 7;
  rank.peers.push_back(peer);
  WaitRecord wait;
  wait.used = 1;
  wait.rank = kSeveralRanks;
  wait.site = key_of(rank.sites[0]);
  wait.ticks = 11;
  rank.waits.push_back(wait);
  ObjectRecord object;
  object.used = 1;
  object.base = 0x1000;
  object.path[0] = 'a';
  rank.objects.push_back(object);
  return rank;
}

CallCounters two_ranks() {
  CallCounters all;
  all.ranks = {counters(3), counters(5)};
  return all;
}

TEST_F(CountersFile, ReadsWhatWasWritten) {
  CallCounters written = two_ranks();
  written.info = info(2);
  written.info.complete = true;
  write_counters(written, path("p.fprof"));
  const CallCounters read = read_counters(path("p.fprof"));
  EXPECT_EQ(read.info.ranks, 2);
  EXPECT_TRUE(read.info.complete);
  EXPECT_EQ(read.info.program, "./app 1 2");
  EXPECT_EQ(read.info.mpi, "openmpi");
  EXPECT_EQ(read.info.functions, (std::vector<std::string>{"MPI_Send", "MPI_Recv"}));
  ASSERT_EQ(read.ranks.size(), 2u);
  ASSERT_EQ(read.ranks[1].sites.size(), 1u);
  EXPECT_EQ(read.ranks[1].sites[0].calls, 5u);
  EXPECT_EQ(read.ranks[1].sites[0].frames[0], 0x1234u);
  EXPECT_EQ(read.ranks[0].sizes.at(0).calls, 3u);
  EXPECT_EQ(read.ranks[0].comms.at(0).size, 2u);
  EXPECT_EQ(read.ranks[0].peers.at(0).messages, 7u);
  EXPECT_EQ(read.ranks[0].waits.at(0).ticks, 11u);
  EXPECT_EQ(read.ranks[0].waits.at(0).site, key_of(read.ranks[0].sites[0]));
  EXPECT_EQ(read.ranks[0].objects.at(0).base, 0x1000u);
  // Written again it is the same file.
  write_counters(read, path("again.fprof"));
  EXPECT_EQ(bytes_of(path("again.fprof")), bytes_of(path("p.fprof")));
}

// Rank 1 never came to write anything, rank 0 has let a table grow.
TEST_F(CountersFile, HoldsWhatDeadRanksCounted) {
  create_counters_file(path("p.part"), info(2));
  CountersWriter writer(path("p.part"), 0);
  auto* rank = static_cast<RankRecord*>(writer.append(ChunkKind::rank, 1, sizeof(RankRecord)));
  ASSERT_NE(rank, nullptr);
  rank->used = 1;
  rank->state = RankState::running;
  CountersWriter::publish(rank, nullptr);
  auto* sites = static_cast<SiteRecord*>(writer.append(ChunkKind::sites, 4, sizeof(SiteRecord)));
  ASSERT_NE(sites, nullptr);
  EXPECT_TRUE(std::all_of(sites, sites + 4, [](const SiteRecord& s) { return s.used == 0; }));
  CountersWriter::publish(sites, nullptr);
  sites[2] = site(0, 0x10, 1);
  auto* bigger = static_cast<SiteRecord*>(writer.append(ChunkKind::sites, 8, sizeof(SiteRecord)));
  ASSERT_NE(bigger, nullptr);
  bigger[5] = sites[2];
  CountersWriter::publish(bigger, sites);
  bigger[5].calls = 9;
  rank->open_site = 6;

  const CallCounters read = read_counters(path("p.part"));
  EXPECT_FALSE(read.info.complete);
  EXPECT_EQ(read.ranks.at(1).rank.state, RankState::none);
  ASSERT_EQ(read.ranks[0].sites.size(), 8u);
  EXPECT_EQ(read.ranks[0].sites[5].calls, 9u);
  // Without its gaps the open call is still the same.
  write_counters(read, path("p.fprof"));
  const CallCounters sealed = read_counters(path("p.fprof"));
  ASSERT_EQ(sealed.ranks.at(0).sites.size(), 1u);
  EXPECT_EQ(sealed.ranks[0].rank.open_site, 1u);
}

TEST_F(CountersFile, DiesBetweenReservingAndFilling) {
  create_counters_file(path("p.part"), info(1));
  std::ofstream(path("p.part"), std::ios::binary | std::ios::app) << std::string(3 * 4096, '\0');
  CountersWriter writer(path("p.part"), 0);
  auto* rank = static_cast<RankRecord*>(writer.append(ChunkKind::rank, 1, sizeof(RankRecord)));
  rank->used = 1;
  rank->state = RankState::running;
  CountersWriter::publish(rank, nullptr);
  EXPECT_EQ(read_counters(path("p.part")).ranks.at(0).rank.state, RankState::running);
}

TEST_F(CountersFile, RefusesDamage) {
  CallCounters written = two_ranks();
  written.info = info(2);
  write_counters(written, path("p.fprof"));
  const std::string good = bytes_of(path("p.fprof"));
  const auto refusal = [](const std::string& bytes) -> std::string {
    try {
      parse_counters(bytes, "x");
    } catch (const Error& error) {
      const std::string text = error.what();
      return text.substr(0, text.find("; nothing is shown of a damaged profile"));
    }
    return "was accepted";
  };
  EXPECT_EQ(refusal(""), "x: is no profile of Foretrace");
  EXPECT_EQ(refusal("hello"), "x: is no profile of Foretrace");
  EXPECT_EQ(refusal(good.substr(0, good.size() - 8)),
            "x: byte " + std::to_string(good.size() - 8) + ": the file is cut off here");
  std::string bytes = good;
  bytes[8] = 0;
  EXPECT_EQ(refusal(bytes), "x: byte 8: 0 ranks make no sense");
  bytes[8] = 3;
  EXPECT_EQ(refusal(bytes), "x: byte 0: the head is not as it was written: its checksum differs");
  bytes = good;
  bytes[4096] = '?';
  EXPECT_EQ(refusal(bytes), "x: byte 4096: no chunk begins here");
  written.ranks[1].sites[0].function = 2;
  write_counters(written, path("q.fprof"));
  EXPECT_EQ(refusal(bytes_of(path("q.fprof"))),
            "x: rank 1: a call site of a function that is not known");
  EXPECT_THROW(read_counters(path("none.fprof")), Error);
}

// Each bit of a profile: refused, or it means nothing.
TEST_F(CountersFile, NoFlippedBitPasses) {
  CallCounters written = two_ranks();
  written.info = info(2);
  write_counters(written, path("p.fprof"));
  std::string bytes = bytes_of(path("p.fprof"));
  const std::size_t texts_end = bytes.rfind("MPI_Recv", 4096) + 9;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const bool padding = at >= texts_end && at < 4096;
    if (padding && at % 61 != 0) continue;
    for (int bit = 0; bit < 8; ++bit) {
      bytes[at] ^= static_cast<char>(1 << bit);
      bool accepted = true;
      try {
        write_counters(parse_counters(bytes, "x"), path("again.fprof"));
      } catch (const Error&) {
        accepted = false;
      }
      bytes[at] ^= static_cast<char>(1 << bit);
      if (accepted) {
        ASSERT_EQ(bytes_of(path("again.fprof")), bytes) << at << " bit " << bit;
      }
    }
  }
}

TEST_F(CountersFile, CutOffAnywhereIsRefused) {
  CallCounters written = two_ranks();
  written.info = info(2);
  write_counters(written, path("p.fprof"));
  const std::string bytes = bytes_of(path("p.fprof"));
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_THROW(parse_counters(bytes.substr(0, length), "x"), Error) << length;
}

// Files of version 1 have a shorter head and no checksums.
TEST_F(CountersFile, ReadsVersion1) {
  CallCounters written = two_ranks();
  written.info = info(2);
  write_counters(written, path("p.fprof"));
  const std::string bytes = bytes_of(path("p.fprof"));
  std::string old = "FTPROF01" + bytes.substr(8, 16) + bytes.substr(40, 4096 - 40);
  old.resize(4096, '\0');
  old += bytes.substr(4096);
  const CallCounters read = parse_counters(old, "x");
  EXPECT_EQ(read.info.functions, written.info.functions);
  write_counters(read, path("again.fprof"));
  EXPECT_EQ(bytes_of(path("again.fprof")), bytes);
}

// What a rank could not write is told by the file, also if the rank dies.
TEST_F(CountersFile, TellsWhatFoundNoRoom) {
  create_counters_file(path("p.part"), info(1));
  CountersWriter writer(path("p.part"), 0);
  auto* rank = static_cast<RankRecord*>(writer.append(ChunkKind::rank, 1, sizeof(RankRecord)));
  ASSERT_NE(rank, nullptr);
  rank->used = 1;
  rank->state = RankState::running;
  CountersWriter::publish(rank, nullptr);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit none{0, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &none);
  EXPECT_EQ(writer.append(ChunkKind::sites, 4, sizeof(SiteRecord)), nullptr);
  ::setrlimit(RLIMIT_FSIZE, &before);
  const CallCounters read = read_counters(path("p.part"));
  EXPECT_EQ(read.ranks.at(0).error, EFBIG);
  write_counters(read, path("p.fprof"));
  EXPECT_EQ(read_counters(path("p.fprof")).ranks.at(0).error, EFBIG);
}

TEST_F(CountersFile, LeavesAnOldFileWhereItCannotWrite) {
  EXPECT_THROW(write_counters(two_ranks(), path("no/such/folder.fprof")), Error);
  EXPECT_THROW(create_counters_file(path("no/such/folder.fprof"), info(1)), Error);
  EXPECT_THROW(CountersWriter(path("none"), 0), Error);
}

}  // namespace
}  // namespace foretrace::trace
