#include "measure/core/samples.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "base/error.hpp"

namespace foretrace::measure {
namespace {

const std::string kHeader = "function,ranks,bytes,launch,seconds,kept\n";

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
  set.samples = {{"send", 2, 0, 1, 1.0 / 3, true}, {"bcast", 128, 1ull << 40, 7, 1e-7, false}};
  std::ostringstream out;
  format_samples(out, set);
  const SampleSet back = parse(out.str());
  EXPECT_EQ(back.info, set.info);
  EXPECT_EQ(back.samples, set.samples);
}

TEST(Samples, TheFormIsFixed) {
  SampleSet set;
  set.info["ranks"] = "2";
  set.samples = {{"send", 2, 8, 1, 2.5e-7, true}};
  std::ostringstream out;
  format_samples(out, set);
  EXPECT_EQ(out.str(), "# ranks = 2\n" + kHeader + "send,2,8,1,2.5e-07,1\n");
}

TEST(Samples, BlankLinesSpacesAndWindowsLineEndsAreFine) {
  const SampleSet set = parse("# note\r\n\r\n" + kHeader + "send, 2 ,8,1, 1e-6 ,1\r\n");
  ASSERT_EQ(set.samples.size(), 1u);
  EXPECT_EQ(set.samples[0], (Sample{"send", 2, 8, 1, 1e-6, true}));
}

TEST(Samples, ErrorsNameFileAndLine) {
  EXPECT_EQ(error_of(kHeader + "send,2,8,1,1e-6\n"),
            "s.csv:2: expected 6 columns (function,ranks,bytes,launch,seconds,kept), found 5");
  EXPECT_EQ(error_of("# x\n" + kHeader + "send,two,8,1,1e-6,1\n"),
            "s.csv:3: expected a number in column 'ranks', found 'two'");
  EXPECT_EQ(error_of(kHeader + "send,2,-8,1,1e-6,1\n"),
            "s.csv:2: expected a number in column 'bytes', found '-8'");
  EXPECT_EQ(error_of(kHeader + "send,2,8,1,nan,1\n"),
            "s.csv:2: 'seconds' must be a finite number, 0 or more");
  EXPECT_EQ(error_of(kHeader + "send,0,8,1,1,1\n"), "s.csv:2: 'ranks' must be 1 or more");
  EXPECT_EQ(error_of(kHeader + "send,2,8,1,1,2\n"), "s.csv:2: 'kept' must be 0 or 1");
  EXPECT_EQ(error_of(kHeader + ",2,8,1,1,1\n"), "s.csv:2: column 'function' is empty");
}

TEST(Samples, AFileOfAnotherKindIsRefused) {
  EXPECT_NE(error_of("[machine]\n").find("s.csv:1: expected the header"), std::string::npos);
  EXPECT_NE(error_of("").find("s.csv:1: no samples"), std::string::npos);
  EXPECT_THROW(read_samples("/nonexistent/s.csv"), Error);
}

}  // namespace
}  // namespace foretrace::measure
