// How a program will do on more ranks, call by call, from runs of it on fewer.
//
// A call's time is what its data sheet's function takes and what it waits. How often it is called,
// with how much, among how many, each follow a law of the ranks; so does the waiting. The function
// itself is known: it is evaluated there. From profiles to a plain result; reads and prints
// nothing.
#pragma once

#include <string>
#include <vector>

#include "analysis/profile.hpp"
#include "machine/machine_model.hpp"

namespace foretrace::scaling {

// A figure there, and the law that says so.
struct Estimate {
  double value = 0;
  double low = 0, high = 0;  // 95 % interval
  bool identifiable = true;
  std::string form = "0";
  double missed = 0;  // as ScalingLaw's
};

// Of the mean rank: seconds.
struct SiteLaw {
  std::string function;
  std::string place;     // empty: not known
  std::string on_sheet;  // the data sheet's function; empty: the time is a law alone
  Estimate calls;        // of a rank
  Estimate bytes;        // of a call
  Estimate members;      // of its communicator
  Estimate own;          // what it takes; form: by how much that is times the data sheet's
  Estimate wait;
  double last = 0;  // own and wait where most ranks were run

  double value() const { return own.value + wait.value; }
  bool identifiable() const { return own.identifiable && wait.identifiable; }
};

struct ProgramLaw {
  std::vector<int> ranks;  // that were run, ascending
  int at = 0;
  std::vector<SiteLaw> sites;  // the longest there first
  Estimate compute;
  double last_compute = 0;
  std::vector<std::string> notes;  // what of the data sheet nobody measured
};

// At least five runs, each with another number of ranks; of a virtual or a wall clock. Without a
// model all times are laws alone. Throws Error otherwise.
ProgramLaw fit_program(std::vector<analysis::Profile> runs, const machine::MachineModel* model,
                       int at);

}  // namespace foretrace::scaling
