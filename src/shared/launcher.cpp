#include "shared/launcher.hpp"

namespace foretrace::live {

// As found under Open MPI 4.1's mpirun and MPICH 4.0's (Hydra), without what only the MPIs'
// own libraries read.
std::vector<std::pair<const char*, std::string>> launcher_variables(Launcher launcher,
                                                                    const WorldPlace& place) {
  const std::string rank = std::to_string(place.rank), size = std::to_string(place.size);
  const std::string local_rank = std::to_string(place.local_rank);
  const std::string local_size = std::to_string(place.local_size);
  std::vector<std::pair<const char*, std::string>> variables;
  if (launcher != Launcher::mpich)
    variables.insert(variables.end(), {{"OMPI_COMM_WORLD_RANK", rank},
                                       {"OMPI_COMM_WORLD_SIZE", size},
                                       {"OMPI_COMM_WORLD_LOCAL_RANK", local_rank},
                                       {"OMPI_COMM_WORLD_LOCAL_SIZE", local_size},
                                       {"OMPI_COMM_WORLD_NODE_RANK", local_rank},
                                       {"OMPI_UNIVERSE_SIZE", std::to_string(place.universe)},
                                       {"OMPI_APP_CTX_NUM_PROCS", size},
                                       {"OMPI_NUM_APP_CTX", "1"},
                                       {"OMPI_FIRST_RANKS", "0"},
                                       {"PMIX_RANK", rank}});
  if (launcher != Launcher::openmpi)
    variables.insert(variables.end(), {{"PMI_RANK", rank},
                                       {"PMI_SIZE", size},
                                       {"MPI_LOCALRANKID", local_rank},
                                       {"MPI_LOCALNRANKS", local_size}});
  return variables;
}

}  // namespace foretrace::live
