// In how many pieces the data of a datatype lies in memory, by what its constructors were told
// (MPI_Type_get_contents).
//
// `Types` is what the including side knows of datatypes: its Type, a handle that can be copied, and
//   Contents contents(Type)    of this type; Contents::types are given back to
//   void give_back(Type)
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace foretrace::mpi_api {

template <class Type>
struct TypeContents {
  std::int64_t size = 0;  // of an element, bytes
  std::int64_t lb = 0;
  std::int64_t extent = 0;
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<Type> types;
};

// Of one element.
struct TypePieces {
  std::uint64_t count = 0;
  std::int64_t size = 0;
  std::int64_t extent = 0;
  bool dense = false;  // elements in a row are their bytes in a row
};

namespace pieces {

// Of rows of elements, one after the other.
class Rows {
 public:
  // `length` elements from `at` (bytes) on.
  void add(const TypePieces& element, std::int64_t at, std::int64_t length) {
    if (length <= 0 || element.count == 0) return;
    const auto many = static_cast<std::uint64_t>(length);
    count_ += element.dense ? (is_dense_ && at == end_ ? 0 : 1) : many * element.count;
    is_dense_ = element.dense;
    end_ = at + length * element.extent;
  }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
  bool is_dense_ = false;  // the last one
  std::int64_t end_ = 0;
};

inline std::uint64_t in_a_row(const TypePieces& element, std::int64_t length) {
  Rows row;
  row.add(element, 0, length);
  return row.count();
}

// `count` rows of `length`, `stride` bytes apart.
inline std::uint64_t in_rows(const TypePieces& element, std::int64_t count, std::int64_t length,
                             std::int64_t stride) {
  if (count <= 0) return 0;
  const bool joined = element.dense && stride == length * element.extent;
  return joined ? in_a_row(element, length)
                : static_cast<std::uint64_t>(count) * in_a_row(element, length);
}

// Integers: dimensions, sizes, parts of them, where these start, the order.
inline std::uint64_t in_subarray(const TypePieces& element, const std::vector<int>& integers) {
  const auto dimensions = static_cast<std::size_t>(integers[0]);
  const bool is_c = integers.back() == MPI_ORDER_C;
  std::uint64_t rows = 1;
  std::int64_t length = 1;  // of a row
  bool whole = element.dense;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::size_t fastest = is_c ? dimensions - 1 - i : i;
    const int size = integers[1 + fastest];
    const int part = integers[1 + dimensions + fastest];
    if (whole || i == 0)
      length *= part;
    else
      rows *= static_cast<std::uint64_t>(part);
    whole = whole && part == size;
  }
  return rows * in_a_row(element, length);
}

}  // namespace pieces

template <class Types>
TypePieces pieces_of(Types& types, typename Types::Type type) {
  const auto own = types.contents(type);
  std::vector<TypePieces> children;
  for (const auto child : own.types) {
    children.push_back(pieces_of(types, child));
    types.give_back(child);
  }
  TypePieces all{own.size > 0 ? std::uint64_t{1} : 0, own.size, own.extent, false};
  const auto& n = own.integers;
  const auto count = static_cast<std::size_t>(n.empty() ? 0 : std::max(n[0], 0));
  pieces::Rows rows;
  const auto each_row = [&](auto length, auto at) {
    for (std::size_t i = 0; i < count; ++i) rows.add(children[0], at(i), length(i));
    all.count = rows.count();
  };
  const auto own_length = [&](std::size_t i) { return std::int64_t{n[1 + i]}; };
  const auto same_length = [&](std::size_t) { return std::int64_t{n[1]}; };
  const auto address = [&](std::size_t i) { return std::int64_t{own.addresses[i]}; };
  switch (children.empty() || own.size == 0 ? MPI_COMBINER_NAMED : own.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      all.count = children[0].count;
      break;
    case MPI_COMBINER_CONTIGUOUS:
      all.count = pieces::in_a_row(children[0], n[0]);
      break;
    case MPI_COMBINER_VECTOR:
      all.count = pieces::in_rows(children[0], n[0], n[1], n[2] * children[0].extent);
      break;
    case MPI_COMBINER_HVECTOR:
      all.count = pieces::in_rows(children[0], n[0], n[1], own.addresses[0]);
      break;
    case MPI_COMBINER_INDEXED:
      each_row(own_length, [&](std::size_t i) { return n[1 + count + i] * children[0].extent; });
      break;
    case MPI_COMBINER_HINDEXED:
      each_row(own_length, address);
      break;
    case MPI_COMBINER_INDEXED_BLOCK:
      each_row(same_length, [&](std::size_t i) { return n[2 + i] * children[0].extent; });
      break;
    case MPI_COMBINER_HINDEXED_BLOCK:
      each_row(same_length, address);
      break;
    case MPI_COMBINER_STRUCT:
      for (std::size_t i = 0; i < count; ++i) rows.add(children[i], address(i), own_length(i));
      all.count = rows.count();
      break;
    case MPI_COMBINER_SUBARRAY:
      all.count = pieces::in_subarray(children[0], n);
      break;
    case MPI_COMBINER_DARRAY:  // the whole array, or as if no two elements lay side by side
      if (own.size != own.extent)
        all.count = static_cast<std::uint64_t>(own.size / children[0].size) * children[0].count;
      break;
    default:
      break;
  }
  all.dense = all.count == 1 && own.lb == 0 && own.extent == own.size;
  return all;
}

// What is known of a type for all its messages: the bytes of a piece in the middle. Of pieces that
// long there are few, and a longer one counts as several.
struct PieceLength {
  static constexpr std::uint64_t kLongest = std::numeric_limits<std::uint16_t>::max();
  std::uint16_t length = 0;
  bool dense = true;      // any number of elements lies together
  bool one_piece = true;  // one element does

  std::uint16_t of(std::int64_t count) const {
    return dense || (one_piece && count <= 1) ? 0 : length;
  }
};

template <class Types>
PieceLength piece_length(Types& types, typename Types::Type type) {
  const TypePieces all = pieces_of(types, type);
  if (all.count == 0) return {};
  const auto length = static_cast<std::uint64_t>(all.size) / all.count;
  return {static_cast<std::uint16_t>(std::clamp<std::uint64_t>(length, 1, PieceLength::kLongest)),
          all.dense, all.count == 1};
}

// Of less, hardly anything is to be put together.
inline constexpr std::uint64_t kLeastInPieces = 64;

}  // namespace foretrace::mpi_api
