// The compute table's file: what it says, and what is wrong with it.
#include "machine/compute_table.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace foretrace::machine {
namespace {

std::string fault(const std::string& text) {
  try {
    parse_compute_table(text, "t.toml");
  } catch (const Error& error) {
    return error.what();
  }
  return "was accepted";
}

TEST(ComputeTable, EveryKey) {
  const ComputeTable table = parse_compute_table(
      "source = \"the cluster\"\n[elsewhere]\ntime = \"measured\"\nscale = 0.5\n"
      "[[region]]\nphase = \"solve\"\nvisit = \"12ms\"\n"
      "[[region]]\nphase = \"exchange\"\nvisit = [\"1us\", 2e-6, 0]\nscale = 2\n"
      "[[region]]\nphase = \"sort\"\nstep = \"1.2ns\"\n"
      "[[region]]\nphase = \"fft\"\ntime = \"measured\"\nkernels = { stream = 0.7, sqrt = 2 }\n"
      "[[region]]\nphase = \"print\"\ntime = \"none\"\n",
      "t.toml");
  EXPECT_EQ(table.source, "the cluster");
  EXPECT_EQ(table.elsewhere, (ComputeRegion{"", RegionTime::measured, {}, 0.5, {}}));
  ASSERT_EQ(table.regions.size(), 5u);
  EXPECT_EQ(table.regions[0], (ComputeRegion{"solve", RegionTime::visit, {0.012}, 1, {}}));
  EXPECT_EQ(table.regions[1],
            (ComputeRegion{"exchange", RegionTime::visit, {1e-6, 2e-6, 0}, 2, {}}));
  EXPECT_EQ(table.regions[2], (ComputeRegion{"sort", RegionTime::step, {1.2e-9}, 1, {}}));
  EXPECT_EQ(table.regions[3],
            (ComputeRegion{"fft", RegionTime::measured, {}, 1, {{"stream", 0.7}, {"sqrt", 2}}}));
  EXPECT_EQ(table.regions[4], (ComputeRegion{"print", RegionTime::none, {}, 1, {}}));
}

TEST(ComputeTable, WhatIsWrittenReadsBack) {
  ComputeTable table;
  table.source = "a \"quoted\" origin\n";
  table.elsewhere = {"", RegionTime::step, {1.0 / 3}, 3, {}};
  table.regions = {{"a b", RegionTime::visit, {1.0 / 7, 0, 5e-324}, 1, {}},
                   {"\t", RegionTime::visit, {2}, 0.1, {}},
                   {"c", RegionTime::measured, {}, 0, {{"x y", 1.0 / 3}}},
                   {"d", RegionTime::none, {}, 1, {}}};
  const std::string text = format_compute_table(table);
  EXPECT_EQ(parse_compute_table(text, "again.toml"), table) << text;
}

TEST(ComputeTable, ElsewhereIsNothingIfLeftOut) {
  const ComputeTable table =
      parse_compute_table("[[region]]\nphase = \"a\"\nvisit = 1\n", "t.toml");
  EXPECT_EQ(table.elsewhere, ComputeRegion());
}

TEST(ComputeTableError, NamesLineAndReason) {
  const std::string region = "[[region]]\nphase = \"a\"\n";
  const std::pair<std::string, std::string> faults[] = {
      {"", "t.toml:1: not a compute table"},
      {"[machine]\n", "t.toml:1: compute table: unknown key 'machine'"},
      {"[[region]]\nvisit = 1\n", "t.toml:1: [[region]]: needs a 'phase'"},
      {region, "t.toml:1: [[region]]: needs one of 'visit', 'step' and 'time'"},
      {region + "visit = 1\nstep = 1\n", "needs one of 'visit', 'step' and 'time'"},
      {region + "visit = -1\n", "t.toml:3: [[region]]: 'visit' must be a time, 0 or more"},
      {region + "visit = []\n", "t.toml:3: [[region]]: 'visit' must be a time, or 1 to 65536"},
      {region + "visit = [\"1 light year\"]\n", "'visit' must be a time, 0 or more"},
      {region + "step = nan\n", "must be a finite number"},
      {region + "time = \"guessed\"\n", "t.toml:3: [[region]]: 'time' must be \"none\" or"},
      {region + "time = \"none\"\nscale = -1\n", "'scale' must not be negative"},
      {region + "visit = 1\nkernels = { a = 1 }\n", "'kernels' compare measured times"},
      {region + "time = \"measured\"\nkernels = { a = 0 }\n", "the share of 'a' must be above 0"},
      {region + "time = \"measured\"\nkernels = {}\n", "'kernels' is empty"},
      {region + "visit = 1\n" + region + "visit = 1\n", "t.toml:4: [[region]]: 'a' is there twice"},
      {"[elsewhere]\nvisit = 1\n", "t.toml:2: [elsewhere]: unknown key 'visit'"},
      {"region = 3\n", "t.toml:1: compute table: 'region' must be an array"},
      {"[[region]\n", "t.toml:1: "},
  };
  for (const auto& [text, says] : faults)
    EXPECT_NE(fault(text).find(says), std::string::npos) << text << fault(text);
}

TEST(ComputeTableError, NoSuchFile) {
  EXPECT_THROW(read_compute_table("/no/such/table.toml"), Error);
}

}  // namespace
}  // namespace foretrace::machine
