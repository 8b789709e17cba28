// What `foretrace validate` prints: each way's prediction beside the real runs, where
// they part, and what may be the cause. Draws only; analysis/validation.hpp computes.
#pragma once

#include <string>
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

struct ValidationReport {
  std::string program;
  std::string machine;  // the model's name
  int ranks = 0;
  int runs = 0;                    // of each kind
  std::vector<std::string> state;  // of the machine that the runs were on: what disturbs
  double within = 0;               // the share that was asked for; 0: none was
  std::vector<ValidatedWay> ways;  // at least one

  bool is_within() const;  // all ways are
};

std::string render_text_validation(const ValidationReport& report);
// One object; times in seconds.
std::string render_json_validation(const ValidationReport& report);

}  // namespace foretrace::views
