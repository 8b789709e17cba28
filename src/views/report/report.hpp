// What `foretrace report` and `foretrace simulate` print of a Profile.
//
// Draws only; analysis/profile.hpp computes. Returns whole texts that end with
// a newline.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/links.hpp"
#include "analysis/profile.hpp"

namespace foretrace::views {

struct TextReportOptions {
  int max_ranks = 64;          // with more ranks only the summary lines are listed
  std::size_t max_lines = 10;  // of each table that is sorted by time
};

// Program, ranks, states, functions, who waits for whom, where is computed, phases; says
// first when the trace is incomplete, damaged or holds CPU times only.
std::string render_text_report(const analysis::Profile& profile,
                               const TextReportOptions& options = {});

// What a simulation says of itself (`simulate --stats`).
struct ReplayStats {
  std::uint64_t operations = 0;
  std::uint64_t messages = 0;
  double seconds = 0;  // wall time of the replay alone
  std::uint64_t peak_bytes = 0;
};

// Pairs of ranks that wait for each other in the JSON report, at most.
inline constexpr std::size_t kMostWaitPairs = 10000;

// One object with the fields that docs/report.md lists.
// Times in seconds, sizes in bytes. With `links` also an array `links`
// (link_report.hpp).
std::string render_json_report(const analysis::Profile& profile,
                               const std::optional<ReplayStats>& stats = std::nullopt,
                               const analysis::LinksProfile* links = nullptr);

}  // namespace foretrace::views
