#include "scaling/json_lines.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace {

using namespace foretrace;
using scaling::parse_json_lines;
using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::string& text) {
  try {
    parse_json_lines(text, "x.jsonl");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(JsonLines, ReadsWhatExtraPReads) {
  const auto all = parse_json_lines(
      "{\"params\":{\"p\":8,\"n\":1.5},\"callpath\":\"main->f\",\"metric\":\"time\",\"value\":2}"
      "\n\n"
      "{\"params\":{\"p\":16},\"value\":[1,2.5]}",
      "x.jsonl");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].callpath, "main->f");
  EXPECT_EQ(all[0].parameters.at("n"), 1.5);
  EXPECT_THAT(all[0].values, ElementsAre(2));
  EXPECT_THAT(all[1].values, ElementsAre(1, 2.5));
}

TEST(JsonLines, NamesTheLineOfAFault) {
  const std::string good = "{\"params\":{\"p\":8},\"value\":2}\n";
  EXPECT_THAT(error_of(good + "{"), HasSubstr("x.jsonl:2: this is no JSON"));
  EXPECT_THAT(error_of(good + "[1]"), HasSubstr("x.jsonl:2: expected an object"));
  EXPECT_THAT(error_of("{\"value\":2}"), HasSubstr("'params' is missing"));
  EXPECT_THAT(error_of("{\"params\":{\"p\":\"8\"},\"value\":2}"), HasSubstr("parameter 'p'"));
  EXPECT_THAT(error_of("{\"params\":{\"p\":8}}"), HasSubstr("'value' is missing"));
  EXPECT_THAT(error_of("{\"params\":{\"p\":8},\"value\":[]}"), HasSubstr("'value' is empty"));
  EXPECT_THAT(error_of("\n"), HasSubstr("no measurement"));
}

}  // namespace
