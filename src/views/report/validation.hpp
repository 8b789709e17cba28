// What `foretrace validate` prints: each way's prediction beside the real runs, where
// they part, and what may be the cause. Draws only; analysis/validation.hpp computes.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/validation.hpp"

namespace foretrace::views {

// One way of predicting, compared with the real runs.
struct ValidatedWay {
  std::string name;  // "predict", "simulate"
  analysis::Validation validation;
  std::vector<analysis::Cause> causes;
  std::vector<std::string> notes;  // what the prediction said of itself
};

// What some of the real runs found, where the report is of the others: the machine in another
// state, or in the one that it was measured in if the report is of that other state.
struct OtherState {
  bool is_measured = false;
  int runs = 0;
  analysis::RunSpread measured;
  std::vector<std::pair<std::string, analysis::RunSpread>> ways;  // what was predicted for it
};

struct ValidationReport {
  std::string program;
  std::string machine;  // the model's name
  int ranks = 0;
  int runs = 0;                    // of each kind
  std::vector<std::string> state;  // of the machine that the runs were on: what disturbs
  double within = 0;               // the share that was asked for; 0: none was
  std::vector<ValidatedWay> ways;  // at least one
  std::optional<OtherState> other_state;

  bool is_within() const;  // all ways are
};

std::string render_text_validation(const ValidationReport& report);
// One object; times in seconds.
std::string render_json_validation(const ValidationReport& report);

}  // namespace foretrace::views
