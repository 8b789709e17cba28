#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "cli/machines/function_list.hpp"
#include "cli/subcommand.hpp"
#include "cli/system/process.hpp"

namespace foretrace::cli {
namespace coverage_command {
namespace {

const char* meaning(std::string_view treatment) {
  if (treatment == "generic") return "state";
  if (treatment.starts_with("untreated")) return "state, no virtual time yet";
  return "full";
}

// By function and MPI.
using Rows = std::map<std::string, std::map<std::string, std::string>>;

Rows captured() {
  Rows rows;
  for (const char* mpi : {"openmpi", "mpich"})
    for (const ListedFunction& function : functions_of(mpi))
      rows[std::string(function.name)][mpi] = meaning(function.treatment);
  return rows;
}

// What our MPI libraries have, as the build found: a function and yes or no on each line.
Rows simulated() {
  Rows rows;
  for (const char* mpi : {"openmpi", "mpich", "standard"}) {
    std::ifstream list(library_directory() + "/live_coverage-" + mpi + ".txt");
    std::string name;
    std::string there;
    while (list >> name >> there) rows[name][mpi] = there == "yes" ? "simulated" : "missing";
  }
  return rows;
}

int coverage(bool live) {
  const Rows rows = live ? simulated() : captured();
  const auto cell = [](const std::map<std::string, std::string>& row, const char* mpi) {
    const auto found = row.find(mpi);
    return found == row.end() ? "-" : found->second.c_str();
  };
  if (live) {
    std::printf("%-36s %-12s %-12s %s\n", "function", "Open MPI", "MPICH", "standard ABI");
    for (const auto& [name, row] : rows)
      std::printf("%-36s %-12s %-12s %s\n", name.c_str(), cell(row, "openmpi"), cell(row, "mpich"),
                  cell(row, "standard"));
    return 0;
  }
  std::printf("%-36s %-28s %s\n", "function", "Open MPI", "MPICH");
  for (const auto& [name, row] : rows)
    std::printf("%-36s %-28s %s\n", name.c_str(), cell(row, "openmpi"), cell(row, "mpich"));
  return 0;
}

std::function<int()> declare(CLI::App& app) {
  const auto live = std::make_shared<bool>(false);
  app.add_flag("--live", *live, "What simulate -n has of MPI, instead of record and predict");
  return [live] { return coverage(*live); };
}

}  // namespace
}  // namespace coverage_command

const Subcommand kCoverage{"coverage", "List every MPI function and how it is treated",
                           coverage_command::declare,
                           "foretrace coverage\n"
                           "foretrace coverage --live\n"};

}  // namespace foretrace::cli
