// The time lines of a trace: characters for a terminal, a page for a browser.
//
// The text form is the rough ASCII time line of Demaine 1996 with the "All" bar of
// Howell's thesis, section 5.4; the page is built from web/ and gets the trace's data
// embedded, so that one file holds everything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/run_events.hpp"
#include "trace/tell_place.hpp"
#include "trace/trace.hpp"
#include "views/timeline/data.hpp"
#include "views/timeline/network.hpp"

namespace foretrace::views {

struct TextTimelineOptions {
  int width = 80;     // columns of the terminal, labels included; at least 40 are used
  int max_rows = 64;  // more ranks than rows: neighbouring ranks are folded into one; >= 1
};

// One row per rank, a character for what it did most in that interval, "All"
// below, time axis above, legend at the end.
std::string render_text_timeline(analysis::RunEvents& run, const TextTimelineOptions& options = {});

// A run of a page that shows several over each other.
struct TimelineRun {
  std::string name;  // told beside its time lines
  TimelineData data;
};

// The part of a page that a trace becomes; the trace is not needed after that.
TimelineRun encode_run(std::string name, const trace::Trace& trace,
                       const trace::TellPlace& tell = {}, const RunNetwork* network = nullptr,
                       const std::vector<CallRounds>& rounds = {});

// A whole HTML page of one run or more. Throws Error when this build has no page (configured
// with FORETRACE_WEB=OFF).
std::string render_html_runs(const std::vector<TimelineRun>& runs,
                             std::string_view explanation = "null");

// The same of one trace. Throws Error when this build has no page (configured
// with FORETRACE_WEB=OFF). `explanation`: JSON, safe inside a <script> element, of what the
// page says about the run (views/explain/report.hpp); "null": nothing.
std::string render_html_timeline(const trace::Trace& trace, const trace::TellPlace& tell = {},
                                 std::string_view explanation = "null");

// The address of such a page with what the words find marked; empty where `page` is.
std::string found_in(const std::string& page, std::string_view words);

}  // namespace foretrace::views
