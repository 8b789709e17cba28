// parse_goal: a text program in GOAL, LogGOPSim's form, and its extensions.
//
// The first step of three: the parser reads what is written, GoalAssembler
// finds the order (goal_schedule.hpp), GoalSource walks it for each rank.
// docs/text-programs.md describes the language. Simulates nothing.
#pragma once

#include <string>
#include <string_view>

#include "sim/text/goal_program.hpp"

namespace foretrace::sim {

// Ranks of one program, at most.
inline constexpr int kGoalMostRanks = 1 << 24;

// `file` is the name for messages. Throws Error "file:line: expected X, found Y".
GoalProgram parse_goal(std::string_view text, const std::string& file);

// The same for a file's content.
GoalProgram read_goal(const std::string& path);

}  // namespace foretrace::sim
