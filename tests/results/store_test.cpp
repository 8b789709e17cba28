// What is kept, what is not kept twice, and what a reader gets.
#include "results/store.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "results/query.hpp"

namespace {

using namespace foretrace;
using results::Launch;
using results::Origin;
using results::read_table;
using results::Store;
using results::Table;
using results::text_of;
using testing::ElementsAre;
using testing::HasSubstr;

class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("foretrace-store-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

Launch launch(std::int64_t point, int number, double time, int n = 10) {
  Launch out;
  out.point = point;
  out.launch = number;
  out.program = "life";
  out.way = "measured";
  out.kind = "measured";
  out.ranks = 4;
  out.started = "2026-11-23T13:00:0" + std::to_string(number) + "Z";
  out.parameters = {{"n", std::int64_t{n}}, {"m", std::string("a,\"b\"")}};
  out.quantities = {{"time", time}};
  return out;
}

const Origin kOrigin{"here", "1", "m", "p", "{}"};

std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> out;
  for (const auto& column : table.columns) out.push_back(column.name);
  return out;
}

void fill(const std::string& path) {
  Store store(path);
  store.begin_study("s", "s.toml", "text", "c");
  store.add(launch(1, 0, 3), kOrigin);
  store.add(launch(1, 1, 1), kOrigin);
  store.add(launch(1, 2, 2), kOrigin);
  store.add(launch(2, 0, 5, 20), kOrigin);
}

TEST_F(StoreTest, KeepsAndTellsMedians) {
  fill(file("r.db"));
  EXPECT_EQ(Store(file("r.db")).done(), (std::map<std::int64_t, int>{{1, 3}, {2, 1}}));
  const Table table = read_table(file("r.db"), {});
  EXPECT_THAT(names_of(table),
              ElementsAre("program", "way", "ranks", "n", "m", "launches", "time"));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(text_of(table.rows[0][5]), "3");
  EXPECT_EQ(text_of(table.rows[0][6]), "2");
  EXPECT_EQ(read_table(file("r.db"), {"", true, {}}).rows.size(), 4u);
  EXPECT_EQ(read_table(file("r.db"), {"n > 10 and host = 'here'", false, {}}).rows.size(), 1u);
}

TEST_F(StoreTest, AFailureIsKeptAndDoesNotCount) {
  Store store(file("r.db"));
  store.begin_study("s", "s.toml", "text", "c");
  Launch failed = launch(1, 0, 3);
  failed.done = false;
  failed.message = "status 1";
  store.add(failed, kOrigin);
  store.add(failed, kOrigin);
  EXPECT_TRUE(store.done().empty());
  store.add(launch(1, 0, 3), kOrigin);
  EXPECT_EQ(store.done().at(1), 1);
  EXPECT_EQ(results::read_summary(file("r.db")).failed, 2);
  // The same launch once more is refused, and nothing of it stays.
  Launch again = launch(1, 0, 4);
  again.quantities.emplace_back("fresh", 1);
  EXPECT_THROW(store.add(again, kOrigin), Error);
  EXPECT_EQ(results::read_summary(file("r.db")).launches, 3);
  again.launch = 1;
  store.add(again, kOrigin);  // the column is made anew
}

TEST_F(StoreTest, MergesOnce) {
  fill(file("a.db"));
  {
    Store other(file("b.db"));
    other.begin_study("t", "t.toml", "other", "d");
    Launch more = launch(3, 0, 7, 30);
    more.quantities.emplace_back("alive", 12);
    other.add(more, kOrigin);
    other.add(launch(2, 0, 5, 20), kOrigin);
  }
  Store store(file("a.db"));
  store.merge(file("b.db"));
  store.merge(file("b.db"));
  EXPECT_EQ(store.done(), (std::map<std::int64_t, int>{{1, 3}, {2, 1}, {3, 1}}));
  const Table table = read_table(file("a.db"), {"n = 30", false, {"alive"}});
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(text_of(table.rows[0].back()), "12");
}

TEST_F(StoreTest, RefusesWhatItCannotRead) {
  std::ofstream(file("text.db")) << "this is no database at all, and is long enough to tell";
  EXPECT_THROW(Store(file("text.db")), Error);
  EXPECT_THROW(read_table(file("text.db"), {}), Error);
  EXPECT_THROW(read_table(file("none.db"), {}), Error);
  EXPECT_FALSE(std::filesystem::exists(file("none.db")));
  fill(file("r.db"));
  for (const char* where : {"nonsense > 1", "n >", "1); DELETE FROM launches; --"})
    EXPECT_THROW(read_table(file("r.db"), {where, false, {}}), UsageError) << where;
  EXPECT_THROW(read_table(file("r.db"), {"", false, {"nonsense"}}), UsageError);
  EXPECT_EQ(read_table(file("r.db"), {}).rows.size(), 2u);
}

}  // namespace
