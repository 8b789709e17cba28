// Who is whose neighbour, for neighbourhood collectives, which consist of messages.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace foretrace::mpi_api {

// The tags of the messages that collectives consist of: this one and above.
inline constexpr int kCollectiveTag = 0x70000000;

// The partners of a rank, in the order of the buffers' parts. `slot` tells the
// messages between two ranks apart.
struct Neighbourhood {
  struct Link {
    int partner;  // may be MPI_PROC_NULL
    int slot;
  };
  std::vector<Link> in, out;
};

// Where the two neighbours of a dimension are the same rank, what goes down comes
// from above (MPI 4.0, 8.6): a message's slot is the receiver's.
inline Neighbourhood grid_neighbourhood(const std::vector<int>& dims,
                                        const std::vector<int>& periods,
                                        const std::vector<int>& coords) {
  Neighbourhood found;
  const std::size_t dimensions = dims.size();
  for (std::size_t d = 0; d < dimensions; ++d)
    for (const int step : {-1, 1}) {
      int partner = 0;
      bool outside = false;
      for (std::size_t i = 0; i < dimensions; ++i) {
        int at = coords[i] + (i == d ? step : 0);
        if (at < 0 || at >= dims[i]) {
          outside = !periods[i];
          at = (at + dims[i]) % dims[i];
        }
        partner = partner * dims[i] + at;
      }
      if (outside) partner = MPI_PROC_NULL;
      const int slot = static_cast<int>(found.in.size());
      found.in.push_back({partner, slot});
      found.out.push_back({partner, slot ^ 1});
    }
  return found;
}

// The n-th message to a neighbour meets the n-th receive that names this rank.
inline Neighbourhood listed_neighbourhood(const std::vector<int>& sources,
                                          const std::vector<int>& destinations) {
  Neighbourhood found;
  for (const int source : sources) found.in.push_back({source, 0});
  for (const int destination : destinations) found.out.push_back({destination, 0});
  return found;
}

}  // namespace foretrace::mpi_api
