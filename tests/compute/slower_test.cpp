#include "compute/slower.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace foretrace::compute {
namespace {

using Factors = std::vector<double>;

TEST(Slower, RanksAndNodes) {
  EXPECT_TRUE(slower_by_rank(parse_slower(""), {}, 3).empty());
  EXPECT_EQ(slower_by_rank(parse_slower("rank:1=1.5"), {}, 3), (Factors{1, 1.5, 1}));
  EXPECT_EQ(slower_by_rank(parse_slower("rank:0..1=2,rank:1=0.25"), {}, 3), (Factors{2, 0.5, 1}));
  EXPECT_EQ(slower_by_rank(parse_slower("node:4=3"), {4, 7, 4}, 3), (Factors{3, 1, 3}));
  EXPECT_EQ(slower_by_rank(parse_slower("node:0..5=3,rank:2=2"), {4, 7, 4}, 3), (Factors{3, 1, 6}));
}

TEST(Slower, WhatMakesNoSense) {
  for (const char* text : {"3=1.2", "rank:3", "rank:=2", "rank:a=2", "rank:-1=2", "rank:3..1=2",
                           "rank:1..=2", "rank:1=0", "rank:1=-2", "rank:1=nan", "rank:1=inf",
                           "rank:1=2x", "rank:1=2,,rank:2=2", "host:1=2"})
    EXPECT_THROW(parse_slower(text), UsageError) << text;
  const auto refused = [](const char* text, const std::vector<std::int32_t>& nodes) {
    try {
      slower_by_rank(parse_slower(text), nodes, 3);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(refused("rank:1..3=2", {}), "--slower: there is no rank 3; the last one is 2");
  EXPECT_EQ(refused("node:8=2", {4, 7, 4}), "--slower: there is no node 8; the last one is 7");
  EXPECT_EQ(refused("node:0=2", {}),
            "--slower node:0: nothing says which ranks share a node; give --ranks-per-node N or "
            "--placement");
}

}  // namespace
}  // namespace foretrace::compute
