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
// That --bound min and max are the same as avg there, since no equation has an error; "": no need.
std::string note_of_bound(const std::string& path, const machine::MachineModel& model,
                          const std::string& bound);
// Says those of the machine on standard error.
void warn_of_machine(const std::string& path, const machine::MachineModel& model);

}  // namespace foretrace::cli
