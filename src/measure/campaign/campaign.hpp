// Campaign: the launches of one measurement, until they agree well enough or
// the time is up.
//
// Every launch leaves a file beside the output as soon as it is complete, so
// that an interrupted measurement goes on from there. No MPI here.
#pragma once

#include <string>
#include <vector>

#include "measure/campaign/launch_states.hpp"
#include "measure/campaign/measure.hpp"
#include "measure/campaign/precision.hpp"
#include "measure/core/samples.hpp"

namespace foretrace::measure {

// What is aimed at.
struct Preset {
  // In one state of the machine, at least. Many short ones rather than few long ones: launches
  // differ by several percent, the blocks of one by less.
  int launches = 10;
  double budget = 240;         // seconds, for all launches
  double launch_seconds = 15;  // each
  double target = 0.02;        // Precision::half_width
};
// Fewer than the preset's launches, but five, where the budget is not enough for more.
Preset preset_of(const MeasureOptions& options);

// What has to be the same for launches to belong together, for people to read.
std::string arguments_text(const MeasureOptions& options);

// Launch `launch`'s file while others are still to come.
std::string launch_path(const std::string& samples_path, int launch);
// Removes the files of all launches.
void remove_launches(const std::string& samples_path);

struct Campaign {
  std::vector<SampleSet> launches;  // in order; the first is launch 1
  std::vector<LaunchState> states;
  StateChoice state;
  Precision precision;  // of those used
  double seconds = 0;   // that all launches took
};

// Why there is no further launch; nothing: there is one.
enum class Stop { none, oversubscribed, precise, as_many_as_asked, out_of_time };
Stop reason_to_stop(const Campaign& campaign, const MeasureOptions& options);

// Brings a campaign up to date with its launches.
void assess(Campaign& campaign);

// All samples in one set, with the facts of all launches, which of them count,
// and the facts that hold for all: launches, half_width, half_width_target,
// invalid, arguments.
SampleSet combine(const Campaign& campaign, const MeasureOptions& options);

// Reads the launches that an interrupted measurement left, then makes the rest.
// Throws Error if a launch fails, UsageError if what is there was made with
// other arguments.
Campaign run_campaign(const MeasureOptions& options, const std::string& samples_path);

}  // namespace foretrace::measure
