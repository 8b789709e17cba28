#include "measure/core/patterns.hpp"

#include <algorithm>
#include <numeric>

namespace foretrace::measure {

// Fisher and Yates. The standard's own shuffle differs between libraries.
std::vector<int> permutation(int size, std::mt19937_64& random) {
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

std::optional<int> allsend_partner(int rank, const std::vector<int>& order) {
  const int half = static_cast<int>(order.size());
  if (rank < half) return half + order[static_cast<std::size_t>(rank)];
  const auto sender = std::ranges::find(order, rank - half);
  if (sender == order.end()) return std::nullopt;
  return static_cast<int>(sender - order.begin());
}

std::vector<int> ring_neighbours(int rank, int size) {
  return {(rank + size - 1) % size, (rank + 1) % size};
}

std::vector<int> mesh_neighbours(int rank, int rows, int columns) {
  std::vector<int> neighbours;
  const int row = rank / columns;
  const int column = rank % columns;
  if (row > 0) neighbours.push_back(rank - columns);
  if (column > 0) neighbours.push_back(rank - 1);
  if (column + 1 < columns) neighbours.push_back(rank + 1);
  if (row + 1 < rows) neighbours.push_back(rank + columns);
  return neighbours;
}

std::string_view name_of(Halving halving) {
  constexpr std::string_view kNames[] = {"block", "alternate", "random"};
  return kNames[static_cast<std::size_t>(halving)];
}

int half_of(Halving halving, int rank, int size, const std::vector<int>& order) {
  const int first = (size + 1) / 2;
  switch (halving) {
    case Halving::block:
      return rank < first ? 0 : 1;
    case Halving::alternate:
      return rank % 2;
    case Halving::random:
      return order[static_cast<std::size_t>(rank)] < first ? 0 : 1;
  }
  return 0;
}

}  // namespace foretrace::measure
