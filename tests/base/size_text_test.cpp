#include "base/size_text.hpp"

#include <gtest/gtest.h>

namespace foretrace {
namespace {

TEST(ParseSize, Units) {
  EXPECT_EQ(parse_size("17"), 17u);
  EXPECT_EQ(parse_size("17B"), 17u);
  EXPECT_EQ(parse_size("64k"), 65536u);
  EXPECT_EQ(parse_size("64KiB"), 65536u);
  EXPECT_EQ(parse_size("64kB"), 64000u);
  EXPECT_EQ(parse_size("64KB"), 64000u);
  EXPECT_EQ(parse_size("3m"), 3u << 20);
  EXPECT_EQ(parse_size("1G"), 1u << 30);
  EXPECT_EQ(parse_size("18446744073709551615"), UINT64_MAX);
}

TEST(ParseSize, WhatIsNone) {
  for (const char* text :
       {"", "k", "-1", "1.5k", "1 k", "1kb", "1x", "18446744073709551616", "20000000000g"})
    EXPECT_FALSE(parse_size(text)) << text;
}

}  // namespace
}  // namespace foretrace
