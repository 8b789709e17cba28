// A function that takes the same time whatever it is given.
#pragma once

#include <string>

#include "machine/machine_model.hpp"

namespace foretrace::machine {

inline Function constant(const std::string& name, double seconds) {
  Regime regime;
  regime.equation.constant.value = seconds;
  return {name, "", "", {regime}};
}

}  // namespace foretrace::machine
