// Sealing: the same events give the same bytes, in whatever order the ranks
// wrote; nothing is lost on the way.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "base/error.hpp"
#include "samples.hpp"
#include "scratch.hpp"

namespace foretrace::trace {
namespace {

constexpr int kSealingRanks = 3;
constexpr std::size_t kSealingEvents = 3000;

class Sealing : public ScratchFolder {
 protected:
  // Writes the ranks in `order`, `chunk` events in turn, and seals.
  std::string sealed_bytes(std::vector<int> order, std::size_t chunk) {
    create_trace_file(path("a.part"), sample_info(kSealingRanks, Clock::wall));
    std::vector<TraceWriter> writers(kSealingRanks);
    for (const int rank : order) {
      const auto r = static_cast<std::size_t>(rank);
      writers[r] = TraceWriter(path("a.part"), WorldRank(rank), Clock::wall);
      define(writers[r], kSealingRanks);
    }
    for (std::size_t from = 0; from < kSealingEvents; from += chunk)
      for (const int rank : order) {
        const auto events = many_events(kSealingRanks, rank, kSealingEvents, Clock::wall);
        for (std::size_t i = from; i < std::min(from + chunk, kSealingEvents); ++i)
          writers[static_cast<std::size_t>(rank)].write(events[i]);
      }
    writers.clear();
    seal_trace_file(path("a.part"), path("a.ftr"));
    return read_bytes(path("a.ftr"));
  }
};

TEST_F(Sealing, SameEventsSameBytes) {
  const std::string expected = sealed_bytes({0, 1, 2}, kSealingEvents);
  EXPECT_EQ(sealed_bytes({2, 1, 0}, kSealingEvents), expected);
  EXPECT_EQ(sealed_bytes({1, 2, 0}, 100), expected);
  EXPECT_EQ(sealed_bytes({0, 2, 1}, 777), expected);
}

TEST_F(Sealing, KeepsAllEvents) {
  sealed_bytes({1, 0, 2}, 50);
  TraceReader reader(path("a.ftr"));
  EXPECT_TRUE(reader.sealed());
  EXPECT_EQ(reader.info().program, sample_info(kSealingRanks, Clock::wall).program);
  for (int rank = 0; rank < kSealingRanks; ++rank)
    EXPECT_EQ(read_all(reader, rank),
              many_events(kSealingRanks, rank, kSealingEvents, Clock::wall));
  EXPECT_TRUE(reader.damage().empty());
  EXPECT_FALSE(std::filesystem::exists(path("a.part")));
  EXPECT_FALSE(std::filesystem::exists(path("a.ftr.new")));
}

// After header and info, blocks in rank order without slack, up to the length that
// the header tells.
TEST_F(Sealing, Layout) {
  const std::string bytes = sealed_bytes({2, 0, 1}, 10);
  const auto u32 = [&](std::size_t at) {
    std::uint32_t value;
    std::copy_n(bytes.data() + at, sizeof value, reinterpret_cast<char*>(&value));
    return value;
  };
  std::uint32_t previous = 0;
  std::size_t at = 8192;
  EXPECT_EQ(u32(16), bytes.size());
  std::uint32_t number = 0;
  while (at < bytes.size()) {
    ASSERT_EQ(bytes.substr(at, 4), "FTB3");
    EXPECT_GE(u32(at + 4), previous);
    if (u32(at + 4) != previous) number = 0;
    previous = u32(at + 4);
    EXPECT_EQ(u32(at + 8), number++);
    EXPECT_EQ(u32(at + 12), u32(at + 20)) << "slack at " << at;
    at += 40 + u32(at + 12);
  }
  EXPECT_EQ(at, bytes.size());
  EXPECT_EQ(previous, 2u);
}

TEST_F(Sealing, ASealedFileStaysAsItIs) {
  const std::string expected = sealed_bytes({0, 1, 2}, 10);
  seal_trace_file(path("a.ftr"), path("a.ftr"));
  EXPECT_EQ(read_bytes(path("a.ftr")), expected);
}

TEST_F(Sealing, EmptyTrace) {
  create_trace_file(path("a.part"), sample_info(5, Clock::cpu));
  seal_trace_file(path("a.part"), path("a.ftr"));
  TraceReader reader(path("a.ftr"));
  EXPECT_TRUE(reader.sealed());
  EXPECT_EQ(reader.ranks(), 5);
  for (int rank = 0; rank < 5; ++rank) EXPECT_TRUE(read_all(reader, rank).empty());
}

TEST_F(Sealing, FailureLeavesTheSource) {
  create_trace_file(path("a.part"), sample_info(kSealingRanks, Clock::cpu));
  const std::string before = read_bytes(path("a.part"));
  EXPECT_THROW(seal_trace_file(path("a.part"), path("none/a.ftr")), Error);
  // The target is a folder that cannot be replaced.
  std::filesystem::create_directories(path("a.ftr/inside"));
  try {
    seal_trace_file(path("a.part"), path("a.ftr"));
    ADD_FAILURE() << "sealed onto a folder";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path("a.ftr") + ": cannot write: "), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(read_bytes(path("a.part")), before);
  EXPECT_FALSE(std::filesystem::exists(path("a.ftr.new")));
}

TEST_F(Sealing, UnsealedIsReported) {
  create_trace_file(path("a.ftr"), sample_info(kSealingRanks, Clock::cpu));
  EXPECT_FALSE(TraceReader(path("a.ftr")).sealed());
  EXPECT_FALSE(read_trace(path("a.ftr")).sealed);
}

}  // namespace
}  // namespace foretrace::trace
