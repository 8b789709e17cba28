#include "capture/host/core_set.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace foretrace::capture {
namespace {

// Set in each rank: Open MPI's launcher, MPICH's.
constexpr const char* kLocalSizeVariables[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};

}  // namespace

void CoreSet::add(int core) {
  const auto index = static_cast<std::size_t>(core);
  if (index < 64 * bits.size()) bits[index / 64] |= std::uint64_t{1} << index % 64;
}

int CoreSet::count() const {
  return std::accumulate(bits.begin(), bits.end(), 0,
                         [](int sum, std::uint64_t word) { return sum + std::popcount(word); });
}

bool CoreSet::holds(const CoreSet& other) const {
  for (std::size_t i = 0; i < bits.size(); ++i)
    if (other.bits[i] & ~bits[i]) return false;
  return true;
}

CoreSet own_cores() {
  CoreSet set;
  alignas(cpu_set_t) CoreSet raw;
  auto* mask = reinterpret_cast<cpu_set_t*>(raw.bits.data());
  if (::sched_getaffinity(0, sizeof raw.bits, mask) != 0) return set;
  for (int core = 0; core < static_cast<int>(8 * sizeof raw.bits); ++core)
    if (CPU_ISSET_S(core, sizeof raw.bits, mask)) set.add(core);
  return set;
}

bool must_share(const CoreSet& own, std::span<const CoreSet> ranks) {
  if (own.count() == 0) return false;
  return std::ranges::count_if(ranks, [&own](const CoreSet& set) { return own.holds(set); }) >
         own.count();
}

int ranks_by_launcher() {
  for (const char* name : kLocalSizeVariables) {
    const char* value = std::getenv(name);
    if (!value) continue;
    int ranks = 0;
    const char* end = value + std::strlen(value);
    if (std::from_chars(value, end, ranks).ptr == end && ranks > 0) return ranks;
  }
  return 0;
}

}  // namespace foretrace::capture
