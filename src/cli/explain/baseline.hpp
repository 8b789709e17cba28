// --baseline of `explain`: what got worse since an earlier run was explained.
//
// Compares what --json printed then with what it prints now. Places are compared without
// their line, so that a program may have been edited in between.
#pragma once

#include <string>
#include <vector>

namespace foretrace::cli {

struct ExplainChange {
  std::string what;
  double before = 0;  // seconds
  double now = 0;
};

struct ExplainComparison {
  double before = 0;  // run times, seconds
  double now = 0;
  double within = 0;  // by so much of `before` the run may be longer
  std::string note;   // how the runs themselves differ; empty: as many ranks and calls
  std::vector<std::string> notes_before, notes_now;  // what was said of the run times
  // What the run's time went into, along the critical path; the differences add up to
  // that of the run times. Greatest first.
  std::vector<ExplainChange> path;
  // Findings whose gain has grown, and by how much they can shorten the run; greatest first.
  std::vector<ExplainChange> findings;

  bool is_worse() const { return now > before * (1 + within); }
};

// "5%" or "0.05". Throws UsageError.
double read_within(const std::string& text);

// `file`: a file that --json (or -o FILE.json) wrote; `now`: what it would print. Throws
// Error that names the file.
ExplainComparison compare_with_baseline(const std::string& file, const std::string& now,
                                        double within);

std::string render_comparison(const ExplainComparison& comparison, bool json);

}  // namespace foretrace::cli
