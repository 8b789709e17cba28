// The machine's other state. What messages within a host take depends on where the cores lie that a
// virtual machine got: near each other in one minute, far apart in the next. A model is of the
// state that counted while it was measured, and knows what its functions take in the other
// (Regime::other_state).
#pragma once

#include <string>

#include "machine/machine_model.hpp"

namespace foretrace::machine {

// Whether the machine was in another state for 2 % of the measurement or more.
bool has_other_state(const MachineModel& model);

// The model with the times of that state, and no other one; its name says so. It has to have one.
MachineModel in_other_state(const MachineModel& model);

// A machine model's file, in the other state if that is asked for. Throws Error as
// read_machine_file() does, and where there is no other state.
MachineModel read_machine_in_state(const std::string& path, bool other);

}  // namespace foretrace::machine
