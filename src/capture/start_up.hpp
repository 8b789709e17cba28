// What every mode does when a rank's session begins.
#pragma once

#include <string>

namespace foretrace::capture {

// One line on standard error.
void say(const std::string& message);

// Ends all ranks once the launcher has had time to pass on what was said: when
// it hears of the end first, MPICH's loses what it has not read yet.
[[noreturn]] void end_program();

// True on all ranks if it is true on all of them. Collective.
bool all_agree(bool mine);

// As the program was started, its words separated by spaces.
std::string command_line();

// Programs that this one starts are none of our business.
void leave_environment();

}  // namespace foretrace::capture
