// mergesort - parallel merge sort.
//
// An array of random integers lies evenly distributed over the ranks. Each
// rank sorts its own part, by bubble sort (much computation) or quicksort. Then
// odd ranks send their data to the even rank before them, which merges; then
// rank 2 sends to 0, 6 to 4, and so on, until after log2(p) phases all lies
// sorted on rank 0. A rank whose partner does not exist goes on without one, so
// any number of ranks will do. Paper: Demaine 1996, "Simulation accuracy".
#include <algorithm>

#include "common/distribution.hpp"
#include "common/options.hpp"
#include "common/phase.hpp"
#include "common/random.hpp"
#include "common/result.hpp"

using namespace programs;

namespace {

enum Algorithm { kBubble, kQuick };

struct Arguments {
  int size = 4000;
  int algorithm = kQuick;
  std::int64_t seed = 1;
};

constexpr int kTag = 1;

std::vector<std::int32_t> random_integers(std::int64_t seed, int first, int count) {
  Random random(seed);
  random.skip(first);
  std::vector<std::int32_t> values(count);
  for (std::int32_t& value : values) value = random.next_below(1 << 30);
  return values;
}

// Both sorts return the number of comparisons made.
std::int64_t bubble_sort(std::vector<std::int32_t>* values) {
  std::int64_t comparisons = 0;
  for (std::size_t end = values->size(); end > 1; --end) {
    for (std::size_t i = 1; i < end; ++i) {
      if ((*values)[i] < (*values)[i - 1]) std::swap((*values)[i], (*values)[i - 1]);
    }
    comparisons += static_cast<std::int64_t>(end) - 1;
  }
  return comparisons;
}

std::int64_t quick_sort(std::int32_t* first, std::int32_t* last) {
  std::int64_t comparisons = 0;
  while (last - first > 1) {
    const std::int32_t pivot = first[(last - first) / 2];
    std::int32_t* low = first;
    std::int32_t* high = last - 1;
    while (low <= high) {
      while (++comparisons, *low < pivot) ++low;
      while (++comparisons, pivot < *high) --high;
      if (low <= high) std::swap(*low++, *high--);
    }
    // The smaller part by a call, the larger one by the loop: depth O(log n).
    if (high + 1 - first < last - low) {
      comparisons += quick_sort(first, high + 1);
      first = low;
    } else {
      comparisons += quick_sort(low, last);
      last = high + 1;
    }
  }
  return comparisons;
}

void sort_locally(int algorithm, std::vector<std::int32_t>* values) {
  const Phase phase("sort");
  const std::int64_t comparisons =
      algorithm == kBubble ? bubble_sort(values)
                           : quick_sort(values->data(), values->data() + values->size());
  FORETRACE_COMPUTE(comparisons);
}

// Merges up the binary tree; the whole sorted array ends up on rank 0.
void merge_tree(const Distribution& parts, std::vector<std::int32_t>* values) {
  const Phase phase("merge");
  const int rank = world_rank();
  const int size = world_size();
  for (int step = 1; step < size; step *= 2) {
    if (rank % (2 * step) != 0) {
      MPI_Send(values->data(), static_cast<int>(values->size()), MPI_INT, rank - step, kTag,
               MPI_COMM_WORLD);
      values->clear();
      return;
    }
    const int partner = rank + step;
    if (partner >= size) continue;
    const int last = std::min(partner + step, size) - 1;
    std::vector<std::int32_t> theirs(parts.end(last) - parts.first(partner));
    MPI_Recv(theirs.data(), static_cast<int>(theirs.size()), MPI_INT, partner, kTag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    std::vector<std::int32_t> merged(values->size() + theirs.size());
    std::merge(values->begin(), values->end(), theirs.begin(), theirs.end(), merged.begin());
    FORETRACE_COMPUTE(merged.size());
    values->swap(merged);
  }
}

int run(int argc, char** argv) {
  Arguments arguments;
  Options options("mergesort", "parallel merge sort");
  options.add_integer("size", &arguments.size, 1, 100000000, "number of integers");
  options.add_choice("algorithm", &arguments.algorithm, {"bubble", "quick"},
                     "how each rank sorts its part");
  options.add_integer("seed", &arguments.seed, 0, 0xffffffff, "random seed");
  {
    const Phase phase("broadcast");
    if (const auto stop = options.share(argc, argv)) return *stop;
  }
  const Distribution parts(arguments.size, world_size());
  std::vector<std::int32_t> values =
      random_integers(arguments.seed, parts.first(world_rank()), parts.count(world_rank()));
  sort_locally(arguments.algorithm, &values);
  merge_tree(parts, &values);
  if (world_rank() != kRoot) return 0;

  const Phase phase("output");
  print_result("mergesort", Digest().add_all(values),
               fact("size", arguments.size) + " " + fact("least", values.front()) + " " +
                   fact("greatest", values.back()));
  if (options.check()) {
    std::vector<std::int32_t> expected = random_integers(arguments.seed, 0, arguments.size);
    std::sort(expected.begin(), expected.end());
    return check_equal("mergesort", "array", expected, values);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
