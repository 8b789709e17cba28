// The environment that an MPI's own launcher gives each rank: programs and scripts look
// there for what they have to know before MPI_Init (which GPU is theirs, whether there
// is MPI at all).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace foretrace::live {

// Whose. Programs for the standard's ABI may look for either.
enum class Launcher : std::int32_t { openmpi, mpich, any };

// A rank among those of its MPI_COMM_WORLD, and among those of them on its node.
struct WorldPlace {
  std::int32_t rank = 0;
  std::int32_t size = 1;
  std::int32_t local_rank = 0;
  std::int32_t local_size = 1;
  std::int32_t universe = 1;  // MPI_UNIVERSE_SIZE
};

// Names and values.
std::vector<std::pair<const char*, std::string>> launcher_variables(Launcher launcher,
                                                                    const WorldPlace& place);

}  // namespace foretrace::live
