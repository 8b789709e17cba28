// Kernel levels: how much data the kernels work on that tell one level of the
// memory from another. No MPI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace foretrace::measure {

// Where the data of the kernels `stream-NAME` and `random-NAME` lie, and how many bytes
// they are.
struct KernelLevel {
  std::string name;  // l1, l2, l3, memory
  std::uint64_t bytes;
};

// Of a machine; 0: unknown.
struct CacheSizes {
  std::uint64_t l1 = 0;
  std::uint64_t l2 = 0;
  std::uint64_t l3 = 0;
  std::uint64_t memory = 0;
  int cores = 1;
};
CacheSizes find_cache_sizes();

// Half of each cache, of the third a core's share, but at least twice the cache
// before; of the memory twice the last cache. A level that would be no larger
// than this, or whose cache is not known, is left out; so is memory where all
// cores together would take more than a quarter of it.
std::vector<KernelLevel> kernel_levels(const CacheSizes& caches);

}  // namespace foretrace::measure
