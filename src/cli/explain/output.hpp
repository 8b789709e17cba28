// Where the results of `explain` go: to the terminal, or into a file whose ending says in
// which form.
#pragma once

#include <string>
#include <vector>

#include "cli/simulate/simulation.hpp"
#include "explain/explanation.hpp"

namespace foretrace::cli {

struct ExplainOutput {
  std::string path;      // FILE.html, FILE.json, FILE.txt; empty: the terminal
  bool json = false;     // on the terminal
  std::string baseline;  // a file that --json wrote; empty: none
  std::string within = "0%";
};

// What explain can write.
inline const std::vector<std::string> kExplainEndings = {".html", ".json", ".txt"};

// Throws UsageError for a file of another ending, and for a --within that is no share.
void check_explain_output(const ExplainOutput& output);

// Returns the exit status: 1 if the run is worse than the baseline. `run` is that of
// `simulation`, unedited: the page simulates it once more, for its time line.
int put_explanation(const ExplainOutput& output, const explain::Explanation& explanation,
                    const explain::Run& run, Simulation& simulation);

}  // namespace foretrace::cli
