#include "measure/experiments/fingerprint.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <new>
#include <set>
#include <vector>

#include "measure/experiments/clock.hpp"

extern char** environ;

namespace foretrace::measure {
namespace {

constexpr int kFingerprintTag = 4;

// Memory that two processes of a host share; nullptr if the system gives none.
CacheLine* share_line(MPI_Comm host, int rank) {
  std::int64_t id = ::getpid();
  MPI_Bcast(&id, 1, MPI_INT64_T, 0, host);
  const std::string name = "/foretrace-measure-" + std::to_string(id);
  const auto map = [&name](int flags) -> CacheLine* {
    const int file = ::shm_open(name.c_str(), flags, 0600);
    if (file < 0) return nullptr;
    void* memory = MAP_FAILED;
    if ((flags & O_CREAT) == 0 || ::ftruncate(file, sizeof(CacheLine)) == 0)
      memory = ::mmap(nullptr, sizeof(CacheLine), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    return memory == MAP_FAILED ? nullptr : static_cast<CacheLine*>(memory);
  };
  CacheLine* line = nullptr;
  if (rank == 0) {
    line = map(O_RDWR | O_CREAT | O_TRUNC);
    if (line != nullptr) new (line) CacheLine;
  }
  MPI_Barrier(host);
  if (rank == 1) line = map(O_RDWR);
  MPI_Barrier(host);
  if (rank == 0) ::shm_unlink(name.c_str());
  // Both or neither.
  int have = line != nullptr || rank > 1;
  MPI_Allreduce(MPI_IN_PLACE, &have, 1, MPI_INT, MPI_LAND, host);
  if (!have && line != nullptr) {
    ::munmap(line, sizeof(CacheLine));
    line = nullptr;
  }
  return line;
}

// More than a core's own caches hold, fast enough to be done between two
// interruptions; the best of several.
double measure_bandwidth() {
  constexpr std::size_t kBytes = 8 << 20;
  constexpr int kTimes = 12;
  std::vector<char> from(kBytes, 1), to(kBytes, 2);
  std::int64_t shortest = INT64_MAX;
  for (int i = 0; i < kTimes; ++i) {
    const std::int64_t begin = now_ns();
    std::memcpy(to.data(), from.data(), kBytes);
    asm volatile("" : : "r"(to.data()) : "memory");
    shortest = std::min(shortest, now_ns() - begin);
  }
  return 1e9 * static_cast<double>(kBytes) /
         static_cast<double>(std::max<std::int64_t>(1, shortest));
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name") && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return {};
}

// "0-3,8", as the kernel writes sets of cores.
std::string own_cores() {
  std::ifstream file("/proc/self/status");
  const std::string key = "Cpus_allowed_list:";
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return line.substr(line.find_first_not_of(" \t", key.size()));
  return "unknown";
}

// Every rank's cores in the order of the ranks, equal neighbours once.
std::string all_cores(MPI_Comm world) {
  constexpr int kLength = 128;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  char mine[kLength] = {};
  own_cores().copy(mine, kLength - 1);
  std::vector<char> all(static_cast<std::size_t>(rank == 0 ? size * kLength : 1));
  MPI_Gather(mine, kLength, MPI_CHAR, all.data(), kLength, MPI_CHAR, 0, world);
  std::string text;
  for (int r = 0; rank == 0 && r < size;) {
    const std::string cores = all.data() + r * kLength;
    int last = r;
    while (last + 1 < size && cores == all.data() + (last + 1) * kLength) ++last;
    if (!text.empty()) text += "; ";
    text += (last == r ? "rank " + std::to_string(r)
                       : "ranks " + std::to_string(r) + "-" + std::to_string(last)) +
            ": " + cores;
    r = last + 1;
  }
  return text;
}

// What the user, or the site, set: the launchers' own variables say where
// processes are and change every time.
std::string mpi_settings() {
  static constexpr std::array<const char*, 7> kOurs{"OMPI_MCA_", "MPICH_", "MPIR_CVAR_", "UCX_",
                                                    "I_MPI_",    "FI_",    "MV2_"};
  static constexpr std::array<const char*, 7> kLaunchers{"OMPI_MCA_orte_",
                                                         "OMPI_MCA_ess",
                                                         "OMPI_MCA_initial_wdir",
                                                         "OMPI_MCA_shmem_RUNTIME",
                                                         "OMPI_MCA_mpi_oversu",
                                                         "OMPI_MCA_pmix",
                                                         "MPIR_CVAR_CH3_INTERFACE_HOSTNAME"};
  std::set<std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto begins = [&text](const char* with) { return text.starts_with(with); };
    if (std::ranges::any_of(kOurs, begins) && std::ranges::none_of(kLaunchers, begins))
      found.insert(text);
  }
  std::string all;
  for (const std::string& text : found) all += (all.empty() ? "" : " ") + text;
  std::ranges::replace_if(
      all, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return all.empty() ? "none" : all;
}

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string version(text, static_cast<std::size_t>(length));
  // MPICH tells its whole configuration; the first line or clause is the name.
  version = version.substr(0, version.find_first_of("\n,"));
  std::ranges::replace(version, '\t', ' ');
  return version;
}

}  // namespace

LineWatch::LineWatch(MPI_Comm world) {
  MPI_Comm host;
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(host, &rank);
  MPI_Comm_size(host, &size);
  if (size > 1) line_ = share_line(host, rank);
  asks_ = rank == 0;
  MPI_Comm_free(&host);
}

LineWatch::~LineWatch() {
  if (line_ != nullptr) ::munmap(line_, sizeof(CacheLine));
}

double LineWatch::times() {
  return take_part(&CacheLine::times);
}

double LineWatch::times_shortly() {
  return take_part(&CacheLine::times_shortly);
}

double LineWatch::take_part(double (CacheLine::*timing)()) {
  if (line_ == nullptr) return 0;
  if (asks_) return (line_->*timing)();
  line_->answers();
  return 0;
}

Fingerprint take_fingerprint(MPI_Comm world, LineWatch& watch) {
  int rank = 0;
  MPI_Comm_rank(world, &rank);
  Fingerprint found;
  found.bounce = watch.times();
  if (rank == 0) {
    found.bandwidth = measure_bandwidth();
    std::ifstream("/proc/loadavg") >> found.load;
  }
  MPI_Barrier(world);
  return found;
}

std::map<std::string, std::string> describe_machine(MPI_Comm world) {
  std::map<std::string, std::string> facts{{"mpi_library", mpi_library()},
                                           {"mpi_settings", mpi_settings()},
                                           {"binding", all_cores(world)}};
  const auto add = [&facts](const char* key, const std::string& value) {
    if (!value.empty()) facts[key] = value;
  };
  const std::string system = "/sys/devices/system/";
  add("clock_source", first_line(system + "clocksource/clocksource0/current_clocksource"));
  add("governor", first_line(system + "cpu/cpu0/cpufreq/scaling_governor"));
  add("processor", processor());
  return facts;
}

}  // namespace foretrace::measure
