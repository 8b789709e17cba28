// Who exchanges messages with whom in the experiments with contention, and who
// belongs to which half. No MPI.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

namespace foretrace::measure {

// The numbers 0 to size - 1 in random order; every order is equally likely.
std::vector<int> permutation(int size, std::mt19937_64& random);

// allsend: ranks 0 to h - 1 send, h to 2h - 1 receive, h = order.size(); rank i sends to
// h + order[i]. The partner of `rank`, none for one that is left over.
std::optional<int> allsend_partner(int rank, const std::vector<int>& order);

// The neighbours on a ring, before and after; two ranks are each other's twice.
std::vector<int> ring_neighbours(int rank, int size);
// On an open mesh of rows times columns, ranks row by row: above, left, right,
// below, as far as they are there.
std::vector<int> mesh_neighbours(int rank, int rows, int columns);

enum class Halving { block, alternate, random };
std::string_view name_of(Halving halving);
// Which half, 0 or 1, `rank` belongs to; the first has the odd one. `order`, for
// random: a permutation of the ranks that all agree on.
int half_of(Halving halving, int rank, int size, const std::vector<int>& order);

}  // namespace foretrace::measure
