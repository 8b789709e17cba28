// What every mode does when a rank's session begins.
#pragma once

#include <string>

namespace foretrace::capture {

// One line on standard error.
void say(const std::string& message);

// True on all ranks if it is true on all of them. Collective.
bool all_agree(bool mine);

// As the program was started, its words separated by spaces.
std::string command_line();

// Programs that this one starts are none of our business.
void leave_environment();

}  // namespace foretrace::capture
