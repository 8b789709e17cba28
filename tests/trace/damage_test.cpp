// Damaged files: a result or an Error, never a crash, an endless loop or more
// memory than the file justifies.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <random>

#include "base/error.hpp"
#include "samples.hpp"
#include "scratch.hpp"
#include "trace/checksum.hpp"

namespace foretrace::trace {
namespace {

constexpr int kRanks = 3;
constexpr std::size_t kInfoAt = 4096;
constexpr std::size_t kBlocksAt = 8192;

class DamagedTrace : public ScratchFolder {
 protected:
  // A sealed file with all kinds of records, about 10 KiB, most of it padding.
  std::string sealed_file() {
    create_trace_file(path("a.part"), sample_info(kRanks, Clock::virtual_));
    for (int rank = 0; rank < kRanks; ++rank) {
      TraceWriter writer(path("a.part"), WorldRank(rank), Clock::virtual_);
      define(writer, kRanks);
      for (Event event : sample_events(kRanks, Clock::virtual_)) {
        if (event.completions.size() > 10) event.completions.resize(10);
        writer.write(event);
        if (rank == 2) break;  // a short stream as well
      }
    }
    seal_trace_file(path("a.part"), path("a.ftr"));
    return read_bytes(path("a.ftr"));
  }

  std::string unsealed_file() {
    create_trace_file(path("a.part"), sample_info(kRanks, Clock::cpu));
    for (int rank = 0; rank < kRanks; ++rank) {
      TraceWriter writer(path("a.part"), WorldRank(rank), Clock::cpu);
      define(writer, kRanks);
      for (const Event& event : many_events(kRanks, rank, 20, Clock::cpu)) writer.write(event);
    }
    return read_bytes(path("a.part"));
  }

  // Events by rank, or nothing if the file was refused.
  std::vector<std::vector<Event>> read(const std::string& bytes) {
    file_.write(bytes);
    std::vector<std::vector<Event>> ranks;
    try {
      TraceReader reader(file_.path());
      sealed_ = reader.sealed();
      // Streams of ranks that the file does not name are empty; do not walk
      // millions of them.
      for (int rank = 0; rank < std::min(reader.ranks(), 1000); ++rank)
        ranks.push_back(read_all(reader, rank));
      damage_ = reader.damage();
      message_.clear();
    } catch (const Error& error) {
      ranks.clear();
      message_ = error.what();
    }
    return ranks;
  }

  bool tells_cut(std::size_t length) const {
    return std::ranges::any_of(damage_, [length](const Damage& damage) {
      return !damage.rank.valid() && damage.offset == length &&
             damage.what.starts_with("the file is cut off here");
    });
  }

  MemoryFile file_;
  bool sealed_ = false;
  std::vector<Damage> damage_;
  std::string message_;
};

bool has_zeros_from(const std::string& bytes, std::size_t from) {
  return bytes.find_first_not_of('\0', from) == std::string::npos;
}

void expect_prefix(const std::vector<Event>& part, const std::vector<Event>& whole) {
  ASSERT_LE(part.size(), whole.size());
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin()));
}

TEST_F(DamagedTrace, CutOffAtEveryByte) {
  for (const bool sealed : {true, false}) {
    const std::string whole = sealed ? sealed_file() : unsealed_file();
    const auto expected = read(whole);
    ASSERT_EQ(expected.size(), std::size_t{kRanks});
    std::size_t most = 0;
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const auto part = read(whole.substr(0, length));
      // Without its info block the file does not say which clock it has.
      if (length < kBlocksAt) {
        EXPECT_NE(message_.find(": offset "), std::string::npos) << length << " " << message_;
        continue;
      }
      ASSERT_EQ(message_, "") << length;
      EXPECT_EQ(sealed_, sealed) << length;
      if (sealed)
        EXPECT_TRUE(tells_cut(length)) << length;
      else
        EXPECT_TRUE(tells_cut(length) || length % 4096 == 0 || has_zeros_from(whole, length))
            << length;
      std::size_t events = 0;
      for (std::size_t rank = 0; rank < kRanks; ++rank) {
        expect_prefix(part[rank], expected[rank]);
        events += part[rank].size();
      }
      EXPECT_GE(events, most) << "a longer file holds no less";
      most = events;
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(DamagedTrace, CutOffRecordIsReportedWithItsRankAndOffset) {
  const std::string whole = sealed_file();
  // The file ends with rank 2's only event, a byte that names its shape, and before
  // that the shape.
  read(whole.substr(0, whole.size() - 2));
  ASSERT_FALSE(damage_.empty());
  EXPECT_EQ(damage_.back().rank, WorldRank(2));
  EXPECT_GT(damage_.back().offset, kBlocksAt);
  EXPECT_LT(damage_.back().offset, whole.size());
}

TEST_F(DamagedTrace, WrongMagic) {
  std::string bytes = sealed_file();
  for (std::size_t i = 0; i < 8; ++i) {
    std::string wrong = bytes;
    wrong[i] ^= 1;
    read(wrong);
    EXPECT_EQ(message_, file_.path() + ": offset 0: not a Foretrace trace");
  }
  read("");
  EXPECT_EQ(message_, file_.path() + ": offset 0: not a Foretrace trace");
}

// Nobody writes into the pipe: to wait for that would be for ever.
TEST_F(DamagedTrace, PipeIsNoTrace) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  try {
    TraceReader reader(path("pipe"));
    FAIL() << "a pipe was read";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("not a regular file"), std::string::npos);
  }
}

