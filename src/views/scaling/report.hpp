// Scaling laws as text and JSON: the form, the value asked for, how far to trust it.
//
// Draws only; scaling/fit.hpp computes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scaling/fit.hpp"

namespace foretrace::views {

struct LawReport {
  // What the law is of: program, way, call path, ...; may be empty.
  std::vector<std::pair<std::string, std::string>> of;
  std::string metric;
  std::vector<double> at;  // by the law's names
  scaling::ScalingLaw law;
  std::vector<std::string> notes;  // what was said of the points
};

std::string render_text_laws(const std::vector<LawReport>& reports);
// One object, or an array for several: of, metric, at, form, value, interval, identifiable, growth,
// error, noise, beyond, alternatives, notes.
std::string render_json_laws(const std::vector<LawReport>& reports);

}  // namespace foretrace::views
