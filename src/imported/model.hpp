// From what was read to a machine model: the fit that `measure` uses, and where the
// figures come from.
#pragma once

#include <string>
#include <vector>

#include "imported/measurements.hpp"
#include "machine/machine_model.hpp"

namespace foretrace::imported {

// What the files do not say; empty: not known.
struct Provenance {
  std::string name;
  std::string source;
  std::string licence;
  std::string date;
  std::string mpi_library;
};

struct ImportedModel {
  machine::MachineModel model;
  std::vector<std::string> notes;  // one line each, for the user
};

// Equations by measure::fit_model. Left out is a collective that takes less than one message
// at most of its sizes: a mean over ranks that mostly found the data there, which no rank's
// time is. Throws Error where nothing is left to fit.
ImportedModel fit_measurements(Measurements measurements, const Provenance& provenance);

// Says in the model whose figures they are.
void set_provenance(machine::MachineModel& model, const Provenance& provenance);

// A table of the model's functions: ranks, sizes, regimes, errors.
std::string render_functions(const machine::MachineModel& model);

}  // namespace foretrace::imported
