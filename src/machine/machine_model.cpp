#include "machine/machine_model.hpp"

#include <algorithm>

namespace foretrace::machine {

const Function* MachineModel::find(std::string_view name) const {
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : &found->second;
}

const Regime& regime_for(const Function& function, Bytes bytes) {
  const auto found = std::ranges::find_if(
      function.regimes, [bytes](const Regime& regime) { return bytes <= regime.to; });
  return found == function.regimes.end() ? function.regimes.back() : *found;
}

double evaluate_seconds(const MachineModel& model, const Function& function, int ranks, Bytes bytes,
                        Bound bound) {
  const double data = static_cast<double>(bytes.count) / static_cast<double>(model.element.count);
  const Equation& equation = regime_for(function, bytes).equation;
  return model.time_unit * equation.evaluate(ranks, data, bound);
}

}  // namespace foretrace::machine
