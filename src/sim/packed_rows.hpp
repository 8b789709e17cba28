// PackedRows: rows of whole numbers that are written once, one after the other, and kept in few
// bits. A block of rows has for each column its least number, and as many bits as what is above it
// needs. What is more than memory should hold lies on disk (base/spill.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/spill.hpp"

namespace foretrace::sim {

static_assert(std::endian::native == std::endian::little, "numbers are read from where they lie");

template <std::size_t Columns, std::size_t RowsOfBlock = std::size_t{1} << 12>
class PackedRows {
 public:
  using Row = std::array<std::uint64_t, Columns>;

  std::size_t size() const { return blocks_.size() * RowsOfBlock + last_.size(); }
  std::uint64_t get(std::size_t row, std::size_t column) const {
    const std::size_t block = row / RowsOfBlock;
    const std::size_t at = row % RowsOfBlock;
    return block == blocks_.size() ? last_[at][column] : blocks_[block].get(at, column);
  }
  void push_back(const Row& row) {
    last_.push_back(row);
    if (last_.size() < RowsOfBlock) return;
    blocks_.emplace_back(last_);
    last_.clear();
  }
  // Nothing comes any more, as a rule.
  void shrink_to_fit() { last_.shrink_to_fit(); }

 private:
  class Block {
   public:
    explicit Block(const std::vector<Row>& rows) {
      for (std::size_t c = 0; c < Columns; ++c) {
        const auto [least, most] =
            std::ranges::minmax_element(rows, {}, [c](const Row& row) { return row[c]; });
        const auto width = static_cast<unsigned>(std::bit_width((*most)[c] - (*least)[c]));
        columns_[c] = {(*least)[c],
                       width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1,
                       row_bits_};
        row_bits_ += width;
      }
      // So that the last number can be read as if others followed.
      bits_.resize((rows.size() * row_bits_ + 63) / 64 + 2);
      for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t c = 0; c < Columns; ++c)
          put(i * row_bits_ + columns_[c].first_bit, rows[i][c] - columns_[c].least);
    }
    std::uint64_t get(std::size_t row, std::size_t column) const {
      const Column& one = columns_[column];
      const std::size_t bit = row * row_bits_ + one.first_bit;
      const unsigned shift = bit % 8;
      const char* const from = reinterpret_cast<const char*>(bits_.data()) + bit / 8;
      std::uint64_t number;
      std::memcpy(&number, from, sizeof number);
      number >>= shift;
      if (one.mask >> 57 != 0 && shift != 0) {
        std::uint64_t rest;
        std::memcpy(&rest, from + sizeof number, sizeof rest);
        number |= rest << (64 - shift);
      }
      return one.least + (number & one.mask);
    }

   private:
    struct Column {
      std::uint64_t least = 0;
      std::uint64_t mask = 0;
      std::size_t first_bit = 0;  // of the row
    };

    void put(std::size_t bit, std::uint64_t number) {
      const unsigned shift = bit % 64;
      bits_[bit / 64] |= number << shift;
      if (shift != 0) bits_[bit / 64 + 1] |= number >> (64 - shift);
    }

    std::array<Column, Columns> columns_;
    std::size_t row_bits_ = 0;
    std::vector<std::uint64_t, SpillAllocator<std::uint64_t>> bits_;
  };

  std::vector<Block> blocks_;
  std::vector<Row> last_;  // not yet a block
};

}  // namespace foretrace::sim
