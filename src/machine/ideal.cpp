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

void keep(Function& function, Portion portion) {
  for (Regime& regime : function.regimes) {
    Equation& equation = regime.equation;
    if (portion != Portion::fixed) equation.constant = equation.startup = {};
    if (portion != Portion::data) equation.data = {};
    keep(equation.terms, portion);
    keep(equation.other_terms, portion);
  }
}

template <class Of>
MachineModel keep_of(const MachineModel& model, Portion portion, const Of& of) {
  MachineModel kept = model;
  const auto keep_in = [&](Functions& functions) {
    for (auto& [name, function] : functions)
      if (of(function.function_class)) keep(function, portion);
  };
  keep_in(kept.functions);
  for (auto& [path, own] : kept.paths) keep_in(own.functions);
  return kept;
}

}  // namespace

MachineModel keep_portion(const MachineModel& model, Portion portion) {
  if (portion == Portion::whole) return model;
  return keep_of(model, portion,
                 [](const std::string& kind) { return kind != "local" && kind != "file"; });
}

MachineModel without_files(const MachineModel& model) {
  return keep_of(model, Portion::nothing, [](const std::string& kind) { return kind == "file"; });
}

}  // namespace foretrace::machine
