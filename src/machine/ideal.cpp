#include "machine/ideal.hpp"

#include <vector>

namespace foretrace::machine {
namespace {

void keep(std::vector<Term>& terms, Portion portion) {
  if (terms.empty()) return;
  std::erase_if(terms, [portion](const Term& term) {
    return portion == Portion::nothing ||
           depends_on_data(term.factor) != (portion == Portion::data);
  });
  // A sum without terms would be the papers' form.
  if (terms.empty()) terms.emplace_back();
}

void keep(Functions& functions, Portion portion) {
  for (auto& [name, function] : functions) {
    if (function.function_class == "local" || function.function_class == "file") continue;
    for (Regime& regime : function.regimes) {
      Equation& equation = regime.equation;
      if (portion != Portion::fixed) equation.constant = equation.startup = {};
      if (portion != Portion::data) equation.data = {};
      keep(equation.terms, portion);
      keep(equation.other_terms, portion);
    }
  }
}

}  // namespace

MachineModel keep_portion(const MachineModel& model, Portion portion) {
  MachineModel kept = model;
  if (portion == Portion::whole) return kept;
  keep(kept.functions, portion);
  for (auto& [path, own] : kept.paths) keep(own.functions, portion);
  return kept;
}

}  // namespace foretrace::machine
