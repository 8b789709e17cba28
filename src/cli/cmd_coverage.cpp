#include <cstdio>
#include <map>
#include <string>

#include "cli/function_list.hpp"
#include "cli/subcommand.hpp"

namespace foretrace::cli {
namespace {

const char* meaning(std::string_view treatment) {
  if (treatment == "generic") return "state";
  if (treatment == "untreated") return "state, no virtual time yet";
  return "full";
}

int coverage() {
  std::map<std::string, std::map<std::string, std::string>> rows;
  for (const char* mpi : {"openmpi", "mpich"})
    for (const ListedFunction& function : functions_of(mpi))
      rows[std::string(function.name)][mpi] = meaning(function.treatment);
  std::printf("%-36s %-28s %s\n", "function", "Open MPI", "MPICH");
  const auto cell = [](const std::map<std::string, std::string>& row, const char* mpi) {
    const auto found = row.find(mpi);
    return found == row.end() ? "-" : found->second.c_str();
  };
  for (const auto& [name, row] : rows)
    std::printf("%-36s %-28s %s\n", name.c_str(), cell(row, "openmpi"), cell(row, "mpich"));
  return 0;
}

std::function<int()> declare(CLI::App&) {
  return coverage;
}

}  // namespace

const Subcommand kCoverage{"coverage", "List every MPI function and how it is treated", declare};

}  // namespace foretrace::cli
