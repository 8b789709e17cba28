// What parse_toml() makes of texts that toml++ itself is not ready for. A sanitizer's build finds
// more here than any other: what these texts did to toml++ was undefined.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "toml_file/reader.hpp"

namespace foretrace::machine {
namespace {

std::string utf8(char32_t c) {
  const auto tail = [](char32_t bits) { return static_cast<char>(0x80 | (bits & 0x3f)); };
  if (c < 0x800) return {static_cast<char>(0xc0 | c >> 6), tail(c)};
  return {static_cast<char>(0xe0 | c >> 12), tail(c >> 6), tail(c)};
}

bool white(char32_t c) {
  return c == 0x85 || c == 0xa0 || c == 0x1680 || c == 0x180e || (c >= 0x2000 && c <= 0x200b) ||
         (c >= 0x2028 && c <= 0x2029) || c == 0x202f || (c >= 0x205f && c <= 0x2060) ||
         c == 0x3000 || c == 0xfeff;
}

// Characters of two and three bytes: all that have two, some of the others.
std::vector<char32_t> characters() {
  std::vector<char32_t> some;
  for (char32_t c = 0x80; c <= 0xffff; c += c < 0x800 ? 1 : 13)
    if (c < 0xd800 || c > 0xdfff) some.push_back(c);  // no surrogates
  return some;
}

// The message of the text's error; empty where it is accepted.
std::string fault(const std::string& text) {
  try {
    parse_toml(text, "f.toml");
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(ParseToml, RefusesLettersWhereNoneMayStand) {
  for (const char32_t c : characters()) {
    SCOPED_TRACE(static_cast<unsigned>(c));
    EXPECT_TRUE(fault("a = 1\n" + utf8(c) + " = 2\n").starts_with("f.toml:2: "));
    EXPECT_TRUE(fault("a = 1" + utf8(c) + "\n").starts_with("f.toml:1: "));
    EXPECT_TRUE(fault("a = true" + utf8(c) + "\n").starts_with("f.toml:1: "));
    EXPECT_TRUE(fault("[a" + utf8(c) + "]\n").starts_with("f.toml:1: "));
  }
}

TEST(ParseToml, KeepsLettersInTexts) {
  for (const char32_t c : characters()) {
    SCOPED_TRACE(static_cast<unsigned>(c));
    EXPECT_EQ(parse_toml("a = \"" + utf8(c) + "\" # " + utf8(c) + "\n", "f.toml")["a"]
                  .value<std::string>(),
              utf8(c));
    // After a backslash at the end of a line, white space is left out up to the next letter.
    if (!white(c)) {
      EXPECT_EQ(parse_toml("a = \"\"\"b\\\n  " + utf8(c) + "\"\"\"\n", "f.toml")["a"]
                    .value<std::string>(),
                "b" + utf8(c));
    }
  }
}

TEST(ParseToml, RefusesKeysOfVeryManyParts) {
  std::string key = "a";
  for (int i = 0; i < 500'000; ++i) key += ".a";
  for (const std::string& text : {key + " = 1", "[" + key + "]", "b = {" + key + " = 1}"})
    EXPECT_EQ(fault("# one\n" + text), "f.toml:2: a key of more than 1000 parts");
  // Dots elsewhere are no parts.
  const std::string dots(5000, '.');
  for (const std::string& text :
       {"# " + dots, "a = \"" + dots + "\"", "a = '" + dots + "'", "a = \"b\\\\\" # " + dots,
        "a = \"\\\"" + dots + "\"", "a = \"\"\"\n" + dots + "\"\"\""})
    EXPECT_EQ(fault(text), "") << text.substr(0, 10);
  std::string numbers = "a = [";
  for (int i = 0; i < 5000; ++i) numbers += "1.5,\n";
  EXPECT_EQ(fault(numbers + "]"), "");
}

TEST(ParseToml, RefusesWhatIsNoToml) {
  for (const std::string_view text :
       {"[)", "[[)", "[", "[[", "a.) = 1", "a = {)", "a = [)", "a = )", "a = +", "a = -)",
        "a = 1979-", "a = 0x", "a = 0x)", "\"", "'"})
    EXPECT_TRUE(fault(std::string(text)).starts_with("f.toml:1: ")) << text;
}

}  // namespace
}  // namespace foretrace::machine
