#include "measure/experiments/scratch_file.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "measure/campaign/measure.hpp"

namespace foretrace::measure {
namespace {

std::array<char, 4096> made{};  // the file that rank 0 has made, for the handler

// A launcher that is interrupted ends its ranks by a signal.
void remove_when_ended(const std::string& path) {
  if (path.size() >= made.size()) return;
  path.copy(made.data(), path.size());
  made[path.size()] = '\0';
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    ::signal(signal, [](int which) {
      ::unlink(made.data());
      ::signal(which, SIG_DFL);
      ::raise(which);
    });
}

// Rank 0: reserves the room, so that the disk cannot be full later. Returns
// what is in the way, or nothing.
std::string reserve(const std::string& path, std::uint64_t bytes) {
  const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return std::strerror(errno);
  const int status = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  ::close(file);
  if (status == 0) {
    remove_when_ended(path);
    return {};
  }
  ::unlink(path.c_str());
  return std::strerror(status);
}

bool all_agree(bool mine, MPI_Comm comm) {
  int agreed = mine;
  MPI_Allreduce(MPI_IN_PLACE, &agreed, 1, MPI_INT, MPI_LAND, comm);
  return agreed != 0;
}

// Every rank writes its part, and reads what the next one wrote.
bool is_shared(const Group& world, const std::string& path, std::uint64_t bytes_each) {
  MPI_File file;
  const bool opened =
      MPI_File_open(world.comm, path.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS;
  if (!all_agree(opened, world.comm)) {
    if (opened) MPI_File_close(&file);
    return false;
  }
  const auto place = [&](int rank) { return static_cast<MPI_Offset>(bytes_each) * rank; };
  std::vector<char> data(bytes_each, static_cast<char>(world.rank % 100 + 1));
  bool fine = MPI_File_write_at(file, place(world.rank), data.data(), static_cast<int>(bytes_each),
                                MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS;
  fine &= MPI_File_sync(file) == MPI_SUCCESS;
  MPI_Barrier(world.comm);
  fine &= MPI_File_sync(file) == MPI_SUCCESS;
  const int next = (world.rank + 1) % world.size;
  char found = 0;
  fine &=
      MPI_File_read_at(file, place(next), &found, 1, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
      found == next % 100 + 1;
  fine &= MPI_File_close(&file) == MPI_SUCCESS;
  return all_agree(fine, world.comm);
}

std::string broadcast(std::string text, MPI_Comm comm) {
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, comm);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, comm);
  return text;
}

}  // namespace

ScratchFile make_scratch_file(const Group& world, const std::vector<std::string>& folders,
                              std::uint64_t bytes_each) {
  ScratchFile file;
  const char* const given = std::getenv(kScratchVariable);
  const std::string name =
      given ? given : "foretrace-measure-" + std::to_string(::getpid()) + ".tmp";
  for (const std::string& folder : folders) {
    std::string path = folder + "/" + name;
    path = broadcast(path, world.comm);
    std::string problem;
    if (world.rank == 0)
      problem = reserve(path, bytes_each * static_cast<std::uint64_t>(world.size));
    problem = broadcast(problem, world.comm);
    if (problem.empty() && !is_shared(world, path, bytes_each)) {
      problem = "the ranks do not all see what others write there";
      if (world.rank == 0) ::unlink(path.c_str());
    }
    if (problem.empty()) {
      file.path = path;
      return file;
    }
    file.reason += (file.reason.empty() ? "" : "; ") + path + ": " + problem;
  }
  return file;
}

void remove_scratch_file(const Group& world, const ScratchFile& file) {
  MPI_Barrier(world.comm);
  if (world.rank == 0 && !file.path.empty()) ::unlink(file.path.c_str());
}

}  // namespace foretrace::measure
