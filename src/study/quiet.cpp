#include "study/quiet.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

extern char** environ;

namespace foretrace::study {
namespace {

struct Ticks {
  double busy = 0, all = 0;
};

// The first line of /proc/stat: user nice system idle iowait irq softirq steal.
std::optional<Ticks> read_ticks() {
  std::ifstream file("/proc/stat");
  std::string word;
  if (!(file >> word) || word != "cpu") return std::nullopt;
  Ticks out;
  for (int i = 0; i < 8; ++i) {
    double value = 0;
    if (!(file >> value)) return std::nullopt;
    out.all += value;
    if (i != 3 && i != 4) out.busy += value;
  }
  return out;
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "";
}

}  // namespace

double wait_for_quiet(double limit, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  double share = 0;
  do {
    const auto before = read_ticks();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto after = read_ticks();
    if (!before || !after || !(after->all > before->all)) return 0;
    share = (after->busy - before->busy) / (after->all - before->all);
  } while (share > limit && Clock::now() < end);
  return share;
}

std::string environment_that_matters() {
  static const std::string text = [] {
    std::map<std::string, std::string> out;
    for (char** each = environ; *each; ++each) {
      const std::string_view variable = *each;
      for (const std::string_view prefix :
           {"OMP_", "OMPI_MCA_", "MPICH_", "MPIR_CVAR_", "UCX_", "FI_", "GOMP_", "KMP_"})
        if (variable.starts_with(prefix))
          if (const std::size_t equals = variable.find('='); equals != std::string_view::npos)
            out[std::string(variable.substr(0, equals))] = variable.substr(equals + 1);
    }
    // Those that a launcher of ours sets go before the study's commands see them.
    if (out.contains("OMPI_MCA_orte_precondition_transports"))
      std::erase_if(out, [](const auto& entry) { return entry.first.starts_with("OMPI_MCA_"); });
    utsname system{};
    if (::uname(&system) == 0) out["kernel"] = system.release;
    out["processor"] = processor();
    out["processors"] = std::to_string(std::thread::hardware_concurrency());
    return nlohmann::json(out).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }();
  return text;
}

}  // namespace foretrace::study
