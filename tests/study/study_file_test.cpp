#include "study/study_file.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace {

using namespace foretrace;
using study::Cell;
using study::parse_study;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kRest = "[programs.a]\ncommand = 'true'\n[ways.live]\n";

std::string error_of(const std::string& text) {
  try {
    parse_study(text, "s.toml");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::vector<Cell> values_of(const std::string& value) {
  return parse_study("[parameters]\nn = " + value + "\n" + kRest, "s.toml").parameters[0].values;
}

TEST(StudyFile, ReadsRanges) {
  const auto whole = [](std::int64_t value) { return Cell(value); };
  EXPECT_THAT(values_of("[1, 2.5, 'x']"), ElementsAre(whole(1), Cell(2.5), Cell(std::string("x"))));
  EXPECT_THAT(values_of("{from = 1, to = 4}"), ElementsAre(whole(1), whole(2), whole(3), whole(4)));
  EXPECT_THAT(values_of("{from = 16, to = 100, factor = 2}"),
              ElementsAre(whole(16), whole(32), whole(64)));
  EXPECT_THAT(values_of("{from = 0, to = 0.3, step = 0.1}"), testing::SizeIs(4));
  EXPECT_THAT(values_of("{from = 1, to = 1000, factor = 10}").back(), whole(1000));
  EXPECT_THAT(values_of("7"), ElementsAre(whole(7)));
}

TEST(StudyFile, KeepsTheOrderOfItsLines) {
  const auto parsed =
      parse_study(std::string("[parameters]\nz = 1\na = 2\n") + kRest, "dir/s.toml");
  EXPECT_EQ(parsed.parameters[0].name, "z");
  EXPECT_EQ(parsed.name, "s");
  EXPECT_EQ(parsed.ways[0].kind, study::Kind::live);
}

TEST(StudyFile, NamesTheLineOfAFault) {
  const std::string rest = kRest;
  EXPECT_THAT(error_of("[parameters]\nn = []\n" + rest), HasSubstr("s.toml:2: 'n' has no value"));
  EXPECT_THAT(error_of("[parameters]\nstatus = 1\n" + rest),
              HasSubstr("s.toml:2: 'status' is no name"));
  EXPECT_THAT(error_of("[parameters]\nn = {from = 1, to = 2, factor = 1}\n" + rest),
              HasSubstr("factor > 1"));
  EXPECT_THAT(error_of("[parameters]\nn = {from = 1, to = 1e12}\n" + rest),
              HasSubstr("more than 100,000"));
  EXPECT_THAT(error_of("\n[ways.live]\n"), HasSubstr("s.toml:2: ways.live: there is no [programs"));
  EXPECT_THAT(error_of("[programs.a]\ncommand = 'x {q}'\n[ways.live]\n"),
              HasSubstr("s.toml:2: command: there is no parameter 'q'"));
  EXPECT_THAT(error_of("[programs.a]\ncommand = 'x {q'\n[ways.live]\n"),
              HasSubstr("a brace has no"));
  EXPECT_THAT(error_of("[programs.a]\ncommand = \"x 'y\"\n[ways.live]\n"),
              HasSubstr("a quote has no end"));
  EXPECT_THAT(error_of("[programs.a]\ncommand = 'x'\n[ways.guess]\n"), HasSubstr("'kind' must be"));
  EXPECT_THAT(error_of("[programs.a]\ncommand = 'x'\n[ways.predict]\n"),
              HasSubstr("'machine' is missing"));
  EXPECT_THAT(error_of("[programs.a]\ncommand = 'x'\n"), HasSubstr("no [ways.NAME]"));
  EXPECT_THAT(error_of("[study]\nlaunches = [5, 2]\n" + rest), HasSubstr("[LEAST, MOST]"));
  EXPECT_THAT(error_of("[study]\nspeed = 1\n" + rest), HasSubstr("unknown key 'speed'"));
  EXPECT_THAT(error_of(rest + "[quantities]\nx = '('\n"), HasSubstr("no regular expression"));
  EXPECT_THAT(error_of(rest + "[quantities]\nx = 'y'\n"), HasSubstr("needs one group"));
  EXPECT_THAT(error_of("zip = [['a', 'b']]\n" + rest), HasSubstr("there is no parameter 'a'"));
  EXPECT_THAT(error_of("[parameters\n"), HasSubstr("s.toml:1"));
}

TEST(Words, AreSplitAsByAShell) {
  EXPECT_THAT(study::split_words("a  'b c' \"d\\\"e\" f\\ g ''", "w"),
              ElementsAre("a", "b c", "d\"e", "f g", ""));
  EXPECT_EQ(study::filled_in("{a}x{{b}}", {{"a", "1"}}), "1x{b}");
  EXPECT_THAT(study::names_in("{a}{b}{a}{{c}}", "w"), ElementsAre("a", "b"));
}

}  // namespace
