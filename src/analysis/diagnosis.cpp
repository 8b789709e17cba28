// What in a machine model may be the cause of a difference (validation.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/validation.hpp"
#include "machine/path.hpp"
#include "machine/timing.hpp"
#include "mpi_api/names.hpp"

namespace foretrace::analysis {
namespace {

using machine::MachineModel;
using trace::EventKind;

// One side waits, the other does not: less than this share of it.
constexpr double kHardly = 0.2;
// From here on an equation's time is mostly that of its bytes.
constexpr double kMostlyBytes = 0.5;
// From here on first calls are what a difference comes from.
constexpr double kMostly = 0.5;

// The model's functions that a call's own time comes from, the likeliest first.
std::vector<std::string> functions_of(const ValidatedGroup& group, const MachineModel& model) {
  const std::string name = mpi_api::model_name(group.function);
  const auto& threshold = model.loggps.sync_threshold;
  switch (group.kind) {
    case EventKind::send:
      if (name != "send") return {name};
      return {threshold && group.most >= *threshold ? "ssend" : "send"};
    case EventKind::recv:
      return {"recv", "recvmin"};
    case EventKind::sendrecv:
      return {"sendrecv"};
    case EventKind::isend:
      return {"isend1"};
    case EventKind::irecv:
      return {"irecv1"};
    case EventKind::complete:
      return {"irecv2", "isend2"};
    case EventKind::icollective:
      return {name + "1"};
    default:
      return {name};
  }
}

std::string number(double value) {
  return fmt::format("{:.3g}", value);
}

std::string of_sizes(const ValidatedGroup& group) {
  if (group.least > group.most) return "";
  if (group.least == group.most) return fmt::format(" of {} B", group.most.count);
  return fmt::format(" of {} to {} B", group.least.count, group.most.count);
}

// "MPI_Recv of 1048576 B at halo.c:37 in phase solve".
std::string name_of(const ValidatedGroup& group) {
  std::string text =
      group.part == TimePart::computation
          ? "the computation" +
                (group.function.empty() ? std::string() : " before " + group.function)
          : group.function + of_sizes(group);
  if (!group.place.empty()) text += " at " + group.place;
  if (!group.phase.empty()) text += " in phase " + group.phase;
  return text;
}

double per_call(const RunSpread& time, const ValidatedGroup& group) {
  return time.median.seconds() / static_cast<double>(std::max<std::uint64_t>(1, group.calls));
}

// "2.05 ms".
std::string duration(double seconds) {
  constexpr std::pair<double, const char*> kUnits[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
  for (const auto& [unit, name] : kUnits)
    if (seconds >= unit) return number(seconds / unit) + " " + name;
  return number(seconds * 1e9) + " ns";
}

// "takes 0.2 ms a call, predicted 0.41 ms (2.05 times)".
std::string times_of(const ValidatedGroup& group) {
  const double measured = per_call(group.measured, group);
  const double predicted = per_call(group.predicted, group);
  std::string text = "takes " + duration(measured) + " a call, predicted " + duration(predicted);
  if (measured > 0) text += fmt::format(" ({} times)", number(predicted / measured));
  return text;
}

// The share of an equation's time that grows with the bytes, where it has this size.
double share_of_bytes(const MachineModel& model, const machine::Function& function,
                      const ValidatedGroup& group) {
  const Bytes size = group.most;
  const Bytes less = std::max(Bytes(size.count / 2), machine::regime_for(function, size).from);
  if (less >= size) return 0;
  const auto seconds = [&](Bytes bytes) {
    return machine::evaluate_seconds(model, function, group.ranks, bytes, machine::Bound::avg);
  };
  const double whole = seconds(size);
  const double slope = (whole - seconds(less)) / static_cast<double>(size.count - less.count);
  return whole > 0 ? slope * static_cast<double>(size.count) / whole : 0;
}

Cause of_threshold(const ValidatedGroup& group, const MachineModel& model) {
  const auto& threshold = model.loggps.sync_threshold;
  const bool waits = group.measured.median > group.predicted.median;
  Cause cause;
  cause.kind = CauseKind::threshold;
  cause.text = fmt::format(
      "{} {} for its receiver in the real runs ({} a call), but {} in the prediction ({}): S is {}",
      name_of(group), waits ? "waits" : "does not wait", duration(per_call(group.measured, group)),
      waits ? "not" : "does", duration(per_call(group.predicted, group)),
      threshold ? fmt::format("{} B in the model", threshold->count) : "not in the model");
  cause.advice = "find S with measure --thresholds, and set it in [loggps]";
  return cause;
}

Cause of_transfer(const ValidatedGroup& group, const MachineModel& model,
                  const IsMeasured& is_measured) {
  Cause cause;
  cause.kind = CauseKind::missing;
  cause.text = name_of(group) + " " + times_of(group);
  const std::vector<std::string> names = functions_of(group, model);
  const machine::Function* function = nullptr;
  for (const std::string& name : names)
    if (!function) function = machine::charged_function(model, name).function;
  if (!function) {
    cause.text += ": the model has no " + names.front() + ", and nothing stands in";
    const auto name = std::ranges::find_if(names, is_measured);
    cause.advice = name != names.end() ? "measure " + *name
                                       : "measure does not know it: write its time into the model";
    return cause;
  }
  const machine::Regime& regime = machine::regime_for(*function, group.most);
  cause.text += fmt::format(
      ": the model's {}, {} to {} B", function->name, regime.from.count,
      regime.to.count == UINT64_MAX ? "any number of" : std::to_string(regime.to.count));
  const std::vector<std::string> bad = machine::unreliable_functions(model);
  const bool sized = group.least <= group.most;
  if (std::ranges::find(bad, function->name) != bad.end()) {
    cause.kind = CauseKind::unreliable;
    cause.text += ", which the model itself marks as unreliable";
    cause.advice = "measure again on a quiet machine";
  } else if (sized && machine::beyond_measured(model, *function, group.ranks, group.most).any()) {
    cause.kind = CauseKind::beyond;
    cause.text += ", was not measured there";
    cause.advice = "measure with these ranks and sizes (-n, --max-bytes)";
  } else {
    const bool bytes = share_of_bytes(model, *function, group) > kMostlyBytes;
    cause.kind = bytes ? CauseKind::per_byte : CauseKind::fixed;
    cause.text += bytes ? ", by its time per byte (G)" : ", by what it takes whatever the size";
    cause.advice =
        "measure again; where that says the same, the program uses memory or network "
        "otherwise than measure does";
  }
  if (!is_measured(function->name))
    cause.advice = "measure does not know it: correct its time in the model";
  return cause;
}

Cause of_computation(const ValidatedGroup& group) {
  Cause cause;
  cause.kind = CauseKind::computation;
  cause.text = name_of(group) + " " + times_of(group);
  cause.advice = "look at --compute, the table or the kernels that it is scaled by";
  return cause;
}

// By how much the first calls took longer than as many of the later ones, in the real runs; nothing
// where all are first ones.
Time excess_of_first(const ValidatedGroup& group) {
  if (group.first_calls == 0 || group.first_calls >= group.calls) return Time();
  const Time later = group.measured.median - group.measured_first.median;
  const double each = later.seconds() / static_cast<double>(group.calls - group.first_calls);
  return group.measured_first.median -
         Time::from_seconds(each * static_cast<double>(group.first_calls));
}

// Whether the real runs take longer for their first calls alone: most of the difference.
bool is_of_first_calls(const ValidatedGroup& group) {
  return group.part == TimePart::transfer && group.difference() < Time() &&
         excess_of_first(group).seconds() > kMostly * group.distance().seconds();
}

Cause of_first_calls(const ValidatedGroup& group) {
  Cause cause;
  cause.kind = CauseKind::first_calls;
  const bool of_all = group.kind == EventKind::collective || group.kind == EventKind::icollective;
  const std::string first =
      group.first_calls == 1
          ? std::string("the first call of a rank {} takes {} more than a later one")
          : fmt::format(
                "the {} calls that are the first of a rank {{}} take {{}} more than later ones",
                group.first_calls);
  cause.text = name_of(group) + ": " +
               fmt::format(fmt::runtime(first), of_all ? "on a communicator" : "to a partner",
                           duration(excess_of_first(group).seconds())) +
               ", in the real runs alone";
  cause.advice =
      "MPI sets up connections and memory then, which no prediction has: compare a longer run, or "
      "have them made in MPI_Init (Open MPI: mpirun --mca mpi_preconnect_mpi 1)";
  return cause;
}

// Whether the difference is one of protocol: a send waits on one side alone.
bool is_protocol(const ValidatedGroup& group) {
  if (group.part != TimePart::waiting || group.kind != EventKind::send) return false;
  const double measured = group.measured.median.seconds();
  const double predicted = group.predicted.median.seconds();
  return std::min(measured, predicted) < kHardly * std::max(measured, predicted);
}

}  // namespace

std::vector<Cause> diagnose(const Validation& validation, const MachineModel& model,
                            const IsMeasured& is_measured, std::size_t most) {
  std::vector<Cause> causes;
  std::vector<Cause> waits;
  double all = 0;
  for (const auto& part : validation.parts) all += part[0].median.seconds();
  for (std::size_t i = 0; i < validation.groups.size(); ++i) {
    const ValidatedGroup& group = validation.groups[i];
    if (group.distance() <= group.scatter() || group.distance().seconds() < kLeastShare * all)
      continue;
    if (group.part == TimePart::waiting && !is_protocol(group)) {
      Cause cause;
      cause.group = i;
      cause.text = name_of(group) + " waits otherwise: it " + times_of(group);
      cause.advice = "others come earlier or later: see what is named before";
      waits.push_back(std::move(cause));
      continue;
    }
    causes.push_back(group.part == TimePart::computation ? of_computation(group)
                     : is_of_first_calls(group)          ? of_first_calls(group)
                     : group.part == TimePart::waiting   ? of_threshold(group, model)
                                                         : of_transfer(group, model, is_measured));
    causes.back().group = i;
  }
  causes.insert(causes.end(), waits.begin(), waits.end());
  if (causes.size() > most) causes.resize(most);
  return causes;
}

}  // namespace foretrace::analysis
