// States: which of the machine's states real runs found (machine/state.hpp), by what a cache line
// took as each began and ended, and which of the runs `validate` compares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "machine/machine_model.hpp"

namespace foretrace::cli {

enum class FoundState : std::uint8_t {
  measured,  // that of the model
  other,     // the model's other one
  neither,   // a third one, or it changed on the way
  unknown,   // nobody timed a cache line, or the model does not tell its states apart
};

// `lines`: seconds, as the run began and as it ended; 0: not known. The other state is on one side
// of the measured one: where messages take longer, a cache line does.
FoundState found_state(const std::array<double, 2>& lines, const machine::MachineModel& model);

struct StateChoice {
  bool is_other = false;            // the report is of the other state
  std::vector<std::size_t> chosen;  // the runs that it is of
  std::vector<std::size_t> left;    // those in the state that it is not of
  bool is_any = false;              // no run was in either state, so all are chosen
};

// The state that most runs found, the measured one if as many; runs of unknown state count there.
StateChoice choose_state(const std::vector<FoundState>& runs);

// The runs in that state; none.
std::vector<std::size_t> runs_in(const std::vector<FoundState>& runs, bool other);

// What is to be said of it, a sentence each. `lines`: seconds, one for each run.
std::vector<std::string> notes_of_states(const std::vector<FoundState>& runs,
                                         const std::vector<double>& lines,
                                         const StateChoice& choice, double measured_line);

// Where no run says which state it found: whether the machine is in that of the model. `now`: what
// a cache line took before the runs, and after them.
std::vector<std::string> notes_of_cache_line(const std::array<double, 2>& now,
                                             double measured_line);

}  // namespace foretrace::cli
