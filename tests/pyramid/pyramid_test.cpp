// What a pyramid tells of a run, against sums made straight from the events.
#include "pyramid/pyramid.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "../views/example_traces.hpp"
#include "base/error.hpp"
#include "base/new_file.hpp"
#include "base/whole_file.hpp"
#include "trace/trace.hpp"
#include "views/timeline/encoder.hpp"

namespace foretrace {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Cells = std::map<std::tuple<std::uint64_t, std::uint64_t, int>, double>;  // block, bin, class

class PyramidTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  void make(const trace::Trace& trace) {
    write_trace(trace, file());
    // As the tool reads it: names in the order of the file.
    trace_ = trace::read_trace(file());
    pyramid::build_pyramid(file(), file() + ".view", {}, [](double) {});
    shown_ = std::make_unique<pyramid::Pyramid>(file() + ".view");
  }
  std::string file() const { return (folder_ / "run.ftr").string(); }

  std::int64_t end() const {
    std::int64_t most = 1;
    const json head = json::parse(shown_->head());
    for (const json& rank : head["ranks"]) most = std::max(most, rank[2].get<std::int64_t>());
    return most;
  }

  Cells tile(std::uint64_t time, std::uint64_t column, std::uint64_t ranks, std::uint64_t row,
             const pyramid::Arrangement* rows = nullptr) const {
    const std::string bytes = shown_->tile(time, column, ranks, row, rows);
    std::array<std::uint32_t, 64> counts{};
    std::memcpy(counts.data(), bytes.data(), sizeof counts);
    std::size_t all = 0;
    for (const std::uint32_t count : counts) all += count;
    const std::size_t bins = sizeof counts, classes = bins + all;
    const std::size_t times = (classes + all + 3) / 4 * 4;
    EXPECT_EQ(bytes.size(), times + 4 * all);
    Cells cells;
    std::size_t i = 0;
    for (std::uint64_t block = 0; block < counts.size(); ++block)
      for (std::uint32_t k = 0; k < counts[block]; ++k, ++i) {
        float value = 0;
        std::memcpy(&value, bytes.data() + times + 4 * i, sizeof value);
        const auto bin = static_cast<std::uint8_t>(bytes[bins + i]);
        cells[{row * 64 + block, column * 256 + bin,
               static_cast<std::uint8_t>(bytes[classes + i])}] += static_cast<double>(value);
      }
    return cells;
  }

  // The same of the events themselves.
  Cells expected(std::uint64_t time, std::uint64_t column, std::uint64_t ranks,
                 std::uint64_t row) const {
    const json served = json::parse(shown_->head())["served"];
    std::map<std::string, int> slots;
    const json names = json::parse(shown_->head())["names"];
    for (std::size_t i = 0; i < served["functions"].size(); ++i)
      slots[names[served["functions"][i].get<std::size_t>()].get<std::string>()] =
          static_cast<int>(i);
    const double width = static_cast<double>(end()) / std::pow(2.0, time);
    Cells cells;
    const auto add = [&](std::uint64_t block, int class_, Time from, Time to) {
      for (std::uint64_t bin = column * 256; bin < (column + 1) * 256; ++bin) {
        const double start = std::max(std::floor(static_cast<double>(bin) * width),
                                      static_cast<double>(from.count_ps()));
        const double stop = std::min(std::floor(static_cast<double>(bin + 1) * width),
                                     static_cast<double>(to.count_ps()));
        if (stop > start) cells[{block, bin, class_}] += stop - start;
      }
    };
    for (std::uint64_t r = 0; r < trace_.ranks.size(); ++r) {
      const std::uint64_t block = r >> ranks;
      if (block / 64 != row) continue;
      Time before;
      for (const trace::Event& event : trace_.ranks[r]) {
        using trace::EventKind;
        const Time enter = event.kind == EventKind::init ? event.leave : event.enter;
        const Time leave = event.kind == EventKind::finalize ? enter : event.leave;
        const auto slot = slots.find(trace_.names[event.name]);
        const int busy = slot == slots.end() ? 0 : 1 + 2 * slot->second;
        add(block, 0, before, enter);
        add(block, busy == 0 ? 0 : busy + 1, enter, enter + event.wait);
        add(block, busy, enter + event.wait, leave);
        before = leave;
      }
    }
    return cells;
  }

  void compare(std::uint64_t time, std::uint64_t column, std::uint64_t ranks, std::uint64_t row) {
    const Cells is = tile(time, column, ranks, row);
    const Cells should = expected(time, column, ranks, row);
    EXPECT_EQ(is.size(), should.size());
    EXPECT_FALSE(should.empty());
    for (const auto& [place, value] : should) {
      const auto found = is.find(place);
      ASSERT_NE(found, is.end());
      EXPECT_NEAR(found->second, value, value * 1e-6 + 1e-3);
    }
  }

