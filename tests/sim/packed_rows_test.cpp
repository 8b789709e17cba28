// Numbers come back as they were given, whatever their widths.
#include "sim/packed_rows.hpp"

#include <gtest/gtest.h>

#include <random>

namespace foretrace::sim {
namespace {

TEST(PackedRows, GivesBackWhatItGot) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    PackedRows<3, 64> packed;
    std::vector<std::array<std::uint64_t, 3>> rows;
    unsigned widths[3];
    std::uint64_t least[3];
    for (std::size_t i = 0; i < 64 * 7 + static_cast<std::size_t>(round); ++i) {
      if (i % 64 == 0)
        for (std::size_t c = 0; c < 3; ++c) {
          widths[c] = static_cast<unsigned>(random() % 65);
          least[c] = random();
        }
      std::array<std::uint64_t, 3> row;
      for (std::size_t c = 0; c < 3; ++c)
        row[c] = least[c] + (widths[c] == 0 ? 0 : random() >> (64 - widths[c]));
      rows.push_back(row);
      packed.push_back(row);
      // While more is to come, too.
      const std::size_t some = random() % rows.size();
      ASSERT_EQ(packed.get(some, some % 3), rows[some][some % 3]);
    }
    packed.shrink_to_fit();
    ASSERT_EQ(packed.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t c = 0; c < 3; ++c) ASSERT_EQ(packed.get(i, c), rows[i][c]) << i << " " << c;
  }
}

}  // namespace
}  // namespace foretrace::sim
