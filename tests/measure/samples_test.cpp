#include "measure/core/samples.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "base/error.hpp"

namespace foretrace::measure {
namespace {

const std::string kHeader = "function,ranks,bytes,launch,seconds,kept,cache_line\n";
const std::string kShortHeader = "function,ranks,bytes,launch,seconds,kept\n";

SampleSet parse(const std::string& text) {
  std::istringstream in(text);
  return parse_samples(in, "s.csv");
}

// What() of the error that parsing `text` gives.
std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Samples, WrittenAndReadBackAreTheSame) {
  SampleSet set;
  set.info = {{"host", "a = b"}, {"timer_resolution", "1e-09"}};
  set.samples = {{"send", 2, 0, 1, 1.0 / 3, true},
                 {"bcast", 128, 1ull << 40, 7, 1e-7, false, 5.5e-8}};
  std::ostringstream out;
  format_samples(out, set);
  const SampleSet back = parse(out.str());
  EXPECT_EQ(back.info, set.info);
  EXPECT_EQ(back.samples, set.samples);
}

TEST(Samples, TheFormIsFixed) {
  SampleSet set;
  set.info["ranks"] = "2";
  set.samples = {{"send", 2, 8, 1, 2.5e-7, true, 5e-8}};
  std::ostringstream out;
  format_samples(out, set);
  EXPECT_EQ(out.str(), "# ranks = 2\n" + kHeader + "send,2,8,1,2.5e-07,1,5e-08\n");
}

TEST(Samples, BlankLinesSpacesAndWindowsLineEndsAreFine) {
  const SampleSet set = parse("# note\r\n\r\n" + kHeader + "send, 2 ,8,1, 1e-6 ,1, 0\r\n");
  ASSERT_EQ(set.samples.size(), 1u);
  EXPECT_EQ(set.samples[0], (Sample{"send", 2, 8, 1, 1e-6, true}));
}

// Files that were written before the state stood beside each sample.
TEST(Samples, WithoutCacheLine) {
  const SampleSet set = parse(kShortHeader + "send,2,8,1,1e-6,1\n");
  ASSERT_EQ(set.samples.size(), 1u);
  EXPECT_EQ(set.samples[0], (Sample{"send", 2, 8, 1, 1e-6, true, 0}));
}

TEST(Samples, ErrorsNameFileAndLine) {
  EXPECT_EQ(error_of(kShortHeader + "send,2,8,1,1e-6\n"),
            "s.csv:2: expected 6 columns (function,ranks,bytes,launch,seconds,kept), found 5");
  EXPECT_EQ(error_of("# x\n" + kShortHeader + "send,two,8,1,1e-6,1\n"),
            "s.csv:3: expected a number in column 'ranks', found 'two'");
  EXPECT_EQ(error_of(kShortHeader + "send,2,-8,1,1e-6,1\n"),
            "s.csv:2: expected a number in column 'bytes', found '-8'");
  EXPECT_EQ(error_of(kShortHeader + "send,2,8,1,nan,1\n"),
            "s.csv:2: 'seconds' must be a finite number, 0 or more");
  EXPECT_EQ(error_of(kShortHeader + "send,0,8,1,1,1\n"), "s.csv:2: 'ranks' must be 1 or more");
  EXPECT_EQ(error_of(kShortHeader + "send,2,8,1,1,2\n"), "s.csv:2: 'kept' must be 0 or 1");
  EXPECT_EQ(error_of(kShortHeader + ",2,8,1,1,1\n"), "s.csv:2: column 'function' is empty");
  EXPECT_EQ(error_of(kHeader + "send,2,8,1,1e-6,1\n"),
            "s.csv:2: expected 7 columns (function,ranks,bytes,launch,seconds,kept,cache_line), "
            "found 6");
  EXPECT_EQ(error_of(kHeader + "send,2,8,1,1,1,-1e-9\n"),
            "s.csv:2: 'cache_line' must be a finite number, 0 or more");
}

// 50 ns are the state that counts. Of `bcast` on 4 ranks nothing was measured in it.
TEST(Samples, InAnotherStateDoNotCount) {
  SampleSet set;
  set.info["cache_line"] = "5e-08";
  const Sample fast{"send", 2, 8, 1, 1e-6, true, 6e-8}, slow{"send", 2, 8, 1, 3e-6, true, 2.5e-7};
  const Sample unknown{"send", 2, 8, 1, 2e-6, true, 0};
  const Sample slow_alone{"bcast", 4, 8, 1, 3e-6, true, 2.5e-7};
  const Sample slow_pair{"bcast", 2, 8, 1, 3e-6, true, 2.5e-7};
  const Sample fast_pair{"bcast", 2, 16, 1, 1e-6, true, 5e-8};
  set.samples = {fast, slow, unknown, slow_alone, slow_pair, fast_pair};
  EXPECT_EQ(used_samples(set).samples, (std::vector<Sample>{fast, unknown, slow_alone, fast_pair}));
  EXPECT_EQ(other_samples(set), (std::vector<Sample>{slow, slow_alone, slow_pair}));
  set.info["launch_1_state"] = "another state: cache line 250 ns";
  EXPECT_TRUE(used_samples(set).samples.empty());
  EXPECT_EQ(other_samples(set).size(), 3u);
  set.info["launch_1_state"] = "left out: copy 3 GB/s";
  EXPECT_TRUE(other_samples(set).empty());
  set.info.erase("launch_1_state");
  set.info.erase("cache_line");
  EXPECT_EQ(used_samples(set).samples, set.samples);
  EXPECT_TRUE(other_samples(set).empty());
}

TEST(Samples, AFileOfAnotherKindIsRefused) {
  EXPECT_NE(error_of("[machine]\n").find("s.csv:1: expected the header"), std::string::npos);
  EXPECT_NE(error_of("").find("s.csv:1: no samples"), std::string::npos);
  EXPECT_THROW(read_samples("/nonexistent/s.csv"), Error);
}

}  // namespace
}  // namespace foretrace::measure
