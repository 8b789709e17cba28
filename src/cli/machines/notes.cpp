#include "cli/machines/notes.hpp"

#include <algorithm>
#include <cstdio>

#include "cli/machines/function_list.hpp"
#include "cli/words/nearest.hpp"
#include "machine/measurement.hpp"
#include "measure/core/functions.hpp"
#include "mpi_api/names.hpp"

namespace foretrace::cli {
namespace {

// What a model's functions may be called; nothing where the tool was built without an MPI, so that
// it does not know MPI's.
std::vector<std::string> known_functions() {
  std::vector<std::string> known;
  for (const char* mpi : {"openmpi", "mpich"})
    for (const ListedFunction& function : functions_of(mpi))
      known.push_back(mpi_api::model_name(function.name));
  if (known.empty()) return known;
  for (const measure::FunctionFacts& facts : measure::measured_functions())
    known.emplace_back(facts.name);
  return known;
}

template <class Functions>
void add_unknown(const std::string& path, const Functions& functions,
                 std::vector<std::string>& notes) {
  static const std::vector<std::string> known = known_functions();
  if (known.empty()) return;
  for (const auto& [name, function] : functions) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string ours = mpi_api::model_name(name);
    const bool is_ours = std::ranges::find(known, ours) != known.end();
    notes.push_back(path + ": no prediction asks for the function '" + name +
                    "': neither MPI nor foretrace measure has one of that name" +
                    (is_ours ? "; models call it '" + ours + "'" : did_you_mean(name, known)));
  }
}

bool has_error(const machine::Function& function) {
  const auto has = [](const machine::Coefficient& coefficient) { return coefficient.error > 0; };
  const auto any = [&has](const std::vector<machine::Term>& terms) {
    return std::ranges::any_of(terms, has, &machine::Term::coefficient);
  };
  return function.extrapolation_error ||
         std::ranges::any_of(function.regimes, [&](const machine::Regime& regime) {
           const machine::Equation& equation = regime.equation;
           return equation.interval || has(equation.constant) || has(equation.startup) ||
                  has(equation.data) || any(equation.terms) || any(equation.other_terms);
         });
}

bool has_errors(const machine::PathModel& model) {
  return std::ranges::any_of(model.functions,
                             [](const auto& named) { return has_error(named.second); });
}

}  // namespace

std::string note_of_bound(const std::string& path, const machine::MachineModel& model,
                          const std::string& bound) {
  const bool known = has_errors(model) || std::ranges::any_of(model.paths, [](const auto& inner) {
                       return has_errors(inner.second);
                     });
  if (bound == "avg" || known) return "";
  return "--bound " + bound + " is as avg: no equation of " +
         (model.name.empty() ? path : model.name) + " has an error";
}

std::vector<std::string> notes_of_machine(const std::string& path,
                                          const machine::MachineModel& model) {
  std::vector<std::string> notes;
  if (std::string warning = machine::warning_of(path); !warning.empty())
    notes.push_back(std::move(warning));
  add_unknown(path, model.functions, notes);
  for (const auto& [inner, own] : model.paths) add_unknown(path, own.functions, notes);
  return notes;
}

void warn_of_machine(const std::string& path, const machine::MachineModel& model) {
  for (const std::string& note : notes_of_machine(path, model))
    std::fprintf(stderr, "foretrace: %s\n", note.c_str());
}

}  // namespace foretrace::cli
