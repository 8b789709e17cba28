// Text programs on the machine with round times of tests/sim/programs.hpp.
#pragma once

#include <string>

#include "../programs.hpp"
#include "sim/text/goal_parser.hpp"
#include "sim/text/goal_source.hpp"
#include "sim/text/ti_source.hpp"

namespace foretrace::sim {

inline Replayed simulate_goal(const std::string& text) {
  GoalSource source(parse_goal(text, "x.goal"));
  return replay(source);
}

inline Replayed simulate_ti(const std::string& text, const TiOptions& options = {}) {
  TiSource source(parse_ti(text, "x.txt", options));
  return replay(source);
}

}  // namespace foretrace::sim
