#include "capture/session/start_up.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <thread>

#include "base/launcher.hpp"
#include "base/other_mpi.hpp"
#include "base/preload.hpp"
#include "base/whole_file.hpp"
#include "capture/session/own_comm.hpp"

namespace foretrace::capture {

namespace {
bool loaded = false;
__attribute__((constructor)) void note_loaded() {
  loaded = true;
}
}  // namespace

bool is_loaded() {
  return loaded;
}

void tell_of_early_init() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::fputs(
        "foretrace: MPI_Init is called by a constructor of a library, before Foretrace is there; "
        "the program runs on without Foretrace. A live run (simulate -n) can do it\n",
        stderr);
}

void say(const std::string& message) {
  std::fprintf(stderr, "foretrace: %s\n", message.c_str());
}

void end_program() {
  std::fflush(stderr);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  PMPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

bool all_agree(bool mine) {
  int in = mine ? 1 : 0;
  int out = 0;
  PMPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MIN, own_comm);
  return out != 0;
}

void warn_of_another_mpi() {
  const std::string complaint = complain_of_other_mpi(FORETRACE_MPI_NAME);
  if (complaint.empty()) return;
  // The launcher tells the rank: a call with these handles may end the program.
  const auto launcher = find_launcher();
  if (!launcher || launcher->first) say(complaint);
}

bool runs_alone(int world_size) {
  const std::string_view mpi = FORETRACE_MPI_NAME;
  const bool openmpi = mpi == "openmpi";
  const auto launcher = find_launcher(openmpi ? LauncherKind::openmpi : LauncherKind::hydra);
  if (world_size != 1 || !launcher || launcher->size <= 1) return false;
  if (launcher->first)
    say(std::string(name_of(launcher->kind)) + " started " + std::to_string(launcher->size) +
        " processes, but each of them is rank 0 of 1: the program's MPI (" +
        (openmpi ? "Open MPI" : "MPICH") +
        ") does not hear this launcher. Start it by that MPI's own: mpirun." + std::string(mpi) +
        ", in a container the one inside, or srun with --mpi=" + (openmpi ? "pmix" : "pmi2") +
        ". The program runs on without Foretrace");
  return true;
}

void leave_empty(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd >= 0) ::close(fd);
}

std::string command_line() {
  std::string text = read_if_possible("/proc/self/cmdline");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text)
    if (c == '\0') c = ' ';
  return text;
}

void leave_environment() {
  take_out_of_preload("/libforetrace-");
}

}  // namespace foretrace::capture