  fs::path folder_ = fs::temp_directory_path() / ("pyramid-" + std::to_string(::getpid()));
  trace::Trace trace_;
  std::unique_ptr<pyramid::Pyramid> shown_;
};

TEST_F(PyramidTest, TilesOfRowsThatAreInTheFile) {
  make(test::halo_trace(9, 6000));  // 54,000 events: cells of single ranks in 1,024 bins
  EXPECT_EQ(json::parse(shown_->head())["served"]["level"], 10);
  compare(10, 0, 1, 0);
  compare(10, 3, 4, 0);  // all
  compare(8, 0, 1, 0);   // four bins as one
}

TEST_F(PyramidTest, TilesOfTheEventsThemselves) {
  make(test::halo_trace(70, 40));
  compare(10, 1, 0, 0);
  compare(10, 2, 0, 1);   // ranks 64 to 69
  compare(14, 20, 1, 0);  // finer than the file
}

TEST_F(PyramidTest, TheHeadHasTheTotals) {
  make(test::mandel_trace());
  const json head = json::parse(shown_->head());
  double sum = 0;
  for (const json& total : head["served"]["totals"]) sum += total.get<double>();
  double ends = 0;
  for (const json& rank : head["ranks"]) ends += rank[2].get<double>();
  EXPECT_EQ(sum, ends);  // all time of all ranks
}

// Of an answer: what it says, and the bytes after it.
std::pair<json, std::string> parts(const std::string& answer) {
  std::uint32_t length = 0;
  std::memcpy(&length, answer.data(), sizeof length);
  return {json::parse(answer.substr(4, length)), answer.substr(4 + length)};
}

TEST_F(PyramidTest, AWindowOfAllIsTheWholeStream) {
  make(test::halo_trace(5, 3000));
  const auto [about, bytes] = parts(shown_->events(0, end() + 1, 0, 5, 1'000'000));
  views::TimelineEncoder encoder(5, false);
  for (int r = 0; r < 5; ++r) encoder.add_rank(trace_.ranks[static_cast<std::size_t>(r)], r);
  EXPECT_EQ(bytes, encoder.take_stream());
  EXPECT_EQ(about["ranks"].size(), 5u);
}

TEST_F(PyramidTest, AWindowHasWhatTouchesItAndNoMore) {
  make(test::halo_trace(5, 3000));
  const auto& events = trace_.ranks[3];
  const std::size_t i = 2000;
  // From within the call before to within the one after: computation before a call counts to it.
  const std::int64_t from = events[i].leave.count_ps() - 1;
  const std::int64_t to = events[i + 2].leave.count_ps() + 1;
  const auto [about, bytes] = parts(shown_->events(from, to, 3, 4, 100));
  EXPECT_EQ(about["first"], 3);
  EXPECT_EQ(about["ranks"][0][0], i);
  EXPECT_EQ(about["ranks"][0][1], events[i - 1].leave.count_ps());
  EXPECT_EQ(about["ranks"][0][2], 4);
  EXPECT_EQ(about["ranks"][0][3], bytes.size());
  // Messages before it: sends, and receives that have come.
  std::uint64_t messages = 0;
  for (std::size_t k = 0; k < i; ++k) {
    if (events[k].send.peer.valid()) ++messages;
    if (events[k].kind == trace::EventKind::recv && events[k].recv.peer.valid()) ++messages;
    if (events[k].kind == trace::EventKind::irecv) ++messages;  // the example's all come
  }
  std::uint64_t told = 0;
  for (const json& channel : about["ranks"][0][4]) told += channel[1].get<std::uint64_t>();
  EXPECT_EQ(told, messages);
  EXPECT_GT(messages, 500u);
  const json phases = about["ranks"][0][5];
  ASSERT_EQ(phases.size(), 1u);
  EXPECT_EQ(json::parse(shown_->head())["names"][phases[0][0].get<std::size_t>()], "iterate");
  EXPECT_LT(phases[0][1], from);
  const std::int64_t later = events[i + 30].leave.count_ps() + 1;
  const auto [many, none] = parts(shown_->events(from, later, 3, 4, 20));
  EXPECT_EQ(many["many"], 32);
  EXPECT_EQ(none, "");
}

TEST_F(PyramidTest, RowsOfSeveralRanksAreTheirMeans) {
  make(test::halo_trace(11, 4000));
  const auto rows = pyramid::Arrangement::parse(
      R"({"sizes": [1, 3, 5], "ranks": [7, 0, 1, 10, 2, 3, 4, 5, 8]})", 11);
  const std::vector<std::vector<std::uint64_t>> ranks{{7}, {0, 1, 10}, {2, 3, 4, 5, 8}};
  for (const std::uint64_t time : {10, 14}) {  // of the file's rows, and of the events
    const Cells single = tile(time, 1, 0, 0);
    Cells mean;
    for (const auto& [place, value] : single)
      for (std::uint64_t row = 0; row < ranks.size(); ++row)
        if (std::find(ranks[row].begin(), ranks[row].end(), std::get<0>(place)) != ranks[row].end())
          mean[{row, std::get<1>(place), std::get<2>(place)}] +=
              value / static_cast<double>(ranks[row].size());
    const Cells found = tile(time, 1, 0, 0, &rows);
    ASSERT_EQ(found.size(), mean.size());
    for (const auto& [place, value] : mean) EXPECT_NEAR(found.at(place), value, 1e-6 * value + 1);
  }
}

