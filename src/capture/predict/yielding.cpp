#include "capture/predict/yielding.hpp"

#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "capture/host/core_set.hpp"
#include "capture/host/idle_polls.hpp"
#include "capture/session/own_comm.hpp"

namespace foretrace::capture {
namespace {

bool in_loops = false;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool must_share_cores() {
  MPI_Comm host;
  PMPI_Comm_split_type(own_comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int ranks = 0;
  PMPI_Comm_size(host, &ranks);
  const CoreSet own = own_cores();
  std::vector<CoreSet> all(static_cast<std::size_t>(ranks));
  PMPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, host);
  PMPI_Comm_free(&host);
  return must_share(own, all);
}

// Open MPI yields by itself: a nap would be longer than most of its waits, unless `told`.
void yield(bool on, bool told) {
  in_loops = false;
  bool yields_itself = false;
  if (on) {
    in_loops = !redirect_idle_polls();
    // Open MPI polls idly by sched_yield only when told so. Its launcher says so
    // by the hosts' slots, which need not be their cores.
    if (void* set = ::dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle")) {
      reinterpret_cast<bool (*)(bool)>(set)(true);
      yields_itself = true;
    }
  }
  set_idle_naps(on && (told || !yields_itself));
}

}  // namespace

void begin_yielding_early() {
  const std::string_view mode = variable("FORETRACE_MODE");
  const std::string_view setting = variable("FORETRACE_YIELD");
  if (mode.empty() || mode == "off" || setting == "never") return;
  const bool told = setting == "always";
  if (told || ranks_by_launcher() > ::sysconf(_SC_NPROCESSORS_ONLN)) yield(true, told);
}

bool begin_yielding(Yield setting) {
  const bool shared = must_share_cores();
  const bool told = setting == Yield::always;
  yield(told || (shared && setting == Yield::automatic), told);
  return shared;
}

bool must_yield_in_loops() {
  return in_loops;
}

}  // namespace foretrace::capture
