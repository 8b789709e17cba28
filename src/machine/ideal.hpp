// Ideal machines: a model with part of its equations left out, for what-if questions.
#pragma once

#include "machine/machine_model.hpp"

namespace foretrace::machine {

// What of messages, collectives and other calls between ranks still takes time: all; the
// terms that grow with the amount of data; those that do not; nothing.
enum class Portion { whole, data, fixed, nothing };

// Local calls and files keep their equations.
MachineModel keep_portion(const MachineModel& model, Portion portion);

// Files take no time; calls that all members of a file make still wait for the last of them.
MachineModel without_files(const MachineModel& model);

}  // namespace foretrace::machine