TEST_F(PyramidTest, RowsThatMakeNoSenseAreRefused) {
  const auto parse = [](const char* text) { return pyramid::Arrangement::parse(text, 4); };
  EXPECT_NO_THROW(parse(R"({"sizes": [1, 2], "ranks": [3, 0, 2]})"));
  for (const char* text :
       {"", "[]", "{}", R"({"sizes": [], "ranks": []})", R"({"sizes": [0], "ranks": []})",
        R"({"sizes": [1], "ranks": [4]})", R"({"sizes": [2], "ranks": [1, 1]})",
        R"({"sizes": [2], "ranks": [2, 1]})", R"({"sizes": [1], "ranks": [1, 2]})",
        R"({"sizes": [18446744073709551615], "ranks": [1]})", R"({"sizes": [1], "ranks": ["1"]})"})
    EXPECT_THROW(parse(text), Error) << text;
}

// The times of a rank's states from one moment to another, made straight from its events.
TEST_F(PyramidTest, MeasuresOfRanksAreExactInAnyPartOfTheRun) {
  make(test::halo_trace(3, 20000));  // several times as much as lies between two Befores
  const double from = 0.3137 * static_cast<double>(end());
  const double to = 0.9011 * static_cast<double>(end());
  const std::string bytes = shown_->ranks(from, to);
  ASSERT_EQ(bytes.size(), 3 * 4 * sizeof(double));
  const auto within = [&](Time a, Time b) {
    return std::max(0.0, std::min(to, static_cast<double>(b.count_ps())) -
                             std::max(from, static_cast<double>(a.count_ps())));
  };
  for (std::size_t r = 0; r < 3; ++r) {
    std::array<double, 3> expected{};
    Time before;
    for (const trace::Event& event : trace_.ranks[r]) {
      const Time enter = event.kind == trace::EventKind::init ? event.leave : event.enter;
      const Time leave = event.kind == trace::EventKind::finalize ? enter : event.leave;
      expected[0] += within(before, enter);
      expected[1] += within(enter, leave);
      expected[2] += within(enter, enter + event.wait);
      before = leave;
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      double found = 0;
      std::memcpy(&found, bytes.data() + (4 * r + i) * sizeof found, sizeof found);
      EXPECT_NEAR(found, expected[i], 1.0) << r << " " << i;
    }
  }
}

TEST_F(PyramidTest, WhatIsNotThereIsRefused) {
  make(test::halo_trace(5, 100));
  EXPECT_NO_THROW(shown_->tile(10, 3, 3, 0));
  EXPECT_THROW(shown_->tile(10, 4, 0, 0), Error);
  EXPECT_THROW(shown_->tile(7, 0, 0, 0), Error);
  EXPECT_THROW(shown_->tile(64, 0, 0, 0), Error);
  EXPECT_THROW(shown_->tile(10, 0, 4, 0), Error);
  EXPECT_THROW(shown_->tile(10, 0, 0, 1), Error);
  EXPECT_THROW(shown_->events(5, 5, 0, 1, 10), Error);
  EXPECT_THROW(shown_->events(0, 5, 1, 6, 10), Error);
}

TEST_F(PyramidTest, ViewsOfOtherVersionsAreKnown) {
  make(test::halo_trace(5, 100));
  EXPECT_FALSE(pyramid::is_other_version(file() + ".view"));
  EXPECT_FALSE(pyramid::is_other_version(file()));
  EXPECT_FALSE(pyramid::is_other_version(file() + ".not"));
  const std::string other = file() + ".old";
  write_new_file(other, "FTRVIEW1 and more");
  EXPECT_TRUE(pyramid::is_other_version(other));
  write_new_file(other, "FTRVIEW");
  EXPECT_TRUE(pyramid::is_other_version(other));  // cut off
}

TEST_F(PyramidTest, AnotherTraceNeedsAnotherView) {
  make(test::halo_trace(5, 100));
  EXPECT_TRUE(shown_->is_of(file()));
  write_trace(test::halo_trace(5, 101), file());
  fs::last_write_time(file(), fs::last_write_time(file()) + std::chrono::seconds(1));
  EXPECT_FALSE(shown_->is_of(file()));
}

}  // namespace
}  // namespace foretrace
