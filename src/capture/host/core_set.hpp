// CoreSet: the processor cores that a rank may run on, and whether the ranks of
// a host have one each. Knows nothing of MPI.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace foretrace::capture {

// One bit for each core, by the system's numbers; travels between ranks as it is.
struct CoreSet {
  std::array<std::uint64_t, 64> bits{};

  void add(int core);
  int count() const;
  bool holds(const CoreSet& other) const;
};

// Those of the calling thread; empty if the system does not say.
CoreSet own_cores();

// Whether more of the host's `ranks` are tied to cores of `own` than there are
// such cores: then some of them have to wait for others.
bool must_share(const CoreSet& own, std::span<const CoreSet> ranks);

// How many ranks the launcher has started on this host, by its environment
// variables; 0 if it does not say.
int ranks_by_launcher();

}  // namespace foretrace::capture
