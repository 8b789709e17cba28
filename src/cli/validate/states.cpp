#include "cli/validate/states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/cache_line.hpp"
#include "machine/state.hpp"

namespace foretrace::cli {
namespace {

// The sum of the multiples' logarithms over a model's functions: above 0, messages take longer in
// the other state.
double slowness(const machine::Functions& functions) {
  double sum = 0;
  for (const auto& [name, function] : functions)
    for (const machine::Regime& regime : function.regimes) sum += std::log(regime.other_state);
  return sum;
}

bool is_other_slower(const machine::MachineModel& model) {
  double sum = slowness(model.functions);
  for (const auto& [path, own] : model.paths) sum += slowness(own.functions);
  return sum > 0;
}

std::string of_all(std::size_t some, std::size_t all) {
  return fmt::format("{} of {} real runs", some, all);
}

std::string nanoseconds(double seconds) {
  return fmt::format("{:.3g} ns", 1e9 * seconds);
}

}  // namespace

FoundState found_state(const std::array<double, 2>& lines, const machine::MachineModel& model) {
  const double line = model.cache_line;
  const bool tells = line > 0 && machine::has_other_state(model) && lines[0] > 0 && lines[1] > 0;
  if (!tells) return FoundState::unknown;
  const auto is_measured = [line](double one) { return is_same_state(one, line); };
  if (std::ranges::all_of(lines, is_measured)) return FoundState::measured;
  const bool slower = is_other_slower(model);
  const auto is_other = [&](double one) { return !is_measured(one) && (one > line) == slower; };
  return std::ranges::all_of(lines, is_other) ? FoundState::other : FoundState::neither;
}

std::vector<std::size_t> runs_in(const std::vector<FoundState>& runs, bool other) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (other ? runs[i] == FoundState::other
              : runs[i] == FoundState::measured || runs[i] == FoundState::unknown)
      found.push_back(i);
  return found;
}

StateChoice choose_state(const std::vector<FoundState>& runs) {
  StateChoice choice;
  choice.chosen = runs_in(runs, false);
  choice.left = runs_in(runs, true);
  choice.is_other = choice.left.size() > choice.chosen.size();
  if (choice.is_other) std::swap(choice.chosen, choice.left);
  choice.is_any = choice.chosen.empty();
  if (choice.is_any)
    for (std::size_t i = 0; i < runs.size(); ++i) choice.chosen.push_back(i);
  return choice;
}

std::vector<std::string> notes_of_states(const std::vector<FoundState>& runs,
                                         const std::vector<double>& lines,
                                         const StateChoice& choice, double measured_line) {
  std::vector<std::string> notes;
  std::vector<double> other;
  for (const std::size_t run : runs_in(runs, true)) other.push_back(lines[run]);
  if (!other.empty()) {
    std::ranges::sort(other);
    notes.push_back(of_all(other.size(), runs.size()) +
                    " found the machine in its other state: a cache line took " +
                    nanoseconds(other[other.size() / 2]) + " from core to core, " +
                    nanoseconds(measured_line) + " when it was measured; " +
                    (choice.is_other ? "what follows is of these, and predicted with --other-state"
                                     : "they are not in what follows but where it says so"));
  }
  const auto neither = static_cast<std::size_t>(std::ranges::count(runs, FoundState::neither));
  if (neither > 0)
    notes.push_back(
        of_all(neither, runs.size()) +
        " saw the state of the machine change on the way, or a third one: " +
        (choice.is_any ? "they are compared as if they had found the measured one" : "left out"));
  const auto unknown = static_cast<std::size_t>(std::ranges::count(runs, FoundState::unknown));
  if (unknown > 0 && unknown < runs.size())
    notes.push_back(of_all(unknown, runs.size()) +
                    " do not tell in which state they found the machine: taken for the measured "
                    "one");
  return notes;
}

std::vector<std::string> notes_of_cache_line(const std::array<double, 2>& now,
                                             double measured_line) {
  if (!is_same_state(now[0], measured_line) && !is_same_state(now[1], measured_line))
    return {"a cache line takes " + nanoseconds(now[0]) + " from core to core, " +
            nanoseconds(measured_line) +
            " when the machine was measured: it is in another state, and messages within a host "
            "take another time. Measure it again, or run again later"};
  if (!is_same_state(now[0], now[1]))
    return {"a cache line took " + nanoseconds(now[0]) + " from core to core before the runs, " +
            nanoseconds(now[1]) +
            " after them: the state of the machine changed, and with it what messages within a "
            "host take"};
  return {};
}

}  // namespace foretrace::cli
