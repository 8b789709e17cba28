// Several numbers in one word: what is meant, and what is refused.
#include "cli/words/number_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace foretrace::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const NumberRule kAny{"--bytes"};

std::vector<std::uint64_t> parse(const std::string& text) {
  return parse_number_list(text, kAny);
}

std::string fault(const std::string& text, const NumberRule& rule = kAny) {
  try {
    parse_number_list(text, rule);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(NumberList, Numbers) {
  EXPECT_THAT(parse("8"), ElementsAre(8));
  EXPECT_THAT(parse("64,8,8,0"), ElementsAre(64, 8, 8, 0));
  EXPECT_THAT(parse("18446744073709551615"), ElementsAre(UINT64_MAX));
}

TEST(NumberList, Units) {
  EXPECT_THAT(parse("1k,1K,2KiB,3m,3M,3MiB,1g"),
              ElementsAre(1024, 1024, 2048, 3145728, 3145728, 3145728, 1073741824));
  EXPECT_THAT(parse("1kB,2MB,3GB,5B"), ElementsAre(1000, 2000000, 3000000000, 5));
}

TEST(NumberList, RangesDouble) {
  EXPECT_THAT(parse("8..64"), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(parse("3..20"), ElementsAre(3, 6, 12, 20));
  EXPECT_THAT(parse("0..4,7"), ElementsAre(0, 1, 2, 4, 7));
  EXPECT_THAT(parse("512..1k"), ElementsAre(512, 1024));
  EXPECT_THAT(parse("5..5"), ElementsAre(5));
  EXPECT_THAT(parse("9223372036854775808..18446744073709551615"),
              ElementsAre(1ull << 63, UINT64_MAX));
}

TEST(NumberList, RangesAdd) {
  EXPECT_THAT(parse("2..10:4"), ElementsAre(2, 6, 10));
  EXPECT_THAT(parse("2..9:4"), ElementsAre(2, 6));
  EXPECT_THAT(parse("0..2k:1k"), ElementsAre(0, 1024, 2048));
  EXPECT_THAT(parse("1..10000:1"), SizeIs(10000));
}

TEST(NumberList, Faults) {
  for (const char* text : {"", ",", "8,", "x", "-1", "1.5", "1kk", "8..", "..8", "8...9",
                           "1..9:", "1..9:x", " 8", "99999999999999999999"})
    EXPECT_THAT(fault(text), HasSubstr("--bytes: expected numbers such as 8, 64k or 8..1m"))
        << text;
  EXPECT_THAT(fault("20000000000g"), HasSubstr("found '20000000000g'"));
  EXPECT_THAT(fault("9..8"), HasSubstr("ends below its start in '9..8'"));
  EXPECT_THAT(fault("1..9:0"), HasSubstr("step 0"));
  EXPECT_THAT(fault("1..10001:1"), HasSubstr("more than 10000 numbers"));
  EXPECT_THAT(fault("1,0", {"--ranks", 1, 64}), HasSubstr("--ranks: expected 1 to 64, found 0"));
  EXPECT_THAT(fault("2..65", {"--ranks", 1, 64}), HasSubstr("found 65"));
}

}  // namespace
}  // namespace foretrace::cli
