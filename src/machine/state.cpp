#include "machine/state.hpp"

#include "base/error.hpp"
#include "machine/machine_file.hpp"

namespace foretrace::machine {
namespace {

constexpr double kRare = 0.02;

void scale(Coefficient& coefficient, double factor) {
  coefficient.value *= factor;
  coefficient.error *= factor;
}

void scale(Equation& equation, double factor) {
  for (Coefficient* coefficient : {&equation.constant, &equation.startup, &equation.data})
    scale(*coefficient, factor);
  for (Term& term : equation.terms) scale(term.coefficient, factor);
  for (Term& term : equation.other_terms) scale(term.coefficient, factor);
}

void change_state(Functions& functions) {
  for (auto& [name, function] : functions) {
    for (Regime& regime : function.regimes) {
      scale(regime.equation, regime.other_state);
      regime.other_state = 1;
    }
  }
}

}  // namespace

bool has_other_state(const MachineModel& model) {
  return model.other_state_share >= kRare;
}

MachineModel in_other_state(const MachineModel& model) {
  MachineModel other = model;
  other.name += " (other state)";
  change_state(other.functions);
  for (auto& [path, own] : other.paths) change_state(own.functions);
  other.other_state_share = 0;
  other.cache_line = 0;  // nobody kept what it takes there
  return other;
}

MachineModel read_machine_in_state(const std::string& path, bool other) {
  MachineModel model = read_machine_file(path);
  if (!other) return model;
  if (!has_other_state(model))
    throw Error(path +
                ": --other-state: this machine was in one state alone while it was measured");
  return in_other_state(model);
}

}  // namespace foretrace::machine
