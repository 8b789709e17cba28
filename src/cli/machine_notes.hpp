// What is to be said of a machine model before its times are used.
#pragma once

#include <string>
#include <vector>

#include "machine/machine_model.hpp"

namespace foretrace::cli {

// `path`: the file that the model was read from. That its measurement is not to be trusted; names
// of functions that no prediction asks for, as a mistyped one.
std::vector<std::string> notes_of_machine(const std::string& path,
                                          const machine::MachineModel& model);
// Says them on standard error.
void warn_of_machine(const std::string& path, const machine::MachineModel& model);

}  // namespace foretrace::cli
