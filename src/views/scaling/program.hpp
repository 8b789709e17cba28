// What a program's calls will take on more ranks, as text and JSON.
//
// Draws only; scaling/program_law.hpp computes.
#pragma once

#include <string>

#include "scaling/program_law.hpp"

namespace foretrace::views {

struct ProgramLawReport {
  scaling::ProgramLaw law;
  std::string program;  // as it was called
  std::string machine;  // whose data sheet it is; empty: none
};

// At most `most` calls; 0: all.
std::string render_text_program_law(const ProgramLawReport& report, std::size_t most);
std::string render_json_program_law(const ProgramLawReport& report);

}  // namespace foretrace::views
