#include "cli/mpi_detection.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/error.hpp"
#include "cli/process.hpp"

namespace foretrace::cli {
namespace {

bool is_runnable(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

// The dynamic linker that the program asks for; empty: statically linked.
// Throws UsageError if the file is no ELF program of this kind of machine.
std::string interpreter_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    throw UsageError(path +
                     " is not a 64-bit ELF program; if it is a script that starts one, say "
                     "which MPI it uses: --mpi openmpi or --mpi mpich");
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    file.seekg(static_cast<std::streamoff>(header.e_phoff) +
               static_cast<std::streamoff>(i) * header.e_phentsize);
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) break;
    if (segment.p_type != PT_INTERP || segment.p_filesz > 4096) continue;
    std::string name(segment.p_filesz, '\0');
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    file.read(name.data(), static_cast<std::streamsize>(name.size()));
    return name.c_str();
  }
  return "";
}

}  // namespace

const char* name_of(Mpi mpi) {
  return mpi == Mpi::openmpi ? "openmpi" : "mpich";
}

Mpi parse_mpi(const std::string& name) {
  if (name == "openmpi") return Mpi::openmpi;
  if (name == "mpich") return Mpi::mpich;
  throw UsageError("unknown MPI '" + name + "'; use openmpi or mpich");
}

std::string find_program(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    if (is_runnable(program)) return program;
    throw UsageError("cannot run " + program + ": no such program");
  }
  const char* path = std::getenv("PATH");
  std::istringstream directories(path ? path : "");
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string candidate = (directory.empty() ? "." : directory) + "/" + program;
    if (is_runnable(candidate)) return candidate;
  }
  throw UsageError("cannot run " + program + ": not found in PATH");
}

Mpi detect_mpi(const std::string& path) {
  const std::string interpreter = interpreter_of(path);
  if (interpreter.empty())
    throw UsageError(path +
                     " is statically linked: Foretrace works by the dynamic linker; link "
                     "the program dynamically");
  // The dynamic linker knows best what it would load, also through the
  // program's shared libraries and their search paths.
  const std::string loaded = output_of({interpreter, "--list", path});
  if (loaded.find("libmpich.so") != std::string::npos) return Mpi::mpich;
  // Open MPI's is libmpi.so.40, MPICH's may be called libmpi.so.12 elsewhere.
  if (loaded.find("libmpi.so.12") != std::string::npos) return Mpi::mpich;
  if (loaded.find("libmpi.so") != std::string::npos) return Mpi::openmpi;
  throw UsageError(path +
                   " is not an MPI program: it loads neither libmpi.so (Open MPI) nor "
                   "libmpich.so; if it loads MPI later, say which: --mpi openmpi|mpich");
}

}  // namespace foretrace::cli
