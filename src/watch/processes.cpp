#include "watch/processes.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

namespace foretrace::watch {
namespace {

namespace fs = std::filesystem;

std::string read_all(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::optional<int> number_of(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return {};
  return value;
}

// Names may differ for one file: "./run.ftr", a link to a folder.
bool are_same(const std::string& a, const std::string& b) {
  std::error_code none;
  return a == b || fs::equivalent(a + ".part", b + ".part", none);
}

// The rank that an environment tells, if it is of a process that writes `output`.
std::optional<int> rank_in(std::string_view environment, const std::string& output) {
  bool ours = false;
  std::optional<int> rank;
  while (!environment.empty()) {
    const std::string_view entry = environment.substr(0, environment.find('\0'));
    environment.remove_prefix(std::min(environment.size(), entry.size() + 1));
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = entry.substr(0, equals);
    const std::string_view value = entry.substr(equals + 1);
    if (name == "FORETRACE_OUTPUT") ours = are_same(std::string(value), output);
    if (name == "OMPI_COMM_WORLD_RANK" || name == "PMI_RANK" || name == "PMIX_RANK" ||
        name == "SLURM_PROCID")
      if (!rank) rank = number_of(value);
  }
  return ours ? rank : std::nullopt;
}

// The state stands after the name, which is in brackets and may hold anything.
char state_of(const fs::path& process) {
  const std::string text = read_all(process / "stat");
  const std::size_t end = text.rfind(')');
  return end == std::string::npos || end + 2 >= text.size() ? '?' : text[end + 2];
}

}  // namespace

std::map<int, RankProcess> find_processes(const std::string& output) {
  std::map<int, RankProcess> found;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", none)) {
    const std::optional<int> id = number_of(entry.path().filename().string());
    if (!id) continue;
    const std::optional<int> rank = rank_in(read_all(entry.path() / "environ"), output);
    if (!rank) continue;
    RankProcess& process = found[*rank];
    if (process.process == 0 || *id < process.process) process = {*id, state_of(entry.path())};
  }
  return found;
}

std::map<int, RankProcess> look_at_processes(const std::map<int, int>& ids) {
  std::map<int, RankProcess> found;
  for (const auto& [rank, id] : ids)
    found[rank] = {id, state_of(fs::path("/proc") / std::to_string(id))};
  return found;
}

}  // namespace foretrace::watch
