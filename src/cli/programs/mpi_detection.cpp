#include "cli/programs/mpi_detection.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/error.hpp"
#include "cli/programs/elf_program.hpp"
#include "cli/system/process.hpp"

namespace foretrace::cli {
namespace {

// Why `path` cannot be run; "" if it can.
std::string obstacle(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0)
    return errno == ENOENT || errno == ENOTDIR ? "there is no such file" : std::strerror(errno);
  if (S_ISDIR(status.st_mode)) return "it is a folder";
  if (!S_ISREG(status.st_mode)) return "it is no regular file";
  if (::access(path.c_str(), X_OK) != 0)
    return "it is not executable (a program has to be compiled; a script needs chmod +x)";
  return "";
}

bool is_runnable(const std::string& path) {
  return obstacle(path).empty();
}

// The program's own MPI, by what the dynamic linker would load for it.
std::optional<Mpi> loaded_mpi(const std::string& path, const ElfProgram& program) {
  // The dynamic linker knows best what it would load, also through the
  // program's shared libraries and their search paths.
  const std::string loaded = output_of({program.interpreter, "--list", path});
  if (loaded.empty())
    throw UsageError("cannot run " + path +
                     ": the dynamic linker does not find all of its libraries (see the line " +
                     "before); name their folder in LD_LIBRARY_PATH");
  if (loaded.find("libmpi_abi.so") != std::string::npos) return Mpi::standard;
  if (loaded.find("libmpich.so") != std::string::npos) return Mpi::mpich;
  // Open MPI's is libmpi.so.40, MPICH's may be called libmpi.so.12 elsewhere.
  if (loaded.find("libmpi.so.12") != std::string::npos) return Mpi::mpich;
  if (loaded.find("libmpi.so") != std::string::npos) return Mpi::openmpi;
  return std::nullopt;
}

}  // namespace

const char* name_of(Mpi mpi) {
  switch (mpi) {
    case Mpi::openmpi:
      return "openmpi";
    case Mpi::mpich:
      return "mpich";
    case Mpi::standard:
      break;
  }
  return "standard";
}

Mpi parse_mpi(const std::string& name) {
  if (name == "openmpi") return Mpi::openmpi;
  if (name == "mpich") return Mpi::mpich;
  if (name == "standard") return Mpi::standard;
  throw UsageError("unknown MPI '" + name + "'; use openmpi, mpich or, for live runs, standard");
}

std::string find_program(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    const std::string why = obstacle(program);
    if (why.empty()) return program;
    throw UsageError("cannot run " + program + ": " + why);
  }
  const char* path = std::getenv("PATH");
  std::istringstream directories(path ? path : "");
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string candidate = (directory.empty() ? "." : directory) + "/" + program;
    if (is_runnable(candidate)) return candidate;
  }
  const std::string hint =
      is_runnable("./" + program) ? "; the one in this folder is ./" + program : "";
  throw UsageError("cannot run " + program + ": not found in PATH" + hint);
}

bool loads(const std::string& path, const std::string& library) {
  const ElfProgram program = read_elf(path);
  return program.is_elf && !program.interpreter.empty() &&
         output_of({program.interpreter, "--list", path}).find(library) != std::string::npos;
}

void let_asan_stand_behind(const std::string& path) {
  constexpr const char* kOptions = "ASAN_OPTIONS";
  if (!read_elf(path).uses_asan) return;
  const char* const given = std::getenv(kOptions);
  // What is said last counts; the program's user may want it otherwise.
  const std::string own = "verify_asan_link_order=0";
  ::setenv(kOptions, (given && *given ? own + ":" + given : own).c_str(), 1);
}

namespace {

// By its name: mpirun.openmpi, srun.
bool is_launcher(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return std::ranges::any_of(std::array{"mpirun", "mpiexec", "orterun", "prterun", "srun", "aprun"},
                             [&name](const char* known) { return name.starts_with(known); });
}

}  // namespace

Mpi mpi_of(const std::string& path, const std::optional<std::string>& given) {
  const ElfProgram program = read_elf(path);
  if (program.is_elf && program.interpreter.empty())
    throw UsageError(path +
                     " is statically linked: Foretrace works by the dynamic linker; link "
                     "the program dynamically");
  if (program.is_elf && program.holds_mpi)
    throw UsageError(path +
                     ": MPI is linked into it statically, where nobody can see its calls; link "
                     "it with the MPI's shared library");
  if (given && !program.is_elf) return parse_mpi(*given);
  if (!given && is_launcher(path) && !(program.is_elf && loaded_mpi(path, program)))
    throw UsageError(path +
                     " starts programs: name the program alone, as in foretrace COMMAND -n 4 -- "
                     "./app, or put the launcher first: mpirun -n 4 foretrace COMMAND -- ./app "
                     "(a script of your own: say --mpi openmpi or --mpi mpich)");
  if (!program.is_elf)
    throw UsageError(
        path +
        " is no compiled program for this machine (64-bit ELF); if it is a script that "
        "starts one, say which MPI it uses: --mpi openmpi or --mpi mpich");
  const std::optional<Mpi> loaded = loaded_mpi(path, program);
  if (given && loaded.value_or(parse_mpi(*given)) != parse_mpi(*given))
    throw UsageError(path + " was built for " + name_of(*loaded) + ", not for " + *given +
                     "; leave out --mpi");
  if (given) return parse_mpi(*given);
  if (!loaded)
    throw UsageError(
        path +
        " is not an MPI program: it loads neither libmpi.so (Open MPI) nor "
        "libmpich.so nor libmpi_abi.so; if it loads MPI later, say which: --mpi openmpi|mpich");
  return *loaded;
}

}  // namespace foretrace::cli
