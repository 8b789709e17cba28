#include "cli/traces/compared_runs.hpp"

#include <algorithm>
#include <filesystem>

#include "analysis/call_profile.hpp"
#include "analysis/waiting.hpp"
#include "cli/traces/any_trace.hpp"
#include "cli/traces/call_places.hpp"
#include "cli/traces/damage.hpp"
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

analysis::RunEvents events_of(const std::string& path) {
  return analysis::RunEvents(as_trace(path));
}

analysis::RunTimes times_of(const std::string& path, int& status) {
  if (is_profile(path)) return times_of_profile(path);
  analysis::RunTimes times = analysis::run_times(events_of(path));
  status = std::max(status, tell_damage(path, times.damage));
  return times;
}

analysis::RunGroup read_group(const std::vector<std::string>& paths, const char* name,
                              std::vector<views::TimelineRun>* timelines, int& status) {
  analysis::RunGroup group;
  for (const std::string& path : paths) {
    if (is_profile(path)) {
      group.push_back({path, times_of_profile(path), {}});
      continue;
    }
    const std::string file = as_trace(path);
    if (group.empty() && timelines != nullptr) {
      trace::Trace trace = trace::read_trace(file);
      analysis::fill_waits(trace);
      timelines->push_back(views::encode_run(
          name + (": " + std::filesystem::path(path).stem().string()), trace, place_teller()));
    }
    group.push_back(analysis::group_run(path, analysis::RunEvents(file)));
    status = std::max(status, tell_damage(path, group.back().times.damage));
  }
  return group;
}

}  // namespace foretrace::cli
