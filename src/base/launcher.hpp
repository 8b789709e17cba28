// What started this process as one of several: MPI's launchers and batch systems
// tell each process its number, and how many there are, by environment variables.
#pragma once

#include <optional>

namespace foretrace {

enum class LauncherKind { openmpi, hydra, pmi, pmix, slurm };

struct Launcher {
  LauncherKind kind = LauncherKind::openmpi;
  bool first = false;  // the process is its number 0
  int size = 0;        // processes that it started; 0: it does not say
};

// "Open MPI's mpirun"
const char* name_of(LauncherKind kind);

// Launchers inside each other leave several sets of variables: those of `own` count
// before others. Nothing where no launcher is known.
std::optional<Launcher> find_launcher(LauncherKind own = LauncherKind::openmpi);

}  // namespace foretrace