TEST_F(DamagedTrace, WrongVersion) {
  std::string bytes = sealed_file();
  for (const char version : {0, 9, 99}) {
    bytes[8] = version;
    read(bytes);
    EXPECT_NE(message_.find("offset 8: trace format version " + std::to_string(version) +
                            ", this tool reads versions 1 to 8"),
              std::string::npos)
        << message_;
  }
}

// With a header that says that it is as it was written.
std::string with_check(std::string bytes) {
  const std::uint32_t check = checksum(bytes.data(), 24);
  return bytes.replace(24, 4, reinterpret_cast<const char*>(&check), sizeof check);
}

TEST_F(DamagedTrace, WrongNumberOfRanks) {
  std::string bytes = sealed_file();
  for (const std::string& ranks :
       {std::string(4, '\0'), std::string("\xff\xff\xff\xff"), std::string("\xff\xff\xff\x7f")}) {
    read(with_check(bytes.replace(12, 4, ranks)));
    EXPECT_NE(message_.find("offset 12: "), std::string::npos) << message_;
  }
}

long peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// A trace of 3 ranks that says that it has 50 million: the header contradicts
// the info block. No memory for ranks that are not there.
TEST_F(DamagedTrace, AbsurdNumberOfRanksTakesNoMemory) {
  std::string bytes = sealed_file();
  const long before = peak_kib();
  read(with_check(bytes.replace(12, 4, std::string("\0\0\0\x03", 4))));
  EXPECT_NE(message_.find("offset 12: "), std::string::npos) << message_;
  EXPECT_LT(peak_kib() - before, 64 * 1024);
}

// A few bytes name a communicator of a million members in a trace of two ranks.
TEST_F(DamagedTrace, AbsurdCommunicatorTakesNoMemory) {
  create_trace_file(path("a.part"), sample_info(2, Clock::cpu));
  {
    TraceWriter writer(path("a.part"), WorldRank(0), Clock::cpu);
    writer.define_name("MPI_Send");
    writer.define_comm(1, std::vector<WorldRank>(1 << 20, WorldRank(1)));
    Event event;
    event.kind = EventKind::call;
    writer.write(event);
  }
  EXPECT_TRUE(read(read_bytes(path("a.part")))[0].empty());
  ASSERT_EQ(damage_.size(), 1u);
  EXPECT_EQ(damage_[0].rank, WorldRank(0));
}

// One to eight bytes changed, mostly where something stands.
std::string with_flips(std::string bytes, std::uint32_t seed) {
  std::mt19937 random(seed);
  const std::size_t last = bytes.size() - 1;
  const auto between = [&](std::size_t from, std::size_t to) {
    return from + random() % (to - from + 1);
  };
  const std::size_t count = between(1, 8);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t where = random() % 20;
    const std::size_t at = where == 0   ? between(0, last)
                           : where == 1 ? between(8, 15)
                           : where < 4  ? between(kInfoAt, kInfoAt + 200)
                                        : between(kBlocksAt, last);
    switch (random() % 4) {
      case 0:
        bytes[at] ^= static_cast<char>(1 << random() % 8);
        break;
      case 1:
        bytes[at] = '\xff';
        break;
      case 2:
        bytes[at] = 0;
        break;
      default:
        bytes[at] = static_cast<char>(random());
        break;
    }
  }
  return bytes;
}

TEST_F(DamagedTrace, TenThousandRandomChanges) {
  const std::string files[] = {sealed_file(), unsealed_file()};
  const long before = peak_kib();
  for (std::uint32_t seed = 0; seed < 10'000; ++seed) {
    const std::string& file = files[seed % 2];
    std::size_t events = 0;
    for (const auto& rank : read(with_flips(file, seed))) events += rank.size();
    ASSERT_LT(events, file.size()) << seed;  // a record has three bytes at least
  }
#ifdef __SANITIZE_ADDRESS__
  constexpr long kMost = 768 * 1024;  // freed memory is kept for a while
#else
  constexpr long kMost = 64 * 1024;
#endif
  EXPECT_LT(peak_kib() - before, kMost);
}

// What is read depends on the file alone.
TEST_F(DamagedTrace, SameDamageSameResult) {
  const std::string file = sealed_file();
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const std::string bytes = with_flips(file, seed);
    const auto first = read(bytes);
    const std::string message = message_;
    const std::size_t damages = damage_.size();
    EXPECT_EQ(read(bytes).size(), first.size());
    EXPECT_EQ(message_, message);
    EXPECT_EQ(damage_.size(), damages);
  }
}

}  // namespace
}  // namespace foretrace::trace
