// A table in a profile's file: grows, keeps what it holds, ends where it must.
#include "capture/host/shared_table.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace foretrace::capture {
namespace {

class SharedTableTest : public testing::Test {
 protected:
  void SetUp() override {
    trace::CountersInfo info;
    info.ranks = 1;
    info.functions = {"MPI_Send"};
    trace::create_counters_file(path_, info);
    writer_ = trace::CountersWriter(path_, 0);
  }
  void TearDown() override { std::remove(path_.c_str()); }

  // Many share a hash.
  static std::uint64_t hash(std::uint32_t rank) { return rank / 4; }
  trace::PeerRecord* find(std::uint32_t rank) const {
    return table_.find(hash(rank), [rank](const trace::PeerRecord& r) { return r.rank == rank; });
  }
  trace::PeerRecord* add(std::uint32_t rank) {
    trace::PeerRecord* record =
        table_.add(hash(rank), [](const trace::PeerRecord& r) { return hash(r.rank); });
    if (record) record->rank = rank;
    return record;
  }

  std::string path_ = testing::TempDir() + "shared_table_" + std::to_string(::getpid());
  trace::CountersWriter writer_;
  SharedTable<trace::PeerRecord> table_;
};

TEST_F(SharedTableTest, GrowsToItsLimit) {
  ASSERT_TRUE(table_.start(writer_, trace::ChunkKind::peers, 8, 64));
  EXPECT_EQ(find(0), nullptr);
  std::uint32_t added = 0;
  while (trace::PeerRecord* record = add(added)) {
    record->messages = 1000 + added;
    ++added;
    ASSERT_LE(added, 64u);
  }
  // One slot stays empty: that is where searches end.
  EXPECT_EQ(added, 63u);
  EXPECT_EQ(table_.slots(), 64u);
  for (std::uint32_t rank = 0; rank < added; ++rank) {
    ASSERT_NE(find(rank), nullptr) << rank;
    EXPECT_EQ(find(rank)->messages, 1000 + rank);
    EXPECT_EQ(&table_[table_.index_of(*find(rank))], find(rank));
  }
  EXPECT_EQ(find(added), nullptr);
  table_.clear();
  EXPECT_EQ(find(3), nullptr);
  EXPECT_NE(add(3), nullptr);
}

TEST_F(SharedTableTest, LivesOnWhereTheFileCannotGrow) {
  ASSERT_TRUE(table_.start(writer_, trace::ChunkKind::peers, 8, 64));
  writer_.close();
  std::uint32_t added = 0;
  while (add(added)) ++added;
  EXPECT_EQ(added, 7u);
  for (std::uint32_t rank = 0; rank < added; ++rank) EXPECT_NE(find(rank), nullptr) << rank;
}

}  // namespace
}  // namespace foretrace::capture
