// Ideal machines: a model with part of its equations left out, for what-if questions.
#pragma once

#include "machine/machine_model.hpp"

namespace foretrace::machine {

// What of messages, collectives and other calls between ranks still takes time: all; the
// terms that grow with the amount of data; those that do not; nothing.
enum class Portion { whole, data, fixed, nothing };

// Local calls and files keep their equations.
MachineModel keep_portion(const MachineModel& model, Portion portion);

}  // namespace foretrace::machine
