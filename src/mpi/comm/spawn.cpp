// Processes that the program starts.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "live_impl.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/core/block.hpp"
#include "mpi/core/info.hpp"
#include "mpi/core/line.hpp"
#include "mpi/core/simulator.hpp"
#include "shared/birth.hpp"

namespace foretrace::mpi {
namespace {

bool can_execute(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

// The program of this name: in the directory where it is to run, or in one of the
// list; empty if there is none.
std::string find_program(const std::string& name, const std::filesystem::path& directory,
                         const std::string& list) {
  const std::filesystem::path here = std::filesystem::absolute(directory / name);
  if (name.find('/') != std::string::npos) return can_execute(here) ? here.string() : "";
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    const std::filesystem::path path = list.substr(begin, end - begin) + "/" + name;
    if (can_execute(path)) return std::filesystem::absolute(path).string();
    begin = end + 1;
  }
  return can_execute(here) ? here.string() : "";
}

// What one command of the call asks for; `error` if it cannot be had.
Application application_of(const char* command, char** arguments, int count, const Info* info,
                           std::string& error) {
  Application application;
  application.count = count;
  const std::string* const directory = info ? info->find("wdir") : nullptr;
  if (directory) application.directory = *directory;
  const std::string* list = info ? info->find("path") : nullptr;
  const char* const usual = std::getenv("PATH");
  const std::string program =
      find_program(command, application.directory.empty() ? "." : application.directory,
                   list    ? *list
                   : usual ? usual
                           : "");
  if (program.empty()) error = "there is no program '" + std::string(command) + "'";
  if (count < 0) error = std::to_string(count) + " processes";
  application.words.push_back(program);
  for (; arguments && *arguments; ++arguments) application.words.emplace_back(*arguments);
  // Started where this process is, not where the simulator is.
  if (application.directory.empty()) {
    std::error_code none;
    application.directory = std::filesystem::current_path(none).string();
  }
  return application;
}

// Has the simulator start them: the children's ranks, and the context that they
// share with the parents.
Agreement start(const SpawnRequest& request, std::string& error) {
  const std::vector<char> bytes = to_bytes(request);
  Record record = line.record(trace::EventKind::call);
  record.posting = Posting::spawn;
  record.list_count = static_cast<std::uint32_t>(bytes.size());
  record.list = allocate_shared(bytes.size());
  std::memcpy(address_of(record.list), bytes.data(), bytes.size());
  const Answer& answer = line.ask(record);
  Agreement made{.context = answer.context, .first = 1, .remote = {}};
  for (std::uint32_t i = 0; i < answer.member_count; ++i)
    made.remote.push_back(answer.first + static_cast<int>(i));
  int wanted = 0;
  for (const Application& application : request.applications) wanted += application.count;
  if (made.remote.empty())
    error = wanted == 0 ? "no processes to start"
                        : "no room for " + std::to_string(wanted) +
                              " processes; give simulate the option --spawn N";
  return made;
}

}  // namespace

namespace impl {

int Comm_spawn_multiple(int count, char* commands[], char** argv[], const int maxprocs[],
                        const MPI_Info infos[], int root, MPI_Comm handle, MPI_Comm* intercomm,
                        int errcodes[]) {
  Comm* comm = get(handle);
  if (const int refused = check_group(comm, root)) return refused;
  *intercomm = MPI_COMM_NULL;
  std::string error;
  Block told;
  if (comm->rank == root) {
    SpawnRequest request;
    for (int i = 0; i < count; ++i)
      request.applications.push_back(application_of(commands[i], argv ? argv[i] : nullptr,
                                                    maxprocs[i], get<Info>(infos[i]), error));
    request.parents = comm->group->members;
    Agreement made;
    if (error.empty()) made = start(request, error);
    made.refusal = error;
    told = to_block(made);
    if (!error.empty() && errcodes != MPI_ERRCODES_IGNORE) {
      int wanted = 0;
      for (int i = 0; i < count; ++i) wanted += std::max(maxprocs[i], 0);
      std::fill_n(errcodes, wanted, MPI_ERR_SPAWN);
    }
  }
  Comm* made = make_inter(*comm, root, std::move(told), error);
  if (!made) return raise(comm, MPI_ERR_SPAWN, error);
  if (errcodes != MPI_ERRCODES_IGNORE) std::fill_n(errcodes, made->remote->size(), MPI_SUCCESS);
  *intercomm = handle_of(made);
  return MPI_SUCCESS;
}

int Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
               MPI_Comm comm, MPI_Comm* intercomm, int errcodes[]) {
  char* name = const_cast<char*>(command);
  return Comm_spawn_multiple(1, &name, &argv, &maxprocs, &info, root, comm, intercomm, errcodes);
}

}  // namespace impl
}  // namespace foretrace::mpi
