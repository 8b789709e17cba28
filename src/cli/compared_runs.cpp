#include "cli/compared_runs.hpp"

#include <algorithm>
#include <filesystem>

#include "analysis/call_profile.hpp"
#include "analysis/waiting.hpp"
#include "cli/any_trace.hpp"
#include "cli/call_places.hpp"
#include "cli/damage.hpp"
#include "trace/counters_file.hpp"

namespace foretrace::cli {
namespace {

analysis::RunTimes times_of_profile(const std::string& path) {
  // Only functions are compared: nobody asks for places.
  const auto nowhere = [](const std::string&, std::uint64_t) { return analysis::CallFrame(); };
  return analysis::run_times(analysis::make_call_profile(trace::read_counters(path), nowhere));
}

}  // namespace

bool is_profile(const std::string& path) {
  return std::filesystem::path(path).extension() == ".fprof";
}

trace::Trace read_run(const std::string& path, int& status) {
  trace::Trace trace = trace::read_trace(as_trace(path));
  status = std::max(status, tell_damage(path, trace.damage));
  analysis::fill_waits(trace);
  return trace;
}

analysis::RunTimes times_of(const std::string& path, int& status) {
  return is_profile(path) ? times_of_profile(path) : analysis::run_times(read_run(path, status));
}

analysis::RunGroup read_group(const std::vector<std::string>& paths, const char* name,
                              std::vector<views::TimelineRun>* timelines, int& status) {
  analysis::RunGroup group;
  for (const std::string& path : paths) {
    if (is_profile(path)) {
      group.push_back({path, times_of_profile(path), {}});
      continue;
    }
    const trace::Trace trace = read_run(path, status);
    if (group.empty() && timelines != nullptr)
      timelines->push_back(views::encode_run(
          name + (": " + std::filesystem::path(path).stem().string()), trace, place_teller()));
    group.push_back(analysis::group_run(path, trace));
  }
  return group;
}

}  // namespace foretrace::cli
