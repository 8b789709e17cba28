#include "base/launcher.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace foretrace {
namespace {

struct Variables {
  LauncherKind kind;
  const char* sign;  // only under this launcher
  const char* rank;
  const char* size;  // nullptr: it does not tell
};

// A batch system's come late: its processes may be launchers. It also sets its
// variables where no step was started, all but the number of the step's tasks.
constexpr std::array<Variables, 5> kVariables = {{
    {LauncherKind::openmpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {LauncherKind::hydra, "HYDI_CONTROL_FD", "PMI_RANK", "PMI_SIZE"},
    {LauncherKind::pmi, "PMI_RANK", "PMI_RANK", "PMI_SIZE"},
    {LauncherKind::slurm, "SLURM_PROCID", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
    {LauncherKind::pmix, "PMIX_RANK", "PMIX_RANK", nullptr},
}};

std::optional<int> number_in(const char* name) {
  const char* value = name ? std::getenv(name) : nullptr;
  if (!value) return std::nullopt;
  int number = 0;
  const char* end = value + std::strlen(value);
  const auto parsed = std::from_chars(value, end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < 0) return std::nullopt;
  return number;
}

std::optional<Launcher> find(const Variables& variables) {
  const std::optional<int> rank = number_in(variables.rank);
  if (!rank || !std::getenv(variables.sign)) return std::nullopt;
  return Launcher{variables.kind, *rank == 0, number_in(variables.size).value_or(0)};
}

}  // namespace

const char* name_of(LauncherKind kind) {
  switch (kind) {
    case LauncherKind::openmpi:
      return "Open MPI's mpirun";
    case LauncherKind::hydra:
      return "MPICH's mpirun";
    case LauncherKind::pmi:
      return "a launcher that speaks PMI";
    case LauncherKind::pmix:
      return "a launcher that speaks PMIx";
    case LauncherKind::slurm:
      break;
  }
  return "srun";
}

std::optional<Launcher> find_launcher(LauncherKind own) {
  for (const Variables& variables : kVariables)
    if (variables.kind == own)
      if (const auto found = find(variables)) return found;
  for (const Variables& variables : kVariables)
    if (const auto found = find(variables)) return found;
  return std::nullopt;
}

}  // namespace foretrace
